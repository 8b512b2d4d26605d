"""From metrics back to cells: every triple of the table, published tables found again, and what is refused."""

import itertools

import numpy as np
import pytest
from hypothesis import Phase, assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from small import tables

import bayescm
from bayescm.metrics import compute, resolve
from bayescm.metrics.table import OF_TWO
from bayescm.priors import from_metrics

TRIPLES = list(itertools.combinations(OF_TWO, 3))
inside = st.floats(0.05, 0.95)


def _determined(triple):
    try:
        from_metrics._stated(dict.fromkeys(triple, 0.5), {})
    except ValueError:
        return False
    return True


RATIOS = {m.name for m in resolve(None, 2) if m.ratio} | {"f2", "f0.5"}
LINEAR = [triple for triple in TRIPLES if set(triple) <= RATIOS]  # linear equations of the cells


def table_of(prevalence, recall, specificity):
    return np.array([
        [(1 - prevalence) * specificity, (1 - prevalence) * (1 - specificity)],
        [prevalence * (1 - recall), prevalence * recall],
    ])  # fmt: skip


def regular(cells, names):
    """Say whether the metrics determine the cells here, too: recall = specificity = accuracy leaves the prevalence."""
    metrics = resolve(names, 2)
    x = np.log(cells.ravel()[1:] / cells[0, 0])
    slopes = from_metrics._jacobian(lambda p: from_metrics._link(metrics, from_metrics._values(metrics, p)), x)
    return np.linalg.cond(slopes) < 1e3


def stated(cells, names):
    return dict(zip(names, (float(v) for v in compute(resolve(names, 2), np.asarray(cells))), strict=True))


@pytest.mark.slow
def test_which_triples_determine_the_cells():
    """What is left out has two rates that are complements, or all three within recall and specificity and the like."""
    assert (len(TRIPLES), sum(map(_determined, TRIPLES))) == (3276, 2852)
    for triple in [
        ("recall", "false_negative_rate", "f1"),
        ("recall", "specificity", "prevalence_threshold"),
        ("precision", "recall", "jaccard"),
        ("matthews_correlation", "informedness", "markedness"),
    ]:
        assert not _determined(triple)
    with pytest.raises(ValueError, match=r"recall, precision, f1 don't determine the cells.*State another"):
        bayescm.priors.prior_from_metrics(recall=0.6, precision=0.6, f1=0.6, n_items=1)


@pytest.mark.slow
@examples(max_examples=20)
@given(triple=st.sampled_from(TRIPLES).filter(_determined), rates=st.tuples(inside, inside, inside))
def test_every_triple_finds_the_table_again(triple, rates):
    cells = table_of(*rates)
    assume(regular(cells, triple))
    metrics, values = from_metrics._stated(stated(cells, triple), {})
    target = from_metrics._link(metrics, values)
    minima = from_metrics._minima(lambda p: from_metrics._link(metrics, from_metrics._values(metrics, p)) - target)
    solved = [found for total, found in minima if total < 1e-18]
    assert min(np.abs(found - cells).max() for found in solved) < 1e-6
    for found in solved:
        np.testing.assert_allclose([*stated(found, triple).values()], values, rtol=1e-7, atol=1e-9)


@pytest.mark.slow
@examples(max_examples=20)
@given(
    triple=st.sampled_from(LINEAR).filter(_determined),
    rates=st.tuples(inside, inside, inside),
    weight=st.floats(0.1, 1e4),
)
def test_ratios_of_cells_have_one_solution(triple, rates, weight):
    cells = table_of(*rates)
    assume(regular(cells, triple))
    prior = bayescm.priors.prior_from_metrics(stated(cells, triple), n_items=weight)
    np.testing.assert_allclose(prior / weight, cells, rtol=0, atol=1e-8)


@pytest.mark.slow
@examples(max_examples=20)
@given(rates=st.tuples(inside, inside, inside))
def test_caelens_formula(rates):
    p, r, a = rates
    if 1 / r + 1 / p - 1 / a < 1.001:
        return
    s = (1 - a) / (p + r - 2 * r * p)
    want = [[a - s * r * p, s * r * (1 - p)], [s * (1 - r) * p, s * r * p]]
    got = bayescm.priors.prior_from_metrics(precision=p, recall=r, accuracy=a, n_items=1)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-10)


def test_caelens_example(oracle):
    entry = oracle("caelen.prior_sums")
    tp, tn, fp, fn = entry["inputs"]["B_TP_TN_FP_FN"]
    counts = bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn)
    for weight in (72.5, 725):
        prior = bayescm.priors.prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, n_items=weight)
        rows = bayescm.models.load("dirichlet_multinomial").exact(counts, prior=prior).rows
        want = entry["expected"][f"m={weight:g}"]
        np.testing.assert_allclose([rows[1, 1], rows[0, 0], rows[0, 1], rows[1, 0]], want, rtol=1e-12)
        implied = bayescm.metrics.evaluate(prior, ["precision", "recall", "accuracy"])
        np.testing.assert_allclose([*implied.values()], [0.6, 0.65, 0.6], rtol=1e-12)
        assert float(prior.sum()) == pytest.approx(weight)
    printed = bayescm.priors.prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, n_items=72.5) + counts
    cut = np.floor(printed.values * 1000) / 1000  # the paper truncates
    assert cut.tolist() == [[54.436, 46.042], [42.957, 74.063]]


def test_names_parameters_and_functions():
    want = [[12.8, 1.2], [1.2, 4.8]]

    def loss(fp, fn):
        return fp + 2 * fn

    for metrics, more in [
        (None, {"tpr": 0.8, "ppv": 0.8, "prevalence": 0.3}),
        ({"fbeta(beta=2)": 0.8}, {"recall": 0.8, "prevalence": 0.3}),
        ({"net_benefit(threshold=0.2)": 0.24 - 0.06 * 0.25, "lr+": 0.8 / (1.2 / 14)}, {"prevalence": 0.3}),
        ({loss: 0.18}, {"recall": 0.8, "prevalence": 0.3}),
    ]:
        np.testing.assert_allclose(bayescm.priors.prior_from_metrics(metrics, n_items=20, **more), want, rtol=1e-8)


def test_several_matrices_are_told():
    with pytest.raises(ValueError, match=r"several matrices have .*State these three") as told:
        bayescm.priors.prior_from_metrics(accuracy=0.8, f1=0.7, mcc=0.56, n_items=1)
    text = str(told.value)
    for rates in text[text.index("(") + 1 : text.rindex(")")].split(") or ("):
        one = {name: float(value) for name, value in (pair.split("=") for pair in rates.split(", "))}
        prior = bayescm.priors.prior_from_metrics(one, n_items=1)
        implied = [*bayescm.metrics.evaluate(prior, ["accuracy", "f1", "mcc"]).values()]
        np.testing.assert_allclose(implied, [0.8, 0.7, 0.56], atol=1e-3)


@pytest.mark.parametrize(
    ("metrics", "weight", "error", "words"),
    [
        ({"precision": 0.9, "recall": 0.9, "accuracy": 0.5}, 1, ValueError, r"no matrix has .*the nearest has"),
        ({"precision": 1, "recall": 0.5, "accuracy": 0.5}, 1, ValueError, r"`precision` of 1 leaves a cell.*improper"),
        ({"mcc": -1, "recall": 0.5, "accuracy": 0.5}, 1, ValueError, r"`matthews_correlation` of -1"),
        ({"precision": 0.5, "recall": 0.5, "accuracy": 1.2}, 1, ValueError, r"`accuracy`.*\[0, 1\]"),
        ({"precision": 0.5, "recall": 0.5, "accuracy": float("nan")}, 1, ValueError, "got nan"),
        ({"dor": float("inf"), "recall": 0.5, "accuracy": 0.6}, 1, ValueError, "must be finite"),
        ({"precision": "0.5", "recall": 0.5, "accuracy": 0.6}, 1, TypeError, "'0.5'"),
        ({"precision": 0.5, "recall": 0.5}, 1, ValueError, "must state three"),
        ({"precision": 0.5, "recall": 0.5, "mcc": 0.1, "npv": 0.9}, 1, ValueError, "must state three"),
        ({"precision": 0.5, "recall": 0.5, "tpr": 0.5}, 1, ValueError, "'recall' twice"),
        ({"precision": 0.5, "recall": 0.5, "excellence": 0.5}, 1, ValueError, "'excellence'"),
        ({"mcc": 0, "informedness": 0, "recall": 0.6}, 1, ValueError, "several"),
        ({}, 1, ValueError, "state three"),
        (["recall"], 1, TypeError, "a mapping"),
        ({"precision": 0.5, "recall": 0.5, "accuracy": 0.6}, 0, ValueError, "`n_items`"),
        ({"precision": 0.5, "recall": 0.5, "accuracy": 0.6}, -1, ValueError, "`n_items`"),
        ({"precision": 0.5, "recall": 0.5, "accuracy": 0.6}, float("nan"), ValueError, "`n_items`"),
        ({"precision": 0.5, "recall": 0.5, "accuracy": 0.6}, "1", TypeError, "`n_items`"),
    ],
)
def test_what_is_no_prior(metrics, weight, error, words):
    with pytest.raises(error, match=words):
        bayescm.priors.prior_from_metrics(metrics, n_items=weight)


NAMES = ("recall", "specificity", "precision")


def test_every_small_table_is_found_again():
    for table in tables(6):
        values = stated(table, NAMES)
        if not np.isfinite([*values.values()]).all():
            continue
        n = int(table.sum())
        every = tables(n)[tables(n).sum((1, 2)) == n]
        with np.errstate(invalid="ignore"):
            same = np.abs(np.stack(compute(resolve(NAMES, 2), every), -1) - [*values.values()]).max(-1) < 1e-9
        if same.sum() > 1:  # such as no errors at all, with any prevalence
            with pytest.raises(ValueError, match=r"equally near .*State one more"):
                bayescm.priors.counts_from_metrics(values, n_items=n)
        else:
            found = bayescm.priors.counts_from_metrics(values, n_items=n)
            np.testing.assert_array_equal(found.counts, table)
            assert int(found.matches) == 1
            np.testing.assert_allclose(found.difference, 0, atol=1e-12)


@pytest.mark.slow
@examples(max_examples=15, phases=(Phase.generate,))
@given(
    cells=st.tuples(*[st.integers(0, 60)] * 4).filter(lambda c: sum(c) > 0 and c[0] + c[1] > 0 and c[3] > 0),
    names=st.sampled_from([NAMES, ("accuracy", "mcc", "precision"), ("f1", "kappa", "recall", "prevalence")]),
    decimals=st.integers(2, 3),
)
def test_of_many_items_one_that_fits_is_found(cells, names, decimals):
    """Beyond 226 items only neighbours of the exact solutions are tried: here of fewer items."""
    table = np.array(cells).reshape(2, 2)
    values = {name: round(value, decimals) for name, value in stated(table, names).items()}
    if not np.isfinite([*values.values()]).all():
        return
    n = int(table.sum())
    metrics, numbers = from_metrics._stated(values, {})
    half = from_metrics._rounding(metrics, numbers, decimals)

    def residual(cells):
        return (from_metrics._values(metrics, cells) - numbers) / half

    most = from_metrics._MOST
    from_metrics._MOST = (n + 1) * (n + 2) * (n + 3) // 6 - 1
    try:
        neighbours, _ = from_metrics._candidates(residual, n)
    finally:
        from_metrics._MOST = most
    assert len(np.unique(neighbours, axis=0)) == len(neighbours)
    assert (np.nan_to_num(np.abs(residual(neighbours)), nan=np.inf).max(-1) <= 1 + 1e-9).any()


def test_a_published_table():
    """Toetsch and Hoffmann's classifier 7a, from two decimals."""
    found = bayescm.priors.counts_from_metrics(
        n_items=34, accuracy=0.94, specificity=0.75, ppv=0.93, labels=["no", "yes"]
    )
    assert found.counts.values.tolist() == [[6, 2], [0, 26]]
    assert found.counts.actual.values.tolist() == ["no", "yes"]
    assert found.metric.values.tolist() == ["accuracy", "specificity", "precision"]
    assert int(found.matches) == 1
    assert (np.abs(found.difference) <= found.rounding).all()
    np.testing.assert_allclose(found.difference, found.obtained - found.stated)
    assert bayescm.summary(found.counts, "mcc").point.item() == pytest.approx(0.8345, abs=1e-4)


def test_ends_of_the_range_and_many_items():
    perfect = bayescm.priors.counts_from_metrics(n_items=34, recall=1, specificity=1, prevalence=0.5)
    assert perfect.counts.values.tolist() == [[17, 0], [0, 17]]
    large = bayescm.priors.counts_from_metrics(n_items=1000, recall=1, precision=0.9, accuracy=0.95)
    assert large.counts.values.tolist() == [[500, 50], [0, 450]]
    table = [[71862, 6908], [3159, 18071]]
    six = {name: round(value, 6) for name, value in stated(table, NAMES).items()}
    huge = bayescm.priors.counts_from_metrics(six, n_items=100_000)
    assert huge.counts.values.tolist() == table
    many = bayescm.priors.counts_from_metrics(n_items=100_000, recall=0.85, specificity=0.9, prevalence=0.2)
    assert np.isnan(many.matches)
    np.testing.assert_array_equal(many.counts, [[72000, 8000], [3000, 17000]])


def test_rounding():
    of = {"recall": 0.8, "lr+": 4.2, "prevalence": 0.25}
    with pytest.warns(UserWarning, match="at odds with positive_likelihood_ratio: 4.286 for 4.2, 1.71 times what"):
        found = bayescm.priors.counts_from_metrics(of, n_items=100)
    np.testing.assert_allclose(found.rounding, [0.005, 0.05, 0.005])
    np.testing.assert_allclose(bayescm.priors.counts_from_metrics(of, n_items=100, decimals=1).rounding, 0.05)
    with pytest.warns(UserWarning, match="no matrix of so many items"):
        assert (
            bayescm.priors.counts_from_metrics(n_items=100, recall=0.85, specificity=0.9, prevalence=0.997).matches == 0
        )


def test_impossible_metrics_get_the_nearest_matrix():
    for n in (100, 1000):
        with pytest.warns(UserWarning, match=r"at odds with accuracy: 0.6\d* for 0.5, 3\d(\.\d)? times what"):
            found = bayescm.priors.counts_from_metrics(n_items=n, recall=0.9, precision=0.9, accuracy=0.5)
        off = np.abs(found.difference) / found.rounding
        assert found.metric[int(off.values.argmax())] == "accuracy"
        assert found.matches == 0
        assert int(found.counts.sum()) == n
        np.testing.assert_allclose(found.obtained, [0.79, 0.79, 0.655], atol=0.01)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"n_items": 34, "accuracy": 0.94, "f1": 0.96, "mcc": 0.83}, ValueError, r"equally near .*fn=2.* or .*fn=0"),
        ({"n_items": 34, "accuracy": 0.94, "f1": 0.96}, ValueError, "at least three"),
        ({"n_items": 34, "recall": 0.9, "fnr": 0.1, "f1": 0.9}, ValueError, "don't determine"),
        ({"n_items": 0, "recall": 0.9, "ppv": 0.9, "accuracy": 0.9}, ValueError, "`n_items`"),
        ({"n_items": 1, "recall": 0.9, "tnr": 0.9, "ppv": 0.9}, ValueError, "`n_items` of 1 is too small"),
        ({"n_items": 2.5, "recall": 0.9, "ppv": 0.9, "accuracy": 0.9}, TypeError, "`n_items`"),
        ({"n_items": 9, "recall": 0.9, "ppv": 0.9, "accuracy": 0.9, "decimals": 0}, ValueError, "`decimals`"),
        ({"n_items": 9, "recall": 90, "ppv": 90, "accuracy": 90}, ValueError, r"`recall`.*\[0, 1\]"),
    ],
)
def test_what_is_no_table(settings, error, words):
    with pytest.raises(error, match=words):
        bayescm.priors.counts_from_metrics(**settings)


def test_a_fourth_metric_tells_twins_apart():
    found = bayescm.priors.counts_from_metrics(n_items=34, accuracy=0.94, f1=0.96, mcc=0.83, recall=1)
    assert found.counts.values.tolist() == [[6, 2], [0, 26]]
    assert found.sizes["metric"] == 4


def test_every_matrix_where_metrics_bend():
    """Around a correlation of -.14 matrices fit far from the exact solutions: up to 226 items all are tried."""
    found = bayescm.priors.counts_from_metrics(n_items=183, accuracy=0.43, mcc=-0.14, precision=0.45)
    assert int(found.matches) == 53
    assert (np.abs(found.difference) <= found.rounding).all()

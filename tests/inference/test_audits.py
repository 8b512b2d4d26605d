"""Answers for audits: published numbers, the census, draws, limits."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from agreement import has_moments
from scipy import stats

import bayescm
from bayescm.data import strata
from bayescm.distributions import strata as groups

MAP = np.array([[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]])  # rows: the map's classes
SHARES = np.array([0.020, 0.015, 0.320, 0.645])
OLOFSSON = bayescm.audited(MAP.T, SHARES, of="population")
JUDGE = bayescm.audited([[17, 1], [3, 19]], [100, 1900])
KNOWN = bayescm.audited([[17, 1], [3, 19]], [100, 1900], of="population")
SITES = bayescm.from_array(
    np.array([[[5, 1, 0], [2, 30, 3], [0, 4, 9]], [[8, 2, 1], [0, 12, 5], [3, 1, 20]]]), dims="site"
)
TWO_SITES = bayescm.audited(SITES, [[50, 100, 20], [30, 40, 80]], of="population")


def row(audit, metric, **options):
    return bayescm.summary(audit, metric, random_seed=1, **options).isel(metric=0)


def test_the_published_map_to_its_printed_digits():
    """Olofsson et al. 2014, section 5: 21,158 +- 6,158 ha of deforestation in 900,000 ha, overall accuracy 0.947."""
    area = 900_000 * bayescm.summary(OLOFSSON, "prevalence")["point"].values
    rates = MAP / MAP.sum(1, keepdims=True)
    se = 900_000 * np.sqrt((SHARES[:, None] ** 2 * rates * (1 - rates) / (MAP.sum(1, keepdims=True) - 1)).sum(0))
    assert round(float(area[0])) == 21_158
    assert round(float(1.96 * se[0])) == 6_158
    assert round(float(row(OLOFSSON, "accuracy")["point"]), 3) == 0.947
    np.testing.assert_allclose(area, 900_000 * SHARES @ rates)
    found = bayescm.summary(OLOFSSON, "prevalence")
    assert (found["method"] == "exact").all()
    np.testing.assert_allclose(900_000 * found["sd"], se, rtol=0.13)
    np.testing.assert_array_less(np.abs(found["mean"] - found["point"]), 0.3 * found["sd"])


@pytest.mark.parametrize("k", [2, 3])
def test_where_all_were_checked_it_is_the_answer_for_a_sample(k):
    counts = bayescm.from_array(np.arange(1, k * k + 1).reshape(k, k) ** 2)
    census = bayescm.audited(counts, counts.sum("actual"))
    metrics = ["accuracy", "prevalence", "precision", "recall", "f1"]
    ours, plain = (bayescm.summary(c, metrics, random_seed=1, draws=10**5) for c in (census, counts))
    for name in ("point", "mean", "sd", "interval"):
        loose = 3e-3 if k > 2 else 1e-6  # recall of three classes is drawn
        np.testing.assert_allclose(ours[name], plain[name], atol=loose, rtol=1e-3 * (k > 2), err_msg=name)
    np.testing.assert_allclose(ours["mean"], plain["mean"], atol=3 * 1e-3 / 3)


METRICS = ["accuracy", "prevalence", "precision", "recall", "f1", "jaccard", "specificity", "predicted_prevalence"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "audit", [JUDGE, KNOWN, OLOFSSON, TWO_SITES, bayescm.audited(SITES, [170, 150], of="population")]
)
def test_exact_answers_agree_with_draws_of_numpy(audit):
    """Dirichlets of NumPy, put together here, and not by the library."""
    rng, n, of = np.random.default_rng(1), 50_000, strata.read(audit)
    k = audit.sizes["actual"]
    prior = np.full((k, k), 0.5 / (k - 1)) + np.eye(k) * (0.5 - 0.5 / (k - 1))
    every = by_hand(of, prior) if of.alike else prior + of.counts
    alphas = [c[inside] for c, inside in zip(every, of.possible, strict=True)]
    shares = of.totals / of.totals.sum()
    if of.of == "process":
        shares = rng.dirichlet(of.totals + [prior[inside].sum() for inside in of.possible], n)
    theta = np.zeros((n, k, k))
    for g, (alpha, inside) in enumerate(zip(alphas, of.possible, strict=True)):
        theta[:, inside] += shares[..., g, None] * rng.dirichlet(alpha, n)
    drawn = bayescm.metrics.evaluate(xr.DataArray(theta, dims=("draw", "actual", "predicted")), METRICS)
    found = bayescm.summary(audit, METRICS, random_seed=1, draws=n)
    dists = {m: bayescm.metric_distribution(audit, m) for m in METRICS if is_exact(found, m)}
    assert len(dists) >= 2
    for metric in found["metric"].values:
        one = found.sel(metric=metric)
        name, _, label = str(metric).partition("[")
        of_class = {"class_label": int(label[:-1])} if label else {}
        values = drawn[name].isel(of_class)
        if float(one["sd"]) > 0:
            has_moments(values.expand_dims("chain"), float(one["mean"]), float(one["sd"]))
        if name in dists:
            bounds = one["interval"].values
            cdf = dists[name].cdf(bounds).isel(of_class)
            share = (values.values[:, None] <= bounds + 1e-12).mean(0)
            np.testing.assert_allclose(cdf, share, atol=5 * 0.5 / np.sqrt(n), err_msg=str(metric))


def by_hand(of, prior):
    """Concentrations of groups whose strata share one prior, one number after the other."""
    k = len(prior)
    found = np.zeros(of.counts.shape)
    for verdict in range(k if of.by_verdict else 1):
        groups = range(verdict, len(of.totals), k if of.by_verdict else 1)
        base = np.where(of.possible[verdict], prior, 0)
        part = {g: of.totals[g] / sum(of.totals[j] for j in groups) for g in groups}
        n = {g: of.counts[g].sum() for g in groups}
        pull = {g: part[g] / (n[g] + base.sum()) for g in groups}
        mean = sum(pull[g] * of.counts[g] / n[g] for g in groups) / sum(pull.values())
        items = 1 / sum(part[g] ** 2 / n[g] for g in groups)
        centre = (items * mean + base) / (items + base.sum())
        for g in groups:
            counts = of.counts[g] + part[g] * base + (1 - part[g]) * base.sum() * centre
            found[g] = counts / counts.sum() * (n[g] - 1 + part[g] * (1 + base.sum()))
    return found


def test_many_strata_of_few_items_are_not_what_each_ones_prior_says():
    """57 of 60 right, in 20 strata of 3: a prior of two items in each said .75 (.68 to .81)."""
    wrong = np.arange(20) < 3
    strata = bayescm.from_cells(tp=2 - wrong, fn=1 * wrong, fp=np.zeros(20, int), tn=np.ones(20, int), dims="site")
    for totals in (np.full(20, 50), np.full((20, 2), 25)):
        found = row(bayescm.audited(strata, totals, of="population"), "accuracy")
        assert float(found["mean"]) == pytest.approx(0.95, abs=0.035)
        low, high = found["interval"].values
        assert 0.75 < low < 0.93 < high
        assert float(found["sd"]) < 1.3 * float(row(strata.sum("site"), "accuracy")["sd"])


@pytest.mark.parametrize("of", ["process", "population", "items"])
def test_strata_at_the_edges(of):
    """Nothing checked, one item, none at all, all right, and many items."""
    counts = np.zeros((5, 2, 2), int)
    counts[0, 1, 1], counts[1, 0, 0], counts[4] = 1, 9, [[10**8, 2], [2, 10**8]]
    sites = bayescm.from_array(counts, dims="site")
    with pytest.warns(UserWarning, match="2 has .* none was checked"):
        audit = bayescm.audited(sites, [20, 30, 40, 0, 3 * 10**8], of=of)
    found = bayescm.summary(audit, ["accuracy", "recall"], random_seed=1)
    assert np.isfinite(found["mean"]).all()
    np.testing.assert_allclose(found["mean"], 1, atol=1e-6)
    with pytest.raises(ValueError, match="improper"):
        bayescm.summary(audit, "accuracy", prior="haldane")


def is_exact(found, name):
    named = [str(metric).partition("[")[0] == name for metric in found["metric"].values]
    return bool((found["method"].values[named] == "exact").all())


def test_begg_and_greenes_in_the_limit_of_many_items():
    """All positives and a tenth of the negatives verified: sensitivity by their formula."""
    counts = np.array([[700_000, 90_000], [20_000, 400_000]])  # (truth, test), of the verified
    totals = np.array([7_200_000, 490_000])
    rates = counts / counts.sum(0)
    with_disease = rates[1] * totals
    sensitivity = with_disease[1] / with_disease.sum()
    without = rates[0] * totals
    found = bayescm.summary(bayescm.audited(counts, totals), ["recall", "specificity"])
    np.testing.assert_allclose(found["mean"], [sensitivity, without[0] / without.sum()], rtol=2e-5)
    np.testing.assert_allclose(found["point"], [sensitivity, without[0] / without.sum()], rtol=1e-12)
    naive = 400_000 / 420_000
    assert sensitivity < naive - 0.2


def test_one_judge_by_hand():
    """Shares Beta, two Betas of truth: mean and variance of their sum of products."""
    w, p1, p0 = stats.beta(1901, 101), stats.beta(19.5, 1.5), stats.beta(3.5, 17.5)
    mean = w.mean() * p1.mean() + (1 - w.mean()) * p0.mean()
    squares = [d.var() + d.mean() ** 2 for d in (w, p1, p0, stats.beta(101, 1901))]
    cross = w.mean() - squares[0]
    var = squares[0] * squares[1] + squares[3] * squares[2] + 2 * cross * p1.mean() * p0.mean() - mean**2
    found = row(JUDGE, "prevalence")
    assert float(found["mean"]) == pytest.approx(mean, rel=1e-8)
    assert float(found["sd"]) == pytest.approx(np.sqrt(var), rel=1e-6)
    assert float(row(KNOWN, "prevalence")["sd"]) < float(found["sd"])


def test_these_items_alone():
    """Beta-binomials: the moments of what nobody looked at, and no doubt once all were looked at."""
    items = bayescm.audited([[17, 1], [3, 19]], [30, 60], of="items")
    p = [stats.betabinom(10, 3.5, 17.5), stats.betabinom(40, 19.5, 1.5)]
    mean = (3 + p[0].mean() + 19 + p[1].mean()) / 90
    found = row(items, "prevalence")
    assert str(found["method"].item()) == "exact"
    sd = np.sqrt(p[0].var() + p[1].var()) / 90
    assert float(found["mean"]) == pytest.approx(mean, rel=1e-12)
    assert float(found["sd"]) == pytest.approx(sd, rel=1e-10)
    both = np.convolve(*(one.pmf(np.arange(n + 1)) for one, n in zip(p, (10, 40), strict=True)))
    eti = row(items, "prevalence", ci_kind="eti")["interval"].values
    np.testing.assert_allclose(eti, (22 + np.searchsorted(np.cumsum(both), [0.025, 0.975])) / 90)
    assert float(found["interval"].sel(ci_bound="lower")) >= 22 / 90
    census = row(bayescm.audited([[17, 1], [3, 19]], [20, 20], of="items"), "prevalence")
    assert float(census["sd"]) == 0.0
    assert census["interval"].values.tolist() == pytest.approx([22 / 40, 22 / 40])
    wide = row(bayescm.audited([[17, 1], [3, 19]], [30, 60]), "prevalence")
    assert float(wide["sd"]) > float(found["sd"])


@pytest.mark.slow
@pytest.mark.parametrize("audit", [
    bayescm.audited([[17, 1], [3, 19]], [30, 60], of="items"),
    bayescm.audited(MAP.T, [90, 80, 200, 400], of="items"),
    bayescm.audited(SITES, [[50, 100, 20], [30, 40, 80]], of="items"),
])  # fmt: skip
def test_items_that_nobody_looked_at_agree_with_draws(audit):
    names = ["accuracy", "prevalence", "precision", "recall", "f1", "mcc", "f1_macro"]
    found = bayescm.summary(audit, names, random_seed=1)
    posterior = bayescm.posterior(audit, metrics=names, chains=2, draws=50_000, random_seed=2)["posterior"]
    exact = found["metric"].values[found["method"].values == "exact"]
    assert len(exact) >= (5 if audit.sizes["actual"] == 2 else 1 + audit.sizes["actual"])
    for metric in exact:
        name, _, label = str(metric).partition("[")
        drawn = posterior[name].isel({"class_label": int(label[:-1])} if label else {}).values.ravel()
        one = found.sel(metric=metric)
        if drawn.std() > 1e-12:
            has_moments(xr.DataArray(drawn[None], dims=("chain", "draw")), float(one["mean"]), float(one["sd"]))
        inside = (drawn >= float(one["interval"][0]) - 1e-9) & (drawn <= float(one["interval"][1]) + 1e-9)
        assert inside.mean() > 0.95 - 5 * 0.22 / np.sqrt(drawn.size), metric


def test_a_mean_that_does_not_exist_is_infinite_whatever_the_totals():
    metrics = ["positive_likelihood_ratio", "negative_likelihood_ratio"]
    for matrix, infinite in (([[20, 0], [0, 20]], [True, False]), ([[0, 20], [20, 0]], [False, True])):
        plain = bayescm.summary(matrix, metrics)["mean"].values
        for of in ("process", "population", "items"):
            ours = bayescm.summary(bayescm.audited(matrix, [100, 1900], of=of), metrics, random_seed=1)
            assert np.isinf(ours["mean"].values).tolist() == np.isinf(plain).tolist() == infinite
            assert np.isnan(ours["sd"].values[infinite]).all()
    seen = bayescm.summary(bayescm.audited([[17, 3], [3, 17]], [100, 1900]), metrics, random_seed=1)
    assert np.isfinite(seen["mean"]).all()
    sites = bayescm.from_array(np.array([[[5, 0], [2, 30]], [[8, 0], [3, 20]]]), dims="site")
    two = bayescm.audited(sites, [[50, 100], [30, 40]])
    for prior, infinite in (("laplace", True), (1.5, False)):  # of both sites together
        assert np.isinf(row(two, "positive_likelihood_ratio", prior=prior)["mean"]) == infinite


def test_what_an_answer_says():
    for of, word in (("process", "a sample, too"), ("population", "exactly the shares"), ("items", "no others")):
        audit = bayescm.audited([[17, 1], [3, 19]], [100, 1900], of=of)
        for found in (bayescm.summary(audit, "accuracy"), bayescm.posterior(audit, metrics="accuracy", draws=10)):
            said = found.attrs["assumptions"]
            assert word in said
            assert "chosen by these alone" in said
            assert len(said) < 250
            assert found.attrs["model"] == "stratified"
            assert found.attrs["of"] == of
    assert "Accuracy is" in repr(bayescm.summary(JUDGE, "accuracy"))


def test_one_item_more_or_less_of_every_edge():
    """A judge without errors, a class that no checked item has, one checked item."""
    for matrix in ([[20, 0], [0, 20]], [[0, 0], [20, 20]], [[1, 0], [0, 1]], [[0, 20], [20, 0]]):
        found = bayescm.summary(bayescm.audited(matrix, [100, 1900]), ["accuracy", "recall", "mcc"], random_seed=1)
        values = found["interval"].values
        assert np.isfinite(values).all()
        assert (values[:, 0] < values[:, 1]).all()
    with pytest.raises(ValueError, match="improper"):
        bayescm.summary(bayescm.audited([[20, 0], [0, 20]], [100, 1900]), prior="haldane")
    with pytest.raises(ValueError, match="`prevalence`='fixed' isn't for"):
        bayescm.summary(JUDGE, prevalence="fixed")
    with pytest.raises(ValueError, match="`model` of audited counts"):
        bayescm.summary(JUDGE, model="three_binomial")
    assert bayescm.metric_distribution(OLOFSSON, "f1_macro", random_seed=1).attrs["method"] == "draws"
    with pytest.raises(ValueError, match="at least 1000"):
        bayescm.summary(JUDGE, "accuracy", draws=10)


def test_exchanged_metrics_are_what_they_say():
    counts = np.random.default_rng(1).integers(1, 50, (5, 2, 2))
    for name, partner in groups.EXCHANGED.items():
        if not name.endswith("macro"):
            ours, theirs = (
                bayescm.metrics.evaluate(bayescm.from_array(c), m)[m].values
                for c, m in ((counts, name), (counts.swapaxes(1, 2), partner))
            )
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=name)
    drawn = bayescm.posterior(JUDGE, metrics="fbeta(beta=3)", draws=20_000, random_seed=1).posterior["fbeta(beta=3)"]
    assert float(row(JUDGE, "fbeta(beta=3)")["mean"]) == pytest.approx(float(drawn.mean()), abs=1e-3)


@pytest.mark.parametrize("prevalence", [0.1, (20.0, 60.0)])
def test_another_prevalence_is_that_of_the_draws(prevalence):
    found = bayescm.summary(JUDGE, ["precision", "mcc", "prevalence"], prevalence=prevalence, random_seed=1)
    drawn = bayescm.posterior(
        JUDGE, prevalence=prevalence, metrics=["precision", "mcc", "prevalence"], draws=10_000, random_seed=2
    ).posterior
    for name in found.metric.values:
        of_draws = drawn[str(name)].values
        assert found["mean"].sel(metric=name).item() == pytest.approx(
            of_draws.mean(), abs=0.02 * of_draws.std() + 1e-12
        )
        assert found["sd"].sel(metric=name).item() == pytest.approx(of_draws.std(), rel=0.05, abs=1e-12)
    assert "at that prevalence" in found.attrs["assumptions"]
    assert set(found.method.values) == {"draws"}


def one_item_each(matrix):
    """Return the counts of units with one item each."""
    return bayescm.from_array(np.repeat(np.eye(4, dtype=int).reshape(4, 2, 2), np.ravel(matrix), axis=0), dims="answer")


@pytest.mark.parametrize("of", ["process", "population"])
def test_units_of_one_item_are_items(of):
    matrix, totals, metrics = [[17, 1], [3, 19]], [100, 1900], ["accuracy", "recall", "prevalence"]
    found = bayescm.summary(
        bayescm.audited(one_item_each(matrix), totals, of=of, unit="answer"), metrics, random_seed=1
    )
    items = bayescm.summary(bayescm.audited(matrix, totals, of=of), metrics)
    scale = items["sd"].values
    np.testing.assert_allclose(found["mean"], items["mean"], atol=0.02 * scale.max())
    np.testing.assert_allclose((found["interval"] - items["interval"]) / scale[:, None], 0.0, atol=0.06)
    assert items["method"].values.tolist() == ["exact"] * 3


def test_units_whose_items_are_alike_count_once():
    whole = 6 * one_item_each([[17, 1], [3, 19]])
    options = {"of": "population", "unit": "answer"}
    six, one = (
        bayescm.summary(bayescm.audited(counts, [600, 11_400], **options), "accuracy", random_seed=1)["width"].item()
        for counts in (whole, one_item_each([[17, 1], [3, 19]]))
    )
    assert six == pytest.approx(one, rel=0.02)
    audit = bayescm.audited(whole, [600, 11_400], **options)
    alone = bayescm.summary(bayescm.audited(whole.sum("answer"), [600, 11_400], of="population"), "accuracy")
    assert alone["width"].item() < 0.6 * six
    assert "by those of 40 answers that were checked" in bayescm.summary(audit, random_seed=1).bayescm.sentence
    board = bayescm.leaderboard({"A": audit, "B": audit}, metric="accuracy", design="independent", random_seed=1)
    assert board["probability_best"].values == pytest.approx([0.5, 0.5], abs=0.02)
    for refused in (
        lambda: bayescm.posterior(audit),
        lambda: bayescm.planning.allocate(audit, 10),
        lambda: bayescm.interval(audit, "accuracy", "anytime"),
    ):
        with pytest.raises(ValueError, match="units that were checked whole"):
            refused()


def test_a_table_names_its_unit_and_strata_have_none():
    table = pd.DataFrame(
        {
            "human": ["y", "n", None, "y", "y", None, "n", "y"],
            "judge": list("ynyynnny"),
            "doc": [1, 1, 2, 2, 3, 3, 4, 4],
        }
    )
    how = {"actual": "human", "predicted": "judge", "pos_label": "y"}
    audit = bayescm.audited(table, unit="doc", **how)
    assert audit.dims == ("doc", "actual", "predicted")
    assert audit.coords["totals"].values.tolist() == [4, 4]
    assert "with fewer than 8 units" in bayescm.summary(audit, "accuracy", random_seed=1).bayescm.sentence
    for more in ({"stratum": "doc"}, {"of": "items"}, {"of": "others"}):
        with pytest.raises(ValueError, match="`unit` is for an audit without strata"):
            bayescm.audited(table, unit="doc", **how, **more)
    with pytest.raises(ValueError, match="must be a dim of the counts"):
        bayescm.audited([[17, 1], [3, 19]], [100, 1900], unit="doc")

"""The prior that is learned across classes: its grids against Monte Carlo from the prior, its answers at every door."""

import numpy as np
import pytest
from scipy import special

import bayescm
from bayescm.distributions.learned import learn
from bayescm.distributions.learned_rates import _gauss, of_accuracy, of_recalls

RARE = np.array([[93, 0, 3, 1, 1], [2, 91, 1, 0, 2], [0, 0, 3, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 1]])

ANSWERS = bayescm.predictions([0, 1, 2, 2], {"a": [0, 1, 2, 1], "b": [0, 0, 2, 2]})


def recalls_from_the_prior(counts, n, rng):
    """Return posterior means of recalls: hyperparameters are drawn from the prior, and weighted by the likelihood."""
    totals, right = counts.sum(1), np.diagonal(counts)
    x = np.log(totals + 2.0)
    x = x - np.average(x, weights=totals + 0.5)
    level, slope = special.logit(rng.beta(0.5, 0.5, n)), rng.normal(size=n)
    c = rng.uniform(0.0, 0.82, n) ** -2.0 - 1.0
    apart = rng.choice([0.0, 0.05, 0.15, 0.35], n)[:, None]
    m = np.clip(special.expit(level[:, None] + slope[:, None] * x), 1e-9, 1 - 1e-9)
    a, b = c[:, None] * m, c[:, None] * (1 - m)
    alike = np.exp(special.betaln(a + right, b + totals - right) - special.betaln(a, b))
    like = np.maximum((1 - apart) * alike, 1e-200)
    own = apart * np.exp(special.betaln(0.5 + right, 0.5 + totals - right) - special.betaln(0.5, 0.5))
    means = (like * (a + right) / (a + b + totals) + own * (0.5 + right) / (1.0 + totals)) / (like + own)
    weight = np.exp(np.log(like + own).sum(1) - np.log(like + own).sum(1).max())
    return weight @ means / weight.sum()


TABLES = {
    "rare": RARE,
    "all correct": np.diag([5, 5, 5]),
    "one absent": np.array([[3, 1, 0], [2, 0, 2], [0, 0, 0]]),
    "one broken": np.array([[9, 1, 0], [1, 0, 9], [2, 2, 6]]),
}


@pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES)
def test_recalls_are_those_of_draws_from_the_prior_weighted_by_the_likelihood(counts):
    theta = learn(counts).draw(np.random.default_rng(1), 40_000)
    recalls = np.diagonal(theta, axis1=1, axis2=2) / theta.sum(2)
    expected = recalls_from_the_prior(counts, 400_000, np.random.default_rng(2))
    np.testing.assert_allclose(recalls.mean(0), expected, atol=0.012)  # the grid of spreads has ten values


@pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES)
def test_recalls_shares_and_accuracy_without_draws_are_those_of_draws(counts):
    n = 60_000
    theta = learn(counts).draw(np.random.default_rng(4), n)
    right, totals = np.diagonal(theta, axis1=1, axis2=2), theta.sum(2)
    metrics = ["accuracy", "false_negative_rate", "prevalence", "recall_weighted"]
    of = {metric: bayescm.metric_distribution(counts, metric, prior="learned") for metric in metrics}
    drawn = {
        "accuracy": right.sum(1), "false_negative_rate": 1.0 - right / totals, "prevalence": totals,
        "recall_weighted": right.sum(1),
    }  # fmt: skip
    for metric, values in drawn.items():
        np.testing.assert_allclose(of[metric].mean(), values.mean(0), atol=0.006)
        for x in (0.05, 0.2, 0.5, 0.8, 0.95):
            np.testing.assert_allclose(of[metric].cdf(x), (values <= x).mean(0), atol=0.012)


@pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES)
def test_recalls_are_the_mixture_of_all_nodes(counts):
    known = learn(counts)
    grid, right, totals = known.hyper, np.diagonal(counts), counts.sum(1)
    nodes = [
        (weight, grid.mean[i, j], grid.concentration[c], grid.apart[e] / (1.0 - grid.apart[e]) / grid.alike[i, j, c])
        for (i, j, c, e), weight in np.ndenumerate(grid.weight) if weight > 1e-6
    ]  # fmt: skip
    weight, mean, c, odds = (np.array(part) for part in zip(*nodes, strict=True))
    a, lone = c[:, None] * mean, odds / (1.0 + odds)
    found = of_recalls([known])
    for x in (0.1, 0.5, 0.9, 0.99):
        like = special.betainc(a + right, c[:, None] - a + totals - right, x)
        own = special.betainc(0.5 + right, 0.5 + totals - right, x)
        expected = weight @ ((1.0 - lone) * like + lone * own) / weight.sum()
        np.testing.assert_allclose(found.cdf(x)[0], expected, atol=0.006)


def test_gauss_rule_has_the_moments_of_its_points():
    rng = np.random.default_rng(5)
    x, weight = rng.random((3, 40)), rng.random((3, 40))
    weight[1, 3:] = 0.0  # fewer points than nodes
    nodes, weights = _gauss(x, weight)
    for power in (0, 1, 2, 5, 9, 15, 31):
        np.testing.assert_allclose((weights * nodes**power).sum(1), (weight * x**power).sum(1), rtol=1e-6)


def test_ends_of_accuracy_are_right_to_a_hundredth_of_its_interval():
    rng = np.random.default_rng(3)
    for counts in TABLES.values():
        theta = learn(counts).draw(rng, 60_000)
        drawn = np.quantile(np.trace(theta, axis1=1, axis2=2), [0.025, 0.975])
        found = bayescm.summary(counts, ["accuracy", "error_rate"], prior="learned")
        np.testing.assert_allclose(found["interval"][0], drawn, atol=0.015 * np.ptp(drawn))
        np.testing.assert_allclose(found["interval"][1], 1.0 - found["interval"][0, ::-1], atol=1e-9)
        assert (found["error"] > 0.0).all()
        assert (found["error"] < 0.25).all()


def test_known_shares_are_those_asked_for():
    shares = np.array([0.5, 0.2, 0.1, 0.1, 0.1])
    found = bayescm.summary(RARE, ["accuracy", "recall", "prevalence"], prior="learned", prevalence=shares)
    assert found["method"].values.tolist() == ["draws"] + ["numerical"] * 10
    np.testing.assert_allclose(found["mean"][0], found["mean"].values[1:6] @ shares, rtol=3e-3)
    np.testing.assert_array_equal(found["mean"][6:], shares)


def test_many_items_of_hard_classes_tell_of_the_others():
    """Their probability leaves the range of numbers, and is compared all the same."""
    hard = learn(np.array([[3000, 0, 3100], [0, 3050, 3040], [3000, 0, 3020]])).hyper
    assert hard.weight.sum((0, 1, 3))[0] > 0.8  # all near one half: as concentrated as the grid has it


def test_errors_go_where_the_confused_are_and_nothing_is_lost():
    counts = np.array([[40, 10, 0, 0], [10, 40, 0, 0], [0, 0, 40, 10], [0, 0, 10, 40]])
    theta = learn(counts).draw(np.random.default_rng(1), 20_000)
    np.testing.assert_allclose(theta.sum((1, 2)), 1.0)
    of_errors = theta[:, 0, 1:] / theta[:, 0, 1:].sum(1, keepdims=True)
    assert of_errors.mean(0)[0] > 0.9 > 0.2 > of_errors.mean(0)[1]
    np.testing.assert_allclose(theta.sum(2).mean(0), 0.25, atol=0.005)


def test_order_of_classes_means_nothing():
    order = [3, 0, 4, 2, 1]
    one, other = (learn(c).draw(np.random.default_rng(1), 40_000) for c in (RARE, RARE[np.ix_(order, order)]))
    np.testing.assert_allclose(one.mean(0)[np.ix_(order, order)], other.mean(0), atol=0.003)


@pytest.mark.parametrize(
    "counts",
    [
        np.zeros((4, 4), int), np.diag([10**12] * 3), np.diag([1, 0, 0]), np.full((3, 3), 10**14),
        np.eye(3, dtype=int)[::-1] * 50, np.diag([10**12, 1, 0, 3]),
    ],
)  # fmt: skip
def test_extreme_counts(counts):
    theta = learn(counts).draw(np.random.default_rng(1), 2_000)
    assert np.isfinite(theta).all()
    assert (theta >= 0).all()
    np.testing.assert_allclose(theta.sum((1, 2)), 1.0)
    counts = np.minimum(counts, 10**9)
    found = bayescm.summary(counts, ["accuracy", "recall", "prevalence"], prior="learned")
    assert (np.diff(found["interval"]) >= 0.0).all()
    np.testing.assert_allclose(found["mean"][0], np.trace(theta, axis1=1, axis2=2).mean(), atol=0.03)
    n = counts.sum()
    if n > 10**12:
        np.testing.assert_allclose(theta.mean(0), counts / n, atol=1e-4)


def test_a_rare_class_learns_from_the_others_and_the_note_says_what_if_it_does_not():
    counts = bayescm.from_array(RARE, labels=list("abcde"))
    fixed, learned = (
        bayescm.summary(counts, ["recall_macro", "f1_macro", "recall"], prior=prior, random_seed=1)
        for prior in (None, "learned")
    )
    rare = {"metric": "recall[d]"}
    assert learned["mean"].sel(rare) > fixed["mean"].sel(rare) + 0.05  # of one item, right, among others of .95
    assert "2 of 5 classes ('d', 'e') have fewer than 3 items" in learned.bayescm.sentence
    assert "recall_macro is 0." in learned.attrs["carried_by"]
    assert "prior='learned'" in fixed.attrs["carried_by"]
    absent = bayescm.summary(counts * [[1], [1], [1], [0], [9]], "f1_macro", prior="learned", random_seed=1)
    assert absent.attrs["carried_by"].startswith("1 of 5 classes ('d') has fewer than 3 items")
    assert "carried_by" not in bayescm.summary(counts, "accuracy").attrs
    assert "carried_by" not in bayescm.summary(counts + 3, "f1_macro").attrs


def test_averages_that_the_prior_moves_are_named_with_what_the_others_teach():
    right = np.eye(10, dtype=int) * 10
    found = bayescm.summary(right, "accuracy", random_seed=1)
    assert found.interval.max() < 0.99  # all are right, and the interval says they aren't
    lower, upper = bayescm.summary(right, "accuracy", prior="learned").interval.values[0]
    assert found.attrs["carried_by"] == (
        "the prior moves accuracy by 2.3 standard deviations; with prior='learned', from the other classes, "
        f"accuracy is {lower:.3f} to {upper:.3f}"
    )
    several = bayescm.summary(right, random_seed=1).attrs["carried_by"]
    assert several.startswith(
        "the prior moves accuracy, balanced_accuracy, matthews_correlation, cohen_kappa and 4 more"
    )
    assert "carried_by" not in bayescm.summary(right * 10 + 1, "accuracy").attrs
    assert "carried_by" not in bayescm.summary(right + 1, "accuracy", prior="haldane").attrs
    assert "carried_by" not in bayescm.summary(right, "recall").attrs  # of a class, not of all
    assert "carried_by" not in bayescm.summary([[2, 0], [0, 2]], "accuracy").attrs
    assert "carried_by" not in bayescm.summary(np.zeros((3, 3), int), "f1_macro").attrs


@pytest.mark.parametrize(("k", "n"), [(3, 10), (10, 10), (10, 30), (50, 20)])
def test_ends_of_a_perfect_accuracy_are_those_of_draws(k, n):
    """The series of a part is negative far below its mean, where a quantile's search once took the wrong side."""
    known = learn(np.eye(k, dtype=int) * n)
    drawn = np.trace(known.draw(np.random.default_rng(4), 40_000 if k < 50 else 4_000), axis1=1, axis2=2)
    lower, upper = np.quantile(drawn, [0.025, 0.975])
    accuracy = of_accuracy([known]).at(0)
    assert float(accuracy.ppf(0.025)) == pytest.approx(lower, abs=0.03 * (1.0 - lower))
    assert float(accuracy.cdf(accuracy.ppf(0.025))) == pytest.approx(0.025, rel=1e-6)
    assert float(accuracy.ppf(0.975)) == pytest.approx(upper, abs=1e-9)
    assert float(of_accuracy([known], missed=True).at(0).isf(0.025)) == pytest.approx(
        1.0 - lower, abs=0.03 * (1.0 - lower)
    )


def test_batches_lazy_data_and_trees_answer_as_each_matrix_does():
    both = bayescm.from_array(np.stack([RARE, RARE.T]), dims="system")
    options = {"prior": "learned", "draws": 2000, "random_seed": 3}
    found = bayescm.summary(both, ["accuracy", "recall"], **options)
    lazy = bayescm.summary(both.chunk(system=1), ["accuracy", "recall"], **options).compute()
    np.testing.assert_allclose(found["interval"], lazy["interval"], rtol=1e-9)
    first = bayescm.summary(both.isel(system=0), ["accuracy", "recall"], **options)
    np.testing.assert_allclose(found["interval"].isel(system=0), first["interval"], rtol=1e-9)
    tree = bayescm.posterior(both, prior="learned", metrics="accuracy", draws=500, random_seed=3)
    np.testing.assert_allclose(bayescm.summary(tree, "accuracy")["mean"], found["mean"].isel(metric=[0]), atol=0.003)


def test_matrices_of_any_sizes_go_together():
    many = np.stack([RARE * n for n in (0, 1, 100, 10_000)])
    found = bayescm.summary(many, ["accuracy", "recall"], prior="learned")
    each = [bayescm.summary(one, ["accuracy", "recall"], prior="learned") for one in many]
    np.testing.assert_allclose(found["interval"], [one["interval"] for one in each], rtol=1e-9)


def test_other_questions_take_it():
    counts = bayescm.from_array(RARE)
    draws = bayescm.metric_distribution(counts, "f1_macro", prior="learned", random_seed=1)
    held = bayescm.probability(counts, "f1_macro > 0.6", prior="learned", random_seed=1)
    assert float(held["probability"][0]) == pytest.approx(1.0 - float(draws.cdf(0.6)), abs=0.02)
    fixed = bayescm.summary(counts, "f1_macro", prior="learned", prevalence="fixed", random_seed=1)
    exchanged = bayescm.summary(counts, "f1_macro", prior="learned", prevalence=[0.2] * 5, random_seed=1)
    assert float(fixed["sd"][0]) > 0.0
    assert float(exchanged["point"][0]) != pytest.approx(float(fixed["point"][0]))
    again = bayescm.planning.replicate(counts, "recall_macro", prior="learned", random_seed=1)
    assert float(again["sd"][0]) > 0.0


def test_what_is_learned_from_no_items_is_the_prior():
    tree = bayescm.posterior(RARE, prior="learned", metrics="recall", random_seed=1)
    before = bayescm.inference.prior_predictive(
        "recall", n_items=40, prior="learned", labels=range(5), draws=5_000, random_seed=2
    )
    for drawn in (tree["prior"], before["prior"]):
        assert float((drawn["recall"][..., 0] > 0.5).mean()) == pytest.approx(0.5, abs=0.05)  # Beta(1/2, 1/2) or wider
    assert int(before["prior_predictive"]["counts"][0, 0].sum()) == 40


def test_a_class_without_items_is_named_and_keeps_its_points():
    counts = [[5, 1, 2], [0, 0, 0], [1, 1, 9]]
    found = bayescm.summary(
        counts, ["recall", "prevalence", "f1_macro"], prior="learned", prevalence=(0.2, 0.3, 0.5), random_seed=1
    )
    np.testing.assert_allclose(found["point"][:6], [5 / 8, np.nan, 9 / 11, 0.2, 0.3, 0.5])
    assert (
        found.attrs["no_items"] == "class 1 has no items: its recall is learned from the others, which enters f1_macro"
    )


def test_decisions_take_it():
    costs = 1.0 - np.eye(5)
    learned = bayescm.decide(RARE, costs, prior="learned", random_seed=1)
    accuracy = bayescm.summary(RARE, "accuracy", prior="learned", random_seed=2)
    assert float(learned["mean"][0]) == pytest.approx(1.0 - float(accuracy["mean"][0]), abs=0.002)
    both = bayescm.from_array(np.stack([RARE, RARE.T]), dims="system")
    assert bayescm.decide(both, costs, prior="learned", random_seed=1).attrs["design"] == "independent"
    with pytest.raises(ValueError, match="which items each system got right"):
        bayescm.decide(both, costs, prior="learned", design="paired")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: bayescm.summary([[6, 2], [0, 26]], prior="learned"), "more than two classes; got 2"),
        (lambda: bayescm.summary(RARE, prior="learned", model="three_binomial"), "learns the recall of one class"),
        (lambda: bayescm.compare_systems(ANSWERS, "f1_macro", prior="learned"), "compared on the same items"),
        (lambda: bayescm.posterior(RARE, prior="learned", sampler="nuts"), "needs a PyMC program"),
        (lambda: bayescm.posterior(RARE, prior="learned", workflow=True), "needs a PyMC program"),
        (lambda: bayescm.summary(np.diag([3, 0, 2]), prior="learned", prevalence="fixed"), "items of every class"),
    ],
)  # fmt: skip
def test_what_it_can_not_answer_is_said(ask, words):
    with pytest.raises(ValueError, match=words):
        ask()

"""A posterior's draws, of whatever model, answer what counts answer: against the draws themselves."""

import arviz as az
import numpy as np
import pytest
import xarray as xr

import bayescm
from bayescm.metrics import compute, resolve

COUNTS = bayescm.from_cells(tp=26, fn=2, fp=2, tn=6)
FOLDS = bayescm.from_array([[[30, 5], [4, 11]], [[28, 7], [3, 12]]], dims="fold")
RNG = np.random.default_rng(1)


def tree(theta, **more):
    dims = ("chain", "draw", *more.pop("batch", ()), "actual", "predicted")
    labels = more.pop("labels", list(range(theta.shape[-1])))
    data = xr.Dataset({"theta": (dims, theta), **more}, coords={"actual": labels, "predicted": labels})
    return xr.DataTree.from_dict({"posterior": data})


def by_draws(drawn):
    """Return a tree that no longer says that a closed form drew it."""
    drawn.attrs.pop("draws_stamp")
    return drawn


def chains(k=2, batch=(), draws=500, rng=RNG):
    """Return autocorrelated draws of cells (4, draws, ..., k, k)."""
    steps = rng.standard_normal((4, draws, *batch, k * k))
    for i in range(1, draws):
        steps[:, i] = 0.9 * steps[:, i - 1] + np.sqrt(1 - 0.81) * steps[:, i]
    raised = np.exp(steps + np.eye(k).ravel())
    return (raised / raised.sum(-1, keepdims=True)).reshape(4, draws, *batch, k, k)


@pytest.mark.parametrize("ci_kind", ["eti", "hdi"])
@pytest.mark.parametrize(("k", "batch"), [(2, ()), (3, ()), (2, ("system",)), (3, ("system", "site"))])
def test_a_summary_is_of_the_draws(k, batch, ci_kind):
    sizes = (2, 3)[: len(batch)]
    theta = chains(k, sizes)
    found = bayescm.summary(tree(theta, batch=batch), ["recall", "mcc", "accuracy"], ci_kind=ci_kind)
    assert found["mean"].dims == (*batch, "metric")
    for name in ("recall", "mcc", "accuracy"):
        values = compute(resolve([name], k), np.moveaxis(theta.reshape(-1, *sizes, k, k), 0, 0))[0]
        mine = found.sel(metric=[str(m) for m in found.metric.values if str(m).startswith(resolve([name], k)[0].name)])
        values = values if values.ndim > 1 + len(sizes) else values[..., None]
        np.testing.assert_allclose(mine["mean"].values, values.mean(0))
        np.testing.assert_allclose(mine["median"].values, np.median(values, 0))
        if ci_kind == "eti":
            ends = np.moveaxis(np.quantile(values, [0.025, 0.975], 0), 0, -1)
            np.testing.assert_allclose(mine["interval"].values, ends)
    assert set(found.method.values) == {"draws"}
    assert np.isnan(found.point).all()


def test_errors_are_those_of_chains():
    theta = chains()
    found = bayescm.summary(tree(theta), "recall")
    recall = theta[..., 1, 1] / theta[..., 1, :].sum(-1)
    assert found["mcse_mean"].item() == pytest.approx(float(az.mcse(recall)))
    assert found["mcse_mean"].item() > 2.0 * recall.std() / np.sqrt(recall.size)
    both = bayescm.probability(tree(theta), "recall > .7 and accuracy > .3")
    held = (recall > 0.7) & (np.einsum("cdii->cd", theta) > 0.3)
    assert both.probability.item() == held.mean()
    assert both.mcse_probability.item() == pytest.approx(float(az.mcse(held.astype(float))))
    claim = bayescm.probability(tree(theta), "recall > .7")
    assert claim.probability.item() == (recall > 0.7).mean()
    assert claim.mcse_probability.item() == pytest.approx(float(az.mcse((recall > 0.7).astype(float))))


def test_claims_that_hold_together_are_shares_of_the_same_draws():
    theta = chains(3)
    found = bayescm.probability(tree(theta, labels=["a", "b", "c"]), "recall > .4 and mcc > .2")
    recall, mcc = compute(resolve(["recall", "mcc"], 3), theta)
    share = ((recall > 0.4) & (mcc > 0.2)[..., None]).mean((0, 1))
    np.testing.assert_allclose(found.probability.values[:, 0], share)
    assert found.class_label.values.tolist() == ["a", "b", "c"]


def test_a_posterior_of_counts_and_its_tree_agree():
    drawn = by_draws(bayescm.posterior(COUNTS, model="three_binomial", draws=20_000, random_seed=1))
    names = ["recall", "mcc", "f1"]
    exact, found = bayescm.summary(COUNTS, names, model="three_binomial"), bayescm.summary(drawn, names)
    assert (np.abs(found["interval"] - exact["interval"]) < 5 * found["mcse_interval"]).all()
    np.testing.assert_allclose(found["point"], exact["point"])
    assert found.attrs["draws"] == 80_000
    assert found.attrs["model"] == "three_binomial"
    assert found.attrs["assumptions"] == exact.attrs["assumptions"]
    exchanged = bayescm.summary(drawn, ["precision", "recall"], prevalence=0.1)
    wanted = bayescm.summary(COUNTS, ["precision", "recall"], model="three_binomial", prevalence=0.1)
    assert (np.abs(exchanged["interval"] - wanted["interval"]) < 5 * exchanged["mcse_interval"]).all()
    np.testing.assert_allclose(exchanged["point"], wanted["point"])
    dist = bayescm.metric_distribution(drawn, "mcc")
    known = bayescm.metric_distribution(COUNTS, "mcc", model="three_binomial")
    x = [0.4, 0.6, 0.8]
    np.testing.assert_allclose(dist.cdf(x), known.cdf(x), atol=0.01)
    assert dist.attrs["method"] == "draws"


def test_another_model_by_name_is_answered_by_its_draws():
    found = bayescm.summary(FOLDS, ["recall", "specificity"], model="kfold", pooling="complete", random_seed=1)
    drawn = bayescm.posterior(FOLDS, model="kfold", pooling="complete", random_seed=1)
    np.testing.assert_allclose(found["mean"].values, [drawn.posterior[n].mean() for n in ("recall", "specificity")])
    pooled = bayescm.summary(FOLDS.sum("fold"), ["recall", "specificity"])
    np.testing.assert_allclose(found["point"], pooled["point"])
    assert found.attrs["target"] == drawn.attrs["target"]
    average = bayescm.posterior(FOLDS, model="kfold", pooling="average", metrics=["f1", "mcc"], random_seed=1)
    own = bayescm.summary(average, ["f1"])  # which the tree has
    assert own["mean"].item() == pytest.approx(float(average.posterior.f1.mean()))
    less = xr.DataTree.from_dict(
        {"/": xr.Dataset(attrs=average.attrs), "posterior": average.posterior.to_dataset()[["theta"]]}
    )
    np.testing.assert_allclose(bayescm.summary(less, ["f1"])["mean"], own["mean"])  # which it hasn't
    chance = bayescm.probability(average, "f1 > .88 and mcc > .6").probability.item()
    assert chance == ((average.posterior.f1 > 0.88) & (average.posterior.matthews_correlation > 0.6)).mean()


def test_metrics_that_a_model_draws_itself_are_taken():
    theta = chains()
    own = RNG.uniform(0.2, 0.4, theta.shape[:2])
    found = bayescm.summary(tree(theta, recall=(("chain", "draw"), own)), ["recall", "accuracy"])
    assert found["mean"].sel(metric="recall").item() == pytest.approx(own.mean())
    assert found["mean"].sel(metric="accuracy").item() == pytest.approx(np.einsum("cdii->cd", theta).mean())


def test_what_is_no_posterior_of_cells_is_refused():
    with pytest.raises(ValueError, match="must have the group 'posterior'"):
        bayescm.summary(xr.DataTree.from_dict({"prior": xr.Dataset()}))
    with pytest.raises(ValueError, match="must hold draws of the cells"):
        bayescm.summary(az.from_dict({"posterior": {"mu": RNG.normal(size=(4, 100))}}))
    with pytest.raises(ValueError, match="those of the draws already"):
        bayescm.summary(tree(chains()), prior="laplace")
    rates = chains()
    with pytest.raises(ValueError, match="must add up to 1"):
        bayescm.summary(tree(rates / rates.sum(-1, keepdims=True)))
    with pytest.raises(ValueError, match="`design` is the model's"):
        bayescm.compare_systems(tree(chains(2, (2,)), batch=("system",)), design="independent")
    with pytest.raises(ValueError, match="`design` is the model's"):
        bayescm.leaderboard(tree(chains(2, (2,)), batch=("system",)), design="paired")
    with pytest.raises(ValueError, match="`prevalence`='fixed' is for counts"):
        bayescm.summary(tree(chains()), prevalence="fixed")


SYSTEMS = bayescm.from_cells(tp=[26, 20, 30], fn=[1, 4, 2], fp=[2, 3, 6], tn=[26, 17, 20], dims="system").assign_coords(
    system=["a", "b", "c"]
)


def test_systems_are_compared_draw_by_draw():
    drawn = by_draws(bayescm.posterior(SYSTEMS, metrics=["mcc"], draws=5000, random_seed=1))
    found = bayescm.compare_systems(drawn, ["accuracy", "mcc"], rope=0.01, require="recall > .8 and mcc > .4")
    counts = bayescm.compare_systems(SYSTEMS, ["accuracy", "mcc"], rope=0.01, require="recall > .8 and mcc > .4")
    assert found.attrs["design"] == "joint"
    mcc = drawn.posterior.matthews_correlation.values
    differences = mcc[..., 0] - mcc[..., 2]
    one = found["summary"].sel(comparison="a - c", metric="matthews_correlation")
    assert one["mean"].item() == pytest.approx(differences.mean())
    assert one.probability_better.item() == (differences > 0.01).mean()
    assert one.mcse_probability.sel(side="better").item() == pytest.approx(
        float(az.mcse((differences > 0.01).astype(float))), rel=1e-6
    )
    exact = counts["summary"]
    assert (np.abs(found["summary"].probability_better - exact.probability_better) < 0.02).all()
    np.testing.assert_allclose(found["summary"].point, exact.point)
    np.testing.assert_allclose(found["summary"].requirement, exact.requirement, atol=0.02)
    assert "P(better)" in repr(found)
    assert "tests" not in found.children


def test_a_board_of_draws_counts_their_ranks():
    theta = chains(2, (3,))
    found = bayescm.leaderboard(tree(theta, batch=("site",)), metric="mcc")
    (mcc,) = compute(resolve(["mcc"], 2), theta)
    best = (mcc.reshape(-1, 3).argmax(1)[:, None] == np.arange(3)).mean(0)
    np.testing.assert_allclose(found.probability_best, best)
    np.testing.assert_allclose(found["mean"], mcc.reshape(-1, 3).mean(0))
    assert found.attrs["draws"] == 2000
    with pytest.raises(ValueError, match="'learned' is for counts"):
        bayescm.leaderboard(tree(theta, batch=("system",)), prior="learned")
    with pytest.raises(ValueError, match="must be of several systems"):
        bayescm.leaderboard(tree(chains()))
    with pytest.raises(ValueError, match="must be of several systems"):
        bayescm.compare_systems(tree(chains(2, (2, 2)), batch=("system", "site")))


def test_one_model_of_all_systems_pulls_them_together():
    more = {"chains": 2, "draws": 500, "random_seed": 1}
    found = bayescm.compare_systems(SYSTEMS, "mcc", model="hierarchical", **more)
    board = bayescm.leaderboard(SYSTEMS, metric="mcc", model="hierarchical", **more | {"draws": 1000})
    apart = bayescm.compare_systems(SYSTEMS, "mcc", design="independent")
    assert (np.abs(found["summary"]["mean"]) < np.abs(apart["summary"]["mean"])).all()
    differences = board["mean"].values[[0, 0, 1]] - board["mean"].values[[1, 2, 2]]
    np.testing.assert_allclose(found["summary"]["mean"].values[:, 0], differences)
    assert found.attrs["model"] == board.attrs["model"] == "hierarchical"
    assert found.attrs["assumptions"] == board.attrs["assumptions"]
    assert len(found.posterior.draw) == 500


def test_other_prevalences_of_draws():
    drawn = by_draws(bayescm.posterior(COUNTS, model="three_binomial", draws=10_000, random_seed=1))
    found = bayescm.planning.at_prevalences(drawn, "precision", [0.01, 0.5])
    wanted = bayescm.planning.at_prevalences(COUNTS, "precision", [0.01, 0.5], model="three_binomial")
    assert (np.abs(found["interval"] - wanted["interval"]) < 5 * found["mcse_interval"]).all()
    assert found.observed_prevalence.item() == wanted.observed_prevalence.item()
    with pytest.raises(ValueError, match="must have two labels"):
        bayescm.planning.at_prevalences(tree(chains(3)), "precision", [0.01])


@pytest.mark.parametrize(
    ("data", "space"),
    [
        (COUNTS, ("mcc", "recall")),
        ([[40, 3, 2], [5, 22, 8], [1, 6, 13]], ("f1_macro", "accuracy")),
        (tree(chains(3)), ("precision_macro", "recall_macro")),
    ],
)
def test_regions_of_two_metrics_hold_their_share_of_the_draws(data, space):
    found = bayescm.region(data, space=space, method="credible", levels=[0.5, 0.9], random_seed=1)
    y, x = found.level.dims
    drawn = data if isinstance(data, xr.DataTree) else by_draws(bayescm.posterior(data, draws=5000, random_seed=2))
    k = drawn.posterior.theta.sizes["actual"]
    values = compute(resolve(list(space), k), drawn.posterior.theta.values.reshape(-1, k, k))
    at = found.level.interp({y: ("draw", values[0]), x: ("draw", values[1])}, kwargs={"fill_value": 1.0})
    for level in (0.5, 0.9):
        assert float((at <= level).mean()) == pytest.approx(level, abs=0.03)
    assert found.attrs["space"] == f"{y} over {x}"


def test_regions_that_make_no_sense_are_refused():
    for data, space, words in (
        ([[40, 3, 2], [5, 22, 8], [1, 6, 13]], ("f1", "accuracy"), "one value between two bounds"),
        (COUNTS, ("lr+", "recall"), "one value between two bounds"),
        (COUNTS, ("recall",), "two metrics, y and x"),
        (tree(chains(3)), "pr", "plane of two labels"),
        (tree(chains(2, (2,)), batch=("system",)), "pr", "must be one matrix"),
    ):
        with pytest.raises(ValueError, match=words):
            bayescm.region(data, space=space, method="credible")
    with pytest.raises(ValueError, match="the region is the posterior's"):
        bayescm.region(tree(chains()), method="exact")


def test_decisions_by_draws_are_those_of_counts():
    costs = {"fn": 5, "fp": 1}
    drawn = by_draws(bayescm.posterior(COUNTS, draws=10_000, random_seed=1))
    found, wanted = bayescm.decide(drawn, costs), bayescm.decide(COUNTS, costs)
    np.testing.assert_allclose(found["mean"], wanted["mean"], atol=0.01)
    np.testing.assert_allclose(found["interval"], wanted["interval"], atol=0.03)
    np.testing.assert_allclose(found["point"], wanted["point"])
    assert found.best.item() == wanted.best.item()
    exchanged = bayescm.decide(drawn, costs, prevalence=(4, 16))
    np.testing.assert_allclose(exchanged["mean"], bayescm.decide(COUNTS, costs, prevalence=(4, 16))["mean"], atol=0.01)
    several = by_draws(bayescm.posterior(SYSTEMS, draws=10_000, random_seed=1))
    both = [bayescm.decide(several, costs), bayescm.decide(SYSTEMS, costs, design="independent")]
    np.testing.assert_allclose(both[0]["mean"], both[1]["mean"], atol=0.03)
    assert both[0].action.values.tolist() == both[1].action.values.tolist()
    theta = chains(3)
    of_three = bayescm.decide(tree(theta, labels=["a", "b", "c"]), {"a->b": 2.0})
    assert of_three["mean"].values[0] == pytest.approx(2.0 * theta[..., 0, 1].mean())
    assert np.isnan(of_three.point[0])
    with pytest.raises(ValueError, match="over 'system' alone"):
        bayescm.decide(tree(chains(2, (2,)), batch=("site",)), costs)


def test_a_sampler_is_that_of_the_draws_already():
    fit = bayescm.posterior([[6, 2], [0, 26]], draws=500, random_seed=1)
    with pytest.raises(ValueError, match="are those of the draws already"):
        bayescm.summary(fit, "f1", sampler="exact")
    assert bayescm.summary([[6, 2], [0, 26]], "f1", sampler="exact").method.item() == "exact"

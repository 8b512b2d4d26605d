"""Rates by covariates and groups: the density, its limits, what is known of units, other covariates, and NUTS."""

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from agreement import OVER, draw, hardly_diverges, has_mean, log_density, proportional, recovers
from scipy import optimize, special, stats

import bayescm
from bayescm import models

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:Numba will use object mode"
    ),
    pytest.mark.usefixtures("interpreted"),  # but where a fixture of the file samples
]
story = models.load("regression")
RNG = np.random.default_rng(7)
TABLE = bayescm.from_cells(
    tp=[26, 3, 0, 7], fn=[1, 9, 4, 7], fp=[2, 1, 5, 0], tn=[6, 12, 0, 30], dims="visit"
).assign_coords(
    age=("visit", [40.0, 55.0, 71.0, 62.0]),
    scanner=("visit", ["old", "new", "old", "newest"]),
    site=("visit", ["b", "a", "a", "b"]),
)  # fmt: skip
BOTH = "age + scanner + (1 | site)"
THREE = bayescm.from_array(RNG.integers(0, 20, (3, 3, 3)), labels=["a", "b", "c"], dims="lab").assign_coords(
    dose=("lab", [0.0, 1.0, 5.0])
)


def columns(values, weights):
    """Centre and scale by weights, not as the program does it."""
    values, repeats = np.asarray(values, float), np.asarray(weights)
    each = np.repeat(values, repeats)
    return (values - each.mean()) / each.std()


def from_prior(counts, draws=400, **options):
    """Return draws of the prior as if they were the posterior's: what `at` takes, without a sampler."""
    program = story.model(counts, **options)
    drawn = pm.sample_prior_predictive(draws, model=program, random_seed=3)
    groups = {"posterior": drawn["prior"], "constant_data": drawn["constant_data"]}
    groups["observed_data"] = drawn["observed_data"]
    tree = {name: group.to_dataset() for name, group in groups.items()}
    return xr.DataTree.from_dict(tree)


def test_program_follows_the_contract():
    program = story.model(TABLE, covariates=BOTH)
    dims = program.named_vars_to_dims
    assert [v.name for v in program.observed_RVs] == ["counts"]
    assert dims["counts"] == ("visit", "cell")
    assert dims["theta"] == ("visit", "actual", "predicted")
    assert dims["coefficient"] == ("covariate", "rate")
    assert list(program.coords["covariate"]) == ["age", "scanner[newest vs new]", "scanner[old vs new]"]
    assert list(program.coords["rate"]) == ["specificity", "recall"]
    assert list(program.coords["site"]) == ["a", "b"]
    more = story.model(THREE, covariates="dose", groups="lab", shares="regression")
    assert list(more.coords["rate"]) == [*[f"{a}->{b}" for a in "abc" for b in "abc" if a != b], "share[b]", "share[c]"]
    assert "lab_correlation" not in more.named_vars
    named = set(program.named_vars) | set(program.coords)
    group = {f"site_{what}" for what in ("sd", "standard", "correlation", "correlation_share", "effect", "index")}
    assert named - {"visit", "site"} - group <= {*story._TAKEN, *bayescm.data.schema.RESERVED}


@pytest.mark.slow
def test_the_density_of_two_labels_by_hand():
    at = log_density(story.model(TABLE, covariates=BOTH, prior="legendre", scale=0.7, group_scale=0.4))
    items = TABLE.sum(("actual", "predicted")).values
    x = np.stack([
        columns(TABLE.age, items), columns(TABLE.scanner == "newest", items), columns(TABLE.scanner == "old", items),
    ], 1)  # fmt: skip
    tn, fp, fn, tp = TABLE.values.reshape(4, 4).T
    for _ in range(3):
        specificity, recall, share = RNG.beta(3, 2), RNG.beta(3, 2), RNG.beta(2, 2)
        beta, sd, z, prevalence = (
            RNG.normal(size=(3, 2)),
            RNG.gamma(2, size=2),
            RNG.normal(size=(2, 2)),
            RNG.beta(2, 2, 4),
        )
        got = at(
            typical=np.array([[specificity, 1 - specificity], [1 - recall, recall]]), coefficient=beta, site_sd=sd,
            site_correlation_share=share, site_standard=z, class_shares=np.stack([1 - prevalence, prevalence], 1),
        )  # fmt: skip
        factor = np.linalg.cholesky(np.outer(sd, sd) * np.array([[1, 2 * share - 1], [2 * share - 1, 1]]))
        effect = (z @ factor.T)[[1, 0, 0, 1]]
        tnr, tpr = special.expit(special.logit([specificity, recall]) + x @ beta + effect).T
        want = (
            stats.beta.logpdf([specificity, recall], 2, 2).sum() + stats.beta.logpdf(prevalence, 2, 2).sum()
            + stats.norm.logpdf(beta, 0, 0.7).sum() + stats.halfnorm.logpdf(sd, scale=0.4).sum()
            + stats.beta.logpdf(share, 2, 2) + stats.norm.logpdf(z).sum()
            + stats.binom.logpmf(tp + fn, items, prevalence).sum()
            + stats.binom.logpmf(tp, tp + fn, tpr).sum() + stats.binom.logpmf(tn, tn + fp, tnr).sum()
        )  # fmt: skip
        assert got == pytest.approx(want, rel=1e-9)


@pytest.mark.slow
def test_the_density_of_three_labels_whose_shares_are_regressed():
    at = log_density(story.model(THREE, covariates=["dose"], shares="regression"))
    x = columns(THREE.dose, THREE.sum(("actual", "predicted")).values)
    typical, shares, beta = RNG.dirichlet(np.ones(3), 3), RNG.dirichlet(np.ones(3)), RNG.normal(size=(1, 8))
    want = 2 * special.gammaln(3) * 2 + stats.norm.logpdf(beta, 0, 0.5).sum()  # four flat Dirichlets of three
    for u, table in enumerate(THREE.values):
        odds = shares / shares[0] * np.exp(np.concatenate([[0], beta[0, 6:] * x[u]]))
        of_class, names, theta = (
            odds / odds.sum(),
            [(i, j) for i in range(3) for j in range(3) if i != j],
            np.empty((3, 3)),
        )
        for i in range(3):
            against = np.array([
                1.0 if j == i else typical[i, j] / typical[i, i] * np.exp(-beta[0, names.index((i, j))] * x[u])
                for j in range(3)
            ])  # fmt: skip
            theta[i] = of_class[i] * against / against.sum()
        want += stats.multinomial.logpmf(table.ravel(), table.sum(), theta.ravel())
    got = at(typical=typical, class_shares=shares, coefficient=beta)
    assert got == pytest.approx(want, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("shares", story.SHARES)
def test_without_covariates_it_is_the_conjugate_posterior_of_all_units(shares):
    program = story.model(THREE, shares=shares)
    rows, totals = 1 + THREE.sum("lab").values, 1 + THREE.sum("predicted").values
    totals = totals if shares == "units" else totals.sum(0) - 2

    def closed(typical, class_shares):
        pairs = [
            *zip(typical, rows, strict=True),
            *zip(np.atleast_2d(class_shares), np.atleast_2d(totals), strict=True),
        ]
        return sum(stats.dirichlet.logpdf(p, a) for p, a in pairs)

    size = 3 if shares == "units" else None
    points = [
        {"typical": RNG.dirichlet(np.ones(3), 3), "class_shares": RNG.dirichlet(np.ones(3), size)} for _ in range(4)
    ]
    proportional(program, closed, points)


@pytest.mark.slow
def test_units_as_groups_are_the_hierarchical_story():
    counts = TABLE.drop_vars(["age", "scanner", "site"])
    mine, other = (
        log_density(model) for model in (story.model(counts, groups="visit"), models.load("hierarchical").model(counts))
    )
    differences = []
    for _ in range(3):
        tnr, tpr, share, prevalence = RNG.beta(2, 2), RNG.beta(2, 2), RNG.beta(2, 2), RNG.beta(2, 2, 4)
        sd, effect, new = RNG.gamma(2, size=2), RNG.normal(size=(4, 2)), RNG.normal(size=2)
        rho = 2 * share - 1  # this model starts with specificity, that one with recall: the same pair of effects
        pair = np.stack([sd[0] * effect[:, 0], sd[1] * (rho * effect[:, 0] + np.sqrt(1 - rho**2) * effect[:, 1])], 1)
        second = (pair[:, 0] / sd[0] - rho * pair[:, 1] / sd[1]) / np.sqrt(1 - rho**2)
        a = mine(
            typical=np.array([[tnr, 1 - tnr], [1 - tpr, tpr]]), visit_sd=sd, visit_standard=effect,
            visit_correlation_share=share, class_shares=np.stack([1 - prevalence, prevalence], 1),
        )  # fmt: skip
        b = other(
            mean_recall=tpr, mean_specificity=tnr, sd_logit=sd[::-1], correlation_rescaled=share, standard_new=new,
            standard=np.stack([pair[:, 1] / sd[1], second], 1), prevalence=prevalence,
        )  # fmt: skip
        differences.append(a - b + stats.norm.logpdf(new).sum())
    np.testing.assert_allclose(differences, 0, atol=1e-9)


@pytest.mark.slow
def test_simulated_truths_follow_the_programs_prior():
    rng = np.random.default_rng(1)
    options = {"covariates": "x + (1 | site)", "shares": "common"}
    data = [story.simulate(rng, 6, [5, 20, 40, 10, 3, 8], **options) for _ in range(500)]
    assert (data[0]["counts"].sum(("actual", "predicted")) == [5, 20, 40, 10, 3, 8]).all()
    drawn = pm.sample_prior_predictive(500, model=story.model(data[0]["counts"], **options), random_seed=1)["prior"]
    for name in ("typical", "coefficient", "site_sd", "site_correlation", "theta", "class_shares"):
        one = np.stack([d[name].values for d in data]).reshape(500, -1)
        two = drawn[name].values[0].reshape(500, -1)
        for mine, other in zip(one.T, two.T, strict=True):
            assert stats.ks_2samp(mine, other).pvalue > 1e-4, name


@pytest.mark.slow
def test_the_default_prior_leaves_recall_free():
    """At a covariate's mean it is uniform; two standard deviations off not much is at the ends."""
    fit = from_prior(bayescm.from_cells(tp=5, fn=5, fp=5, tn=[5] * 9, dims="u"), 4000, covariates={"x": np.arange(9)})
    far = fit["posterior"]["theta"].isel(u=8)  # 1.5 standard deviations
    recall = (far.isel(actual=1, predicted=1) / far.isel(actual=1).sum("predicted")).values.ravel()
    assert ((recall < 0.01) | (recall > 0.99)).mean() < 0.045
    assert stats.kstest(fit["posterior"]["typical"].values[0, :, 1, 1], "uniform").pvalue > 1e-4


# ---- what is known of the units


def test_scaling_is_by_items_so_that_merging_items_changes_nothing():
    y, guess, age = RNG.integers(0, 2, 60), RNG.integers(0, 2, 60), RNG.integers(40, 45, 60)
    sex = RNG.choice(["f", "m"], 60)
    merged = story.patterns(y, guess, {"age": age, "sex": sex})
    assert len(merged) < 11
    assert merged.sum(("unit", "actual", "predicted")) == 60
    one = merged.values[((merged.age == 42) & (merged.sex == "m")).values]
    want = bayescm.confusion_matrix(y[(age == 42) & (sex == "m")], guess[(age == 42) & (sex == "m")], labels=[0, 1])
    assert (one[0] == want.values).all()
    single = xr.concat(
        [bayescm.confusion_matrix([a], [b], labels=[0, 1]) for a, b in zip(y, guess, strict=True)], "unit"
    )
    single = single.assign_coords(age=("unit", age), sex=("unit", sex))
    programs = [story.model(counts, covariates="age + sex") for counts in (merged, single)]
    for name in ("covariate_mean", "covariate_sd"):
        np.testing.assert_allclose(*(program[name].get_value() for program in programs))
    np.testing.assert_allclose(programs[1]["covariate_mean"].get_value(), [age.mean(), (sex == "m").mean()])


def test_covariates_by_name_by_value_and_by_label():
    want = story.model(TABLE, covariates=BOTH)
    age, scanner, site = (TABLE[name] for name in ("age", "scanner", "site"))
    others = [
        {"covariates": ["age", "scanner"], "groups": "site"},
        {"covariates": "counts ~ 1 + age + scanner", "groups": ["site"]},
        {"covariates": {"age": age.values, "scanner": list(scanner.values)}, "groups": {"site": site.values}},
        {
            "covariates": {"age": age.assign_coords(visit=list("dcba"))[::-1], "scanner": scanner},
            "groups": {"site": site},
        },
    ]
    for i, options in enumerate(others):
        counts = TABLE if i < 3 else TABLE.assign_coords(visit=list("dcba"))
        program = story.model(counts, **options)
        for data in want.data_vars:
            np.testing.assert_array_equal(program[data.name].get_value(), data.get_value(), err_msg=data.name)


def test_several_dims_become_one():
    counts = bayescm.from_array(RNG.integers(0, 9, (2, 3, 2, 2)), dims=("site", "reader")).assign_coords(
        site=["x", "y"], scanner=("reader", ["a", "b", "a"])
    )
    program = story.model(counts, covariates="scanner + (1 | site) + (1 | reader)")
    assert list(program.coords["unit"])[:4] == ["x, 0", "x, 1", "x, 2", "y, 0"]
    assert program["site_index"].get_value().tolist() == [0, 0, 0, 1, 1, 1]
    assert (program["design"].get_value()[:, 0] > 0).tolist() == [False, True, False] * 2
    np.testing.assert_array_equal(program["counts_data"].get_value()[4], counts.values[1, 1].ravel())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: story.model([[6, 2], [0, 26]]), "one dim beside"),
        (lambda: story.model(TABLE, covariates="weight"), "`covariates` names 'weight'"),
        (lambda: story.model(TABLE, groups="ward"), "`groups` names 'ward'"),
        (lambda: story.model(TABLE, covariates="age * site"), "sums of names"),
        (lambda: story.model(TABLE, covariates="(age | site)"), "sums of names"),
        (lambda: story.model(TABLE, covariates={"x": [1, 2, 3]}), r"one value for each of 4; got the shape \(3,\)"),
        (lambda: story.model(TABLE, covariates={"x": [1, np.nan, 3, 4]}), r"missing at the places \[1\]"),
        (lambda: story.model(TABLE, covariates={"x": [1, np.inf, 3, 4]}), "finite"),
        (lambda: story.model(TABLE, covariates={"x": [2, 2, 2, 2]}), "the same for all items"),
        (lambda: story.model(TABLE, covariates={"x": list("aaaa")}), "the same for all items"),
        (lambda: story.model(TABLE, covariates="site + (1 | site)"), "`groups` can't have 'site'"),
        (lambda: story.model(TABLE, groups={"rate": list("abcd")}), "`groups` can't have 'rate'"),
        (lambda: story.model(TABLE.rename(visit="rate")), "model uses that name"),
        (lambda: story.model(TABLE, shares="both"), "`shares` must be"),
        (lambda: story.model(TABLE, scale=0), "`scale` must be a number"),
        (lambda: story.model(TABLE, prior="haldane"), "`prior` is improper"),
        (lambda: story.simulate(np.random.default_rng(1), 0), "`units` must be a positive integer"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- answers at other covariates


@pytest.mark.slow
@pytest.mark.parametrize("shares", story.SHARES)
@pytest.mark.parametrize("counts", [TABLE, THREE], ids=["two labels", "three labels"])
def test_as_observed_it_is_the_average_of_the_units(counts, shares):
    options = {"covariates": BOTH} if counts is TABLE else {"covariates": "dose", "groups": "lab"}
    fit = from_prior(counts, 50, shares=shares, **options)
    theta, unit = fit["posterior"]["theta"], counts.dims[0]
    items = counts.sum(("actual", "predicted")).drop_vars(list(counts.coords), errors="ignore")
    mine = story.at(fit)["posterior"]["theta"]
    assert mine.dims == ("chain", "draw", "actual", "predicted")
    np.testing.assert_allclose(mine, theta.weighted(items).mean(unit), rtol=1e-9)
    last = story.at(fit, weights=np.eye(len(items))[-1])["posterior"]["theta"]
    np.testing.assert_allclose(last, theta.isel({unit: -1}), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"), [("scanner", ["new", "newest", "old"]), ("age", [50.0, 70.0]), ("site", ["b", "a"])]
)
def test_setting_covariates_is_the_program_with_other_data(name, value):
    fit = from_prior(TABLE, 30, covariates=BOTH)
    program = story.model(TABLE, covariates=BOTH)
    mean, sd = (program[f"covariate_{what}"].get_value() for what in ("mean", "sd"))
    items = TABLE.sum(("actual", "predicted")).drop_vars(["age", "scanner", "site"])
    answer = story.at(fit, {name: value})["posterior"]["theta"]
    assert answer.dims == ("chain", "draw", name, "actual", "predicted")
    assert answer[name].values.tolist() == value
    for level in value:
        other = TABLE.assign_coords({name: ("visit", np.full(4, level))})
        raw = np.stack([other.age, other.scanner == "newest", other.scanner == "old"], 1)
        with program:
            pm.set_data({"design": (raw - mean) / sd, "site_index": (other.site == "b").values.astype(int)})
            drawn = fit["posterior"].to_dataset()[[rv.name for rv in program.free_RVs]]
            theta = pm.compute_deterministics(drawn, var_names=["theta"], progressbar=False)["theta"]
        np.testing.assert_allclose(answer.sel({name: level}), theta.weighted(items).mean("visit"), rtol=1e-9)


@pytest.mark.slow
def test_grids_and_groups_to_come():
    fit = from_prior(TABLE, 4000, covariates=BOTH)
    grid = story.at(fit, {"age": [45, 60], "scanner": ["old", "new"], "site": None}, random_seed=1)["posterior"][
        "theta"
    ]
    assert grid.dims[2:] == ("age", "scanner", "actual", "predicted")
    np.testing.assert_allclose(grid.sum(("actual", "predicted")), 1)
    alike = story.at(fit, {"age": [45, 45.0], "site": None}, random_seed=1)["posterior"]["theta"]
    np.testing.assert_array_equal(alike[:, :, 0], alike[:, :, 1])  # one site to come, at both ages
    sites = story.at(fit, {"site": ["a", None]}, random_seed=1)["posterior"]["theta"]
    assert sites.site.values.tolist() == ["a", "new"]
    rates = [sites.isel(actual=c, predicted=c) / sites.isel(actual=c).sum("predicted") for c in (0, 1)]
    for rate in rates:  # a priori a group to come is like any other
        assert stats.ks_2samp(rate.values[0, :, 0], rate.values[0, :, 1]).pvalue > 1e-4
    logits = special.logit(np.stack(rates))[:, 0] - special.logit(np.stack(rates))[:, 0].mean(1, keepdims=True)
    known, new = (np.corrcoef(logits[..., i])[0, 1] for i in (0, 1))
    assert new == pytest.approx(known, abs=0.08)


@pytest.mark.slow
def test_a_population_goes_where_counts_go():
    fit = from_prior(TABLE, 200, covariates=BOTH)
    by_scanner = story.at(fit, {"scanner": ["old", "new"]})
    table = bayescm.summary(by_scanner, ["recall", "mcc"])
    assert table["mean"].dims == ("scanner", "metric")
    assert bayescm.probability(by_scanner, "recall > .5").probability.dims == ("scanner", "claim")
    assert bayescm.compare_systems(by_scanner, "recall")["summary"].sizes["comparison"] == 1
    assert bayescm.leaderboard(by_scanner, metric="mcc").sizes["system"] == 2
    assert bayescm.decide(by_scanner.sel(scanner="new"), {"fn": 5, "fp": 1}).best.size == 1
    rare = bayescm.summary(by_scanner, "prevalence", prevalence=0.1)["mean"]
    np.testing.assert_allclose(rare, 0.1)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ({"weight": 3}, {}, "`values` names 'weight'"),
        ({"scanner": "neu"}, {}, "no level that was observed"),
        ({"site": "c"}, {}, "was not observed"),
        ({"age": np.nan}, {}, "`values` must be a number"),
        ({}, {"weights": [1, 2]}, "`weights` must be 4 finite numbers"),
        ({}, {"weights": [0, 0, 0, 0]}, "`weights` must be 4 finite numbers"),
    ],
)
def test_errors_of_values(values, options, message):
    with pytest.raises(ValueError, match=message):
        story.at(from_prior(TABLE, 5, covariates=BOTH), values, **options)


def test_what_at_needs_and_what_it_warns_of():
    with pytest.warns(UserWarning, match="outside of what was observed"):
        story.at(from_prior(TABLE, 5, covariates="age"), {"age": 90})
    with pytest.raises(ValueError, match="must be a posterior of the model 'regression'"):
        story.at(bayescm.posterior(TABLE[0], draws=5))


# ---- by NUTS


@pytest.fixture(scope="module")
def large(seed):
    counts = bayescm.from_cells(tp=[800, 600], fn=[200, 400], fp=[90, 60], tn=[910, 940], dims="visit")
    counts = counts.assign_coords(scanner=("visit", ["a", "b"]))
    return counts, draw(story.model(counts, covariates="scanner"), seed(1), draws=1000)


@pytest.mark.long
def test_two_large_units_are_their_own_mode(large):
    """The mode and curvature of the density written by hand, found by scipy."""
    counts, (posterior, sampled) = large
    hardly_diverges(sampled)
    x = np.array([-1.0, 1.0])
    for i, rate in enumerate(("specificity", "recall")):
        right, wrong = counts.values[:, i, i], counts.values[:, i, 1 - i]

        def loss(at, right=right, wrong=wrong):
            logit = at[0] + at[1] * x
            prior = stats.norm.logpdf(at[1], 0, 0.5) - np.logaddexp(0, at[0]) - np.logaddexp(0, -at[0])
            return -(prior - right @ np.logaddexp(0, -logit) - wrong @ np.logaddexp(0, logit))

        mode = optimize.minimize(loss, [0.0, 0.0], tol=1e-10).x
        assert mode[1] == pytest.approx(np.diff(special.logit(right / (right + wrong)))[0] / 2, abs=0.05)
        has_mean(posterior["coefficient"].sel(rate=rate, covariate="scanner[b vs a]"), mode[1], 0.01)
        has_mean(special.logit(posterior["typical"].isel(actual=i, predicted=i)), mode[0], 0.01)


@pytest.mark.long
def test_a_simulated_truth_is_recovered(seed):
    options = {"covariates": "x + (1 | site)", "shares": "common"}
    world = story.simulate(np.random.default_rng(5), 30, 200, **options)
    posterior, sampled = draw(story.model(world["counts"], **options), seed(2))
    hardly_diverges(sampled)
    for name in ("typical", "coefficient", "site_sd", "theta", "class_shares"):
        recovers(posterior[name], world[name])


@pytest.mark.long
def test_a_site_without_positives_and_a_covariate_that_separates(seed):
    counts = bayescm.from_cells(tp=[0, 0, 3, 4], fn=[0, 3, 0, 0], fp=[1, 0, 0, 2], tn=[20, 9, 11, 30], dims="site")
    counts = counts.assign_coords(x=("site", [0.0, 1.0, 2.0, 3.0]))
    posterior, sampled = draw(story.model(counts, covariates="x", groups="site"), seed(3))
    hardly_diverges(sampled)
    assert np.isfinite(posterior["theta"]).all()
    slope = posterior["coefficient"].sel(rate="recall").squeeze()
    assert 0.68 < float((slope > 0).mean()) < 0.84  # .757 of 16,000 draws: three misses of one site may be the site's
    assert float(slope.quantile(0.975)) < 2.0  # and the prior holds what the likelihood lets go
    recall = posterior["theta"].isel(actual=1, predicted=1) / posterior["theta"].isel(actual=1).sum("predicted")
    width = recall.quantile(0.95, OVER) - recall.quantile(0.05, OVER)
    assert int(width.argmax()) == 0  # the site without positives is known least


def test_units_that_are_groups_keep_their_order():
    sites = bayescm.from_cells(tp=[30, 5, 10], fn=[1, 20, 5], fp=[3, 4, 5], tn=[20, 21, 22], dims="site")
    sites = sites.assign_coords(site=["b", "c", "a"])
    program = story.model(sites, groups="site")
    assert program.coords["site"] == ("b", "c", "a")
    assert program["site_index"].get_value().tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="are the units"):
        story.model(sites, groups={"site": [1, 2, 1]})
    assert bayescm.inference.choose(sites, model="regression", groups="site").method == "quadrature"


@pytest.mark.filterwarnings("ignore:quadrature")  # of 11 parameters and four units
def test_units_that_are_groups_are_integrated_out():
    """Draws are put together to the cells by the g-formula, whose rules are those of the program."""
    options = {"covariates": "age + scanner", "groups": "visit"}
    fit = bayescm.posterior(TABLE, model="regression", sampler="quadrature", **options, random_seed=1, draws=50)
    program = story.model(TABLE, **options)
    assert fit.attrs["method"] == "quadrature"
    assert {rv.name for rv in program.free_RVs} <= set(fit["posterior"].data_vars)
    for name, dims in program.named_vars_to_dims.items():
        if name in fit["posterior"]:
            assert fit["posterior"][name].dims[2:] == tuple(dims)
    for data in ("design", "covariate_mean", "covariate_sd", "visit_index"):
        np.testing.assert_allclose(fit["constant_data"][data], program[data].get_value())
    for i, unit in enumerate(TABLE.visit.values.tolist()):
        known = {"age": float(TABLE.age[i]), "scanner": str(TABLE.scanner.values[i]), "visit": unit}
        one = story.at(fit, known, weights=np.eye(4)[i])["posterior"]["theta"]
        np.testing.assert_allclose(one, fit["posterior"]["theta"].isel(visit=i), atol=1e-12)
    z, sd = fit["posterior"]["visit_standard"], fit["posterior"]["visit_sd"]
    effect = fit["posterior"]["visit_effect"].sel(rate="specificity")
    np.testing.assert_allclose((sd * z).sel(rate="specificity").transpose(*effect.dims), effect, rtol=1e-8)


@pytest.mark.parametrize(
    "options", [{"groups": "site"}, {"groups": ["site", "visit"]}, {"groups": "visit", "shares": "common"}, {}]
)
def test_else_nothing_is_integrated_out(options):
    assert story.exact(TABLE, covariates="age", **options) is None


def test_covariates_are_put_in_the_order_of_the_units():
    sites = bayescm.from_cells(tp=[30, 5, 10], fn=[1, 20, 5], fp=[3, 4, 5], tn=[20, 21, 22], dims="site")
    sites = sites.assign_coords(site=["b", "c", "a"])
    plain = story.model(sites, covariates={"x": [2.0, 4.0, 1.0]})["design"].get_value()
    for values in (pd.Series([1.0, 2.0, 4.0], index=list("abc")), np.array([2, 4, 1], object)):
        np.testing.assert_array_equal(story.model(sites, covariates={"x": values})["design"].get_value(), plain)
    with pytest.raises(ValueError, match="Series must be indexed"):
        story.model(sites, covariates={"x": pd.Series([1.0, 2.0, 4.0], index=list("xyz"))})
    with pytest.raises(ValueError, match="must name covariates"):
        story.patterns([0, 1], [0, 1], {})

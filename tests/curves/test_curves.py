"""Joint posteriors of curves: distributions in closed form, slow twins, degenerate rankings, threads."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from sklearn import metrics as peer

import bayescm
from bayescm._kernels import roc
from bayescm.data.scores import check_scores, rank

SEED = 7


def posterior(y, s, **options):
    return bayescm.curve_posterior(y, s, **({"random_seed": SEED} | options))["posterior"].to_dataset()


def flat(values):
    return values.values.reshape(-1, *values.shape[2:])


def sample(n=60, mu=1.0, share=0.4, digits=None, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    score = rng.normal(mu * y, 1)
    return y, score if digits is None else score.round(digits)


small = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=14).filter(
    lambda rows: len({y for y, _ in rows}) == 2
)


# ------------------------------------------------------------------------------------------------ one curve, read twice


def read(df, dt, dtied, odds, fprs, tprs, *, solid=True):
    """Read a curve by the kernel."""
    out = [np.empty(k) for k in (3, len(fprs), len(fprs), len(tprs), len(tprs), 0, 0)]
    steps = roc.Steps(*(np.array(part, float) for part in (df, dt, dtied)))
    rates = np.array(fprs, float), np.array(tprs, float)
    roc.trace(steps, len(df), np.empty(0), solid, odds, *rates, roc.Read(*out))
    return out


def slow(df, dt, dtied, odds, fprs, tprs):
    """Read a curve by its definition: vertices, trapezoids, quadrature."""
    t, f = [0.0], [0.0]
    ap = 0.0
    for run, up, right in zip(df, dt, dtied, strict=True):
        f += [f[-1] + run, f[-1] + run + right]
        t += [t[-1], t[-1] + up]
    t, f = np.array(t) / t[-1], np.array(f) / f[-1]
    for before, after, rate in zip(t[:-1], t[1:], f[1:], strict=True):
        if after > before:
            ap += (after - before) * after / (after + odds * rate)

    def precision(i, x):
        along = (x - t[i]) / (t[i + 1] - t[i])
        rate = f[i] + along * (f[i + 1] - f[i])
        return x / (x + odds * rate) if x > 0 else 0.0

    steps = [i for i in range(len(t) - 1) if t[i + 1] > t[i]]
    area = sum(integrate.quad(lambda x, i=i: precision(i, x), t[i], t[i + 1])[0] for i in steps)
    tpr = [max(t[f <= x].max(), np.interp(x, f, t)) if x < 1 else 1.0 for x in fprs]
    under = [integrate.quad(lambda x: np.interp(x, f, t), 0, x, points=np.unique(f)[:40], limit=200)[0] for x in fprs]
    first = [min(f[t >= r - 1e-15].min(), np.interp(r, t, f)) for r in tprs]
    return np.trapezoid(t, f), ap, area, tpr, under, first


@pytest.mark.slow
@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=8).filter(
        lambda rows: sum(r[1] for r in rows) > 0 and sum(r[0] + r[2] for r in rows) > 0
    ),
    st.sampled_from([0.25, 1.0, 9.0]),
)
def test_the_kernel_reads_what_the_definitions_say(rows, odds):
    df, dt, dtied = zip(*rows, strict=True)
    fprs, tprs = [0.0, 0.13, 0.5, 0.77, 1.0], [0.07, 0.5, 0.93, 1.0]
    (areas, tpr, under, fpr, left, *_), twin = (
        read(df, dt, dtied, odds, fprs, tprs),
        slow(df, dt, dtied, odds, fprs, tprs),
    )
    assert areas == pytest.approx(twin[:3], abs=1e-7)
    assert tpr == pytest.approx(twin[3], abs=1e-12)
    assert under == pytest.approx(twin[4], abs=1e-6)
    assert fpr == pytest.approx(twin[5], abs=1e-12)
    assert under[-1] == pytest.approx(areas[0], abs=1e-12)
    assert left[-1] == pytest.approx(1 - areas[0], abs=1e-12)


def test_the_series_of_the_pr_area_meets_the_logarithm():
    for up in (0.00999, 0.01001):
        exact = integrate.quad(lambda x: (1 + x) / (1 + x + 0.7 + 0.4 * x / 1.0), 0, up * 1.7 / 1.4, epsabs=1e-15)[0]
        assert roc.under(1.0, 0.7, up * 1.7 / 1.4, 0.4 * up * 1.7 / 1.4) == pytest.approx(exact, rel=1e-12)


# --------------------------------------------------------------------------------------------------- distributions of
# the draws


def test_the_bootstrap_has_the_moments_of_its_dirichlets():
    y, s = sample(30, digits=1)
    x, z = s[y == 1], s[y == 0]
    wins = (x[:, None] > z) + 0.5 * (x[:, None] == z)
    a, b = (np.eye(n) + 1 for n in wins.shape)
    second = np.einsum("ij,kl,ik,jl", wins, wins, a, b) / np.prod([n * (n + 1) for n in wins.shape])
    auc = flat(posterior(y, s, prior="bootstrap", over=None, draws=10_000)["auc"])
    sd = np.sqrt(second - wins.mean() ** 2)
    assert auc.mean() == pytest.approx(wins.mean(), abs=5 * sd / 200)
    assert auc.std() == pytest.approx(sd, rel=0.03)


def twin(y, s, draws, weight=1 / 3, seed=1):
    """Draw labels, scores and weights by the definition: each class has an item that looks like the other's."""
    rng, y, s = np.random.default_rng(seed), np.asarray(y), np.asarray(s, float)
    members = [np.flatnonzero(y == c) for c in (0, 1)]
    for _ in range(draws):
        masses = [rng.standard_gamma(len(one) / (len(one) + 2), len(one)) for one in members]
        looks = [rng.choice(one, p=mass / mass.sum()) for one, mass in zip(members, masses, strict=True)]
        masses = [np.append(mass, rng.standard_gamma(weight)) for mass in masses]
        masses = [mass / mass.sum() * len(one) for mass, one in zip(masses, members, strict=True)]
        scores = np.concatenate([s[members[0]], s[looks[1:]], s[members[1]], s[looks[:1]]])
        yield np.repeat([0, 1], [len(mass) for mass in masses]), scores, np.concatenate(masses)


TABLES = [(5, 12, 2, 1 / 3), (8, 30, 0, 1 / 3), (4, 4, 3, 2.0), (1, 9, 1, 1 / 3), (12, 1, 1, 0.5)]


@pytest.mark.parametrize(
    ("cases", "controls", "digits", "weight"),
    [pytest.param(*TABLES[0], marks=pytest.mark.slow), *(pytest.param(*t, marks=pytest.mark.long) for t in TABLES[1:])],
)
def test_draws_are_those_of_weighted_items_with_a_prior_item_a_class(cases, controls, digits, weight):
    rng = np.random.default_rng(cases)
    y = np.repeat([0, 1], [controls, cases])
    s = rng.normal(1.2 * y).round(digits)
    mine = []
    for label, score, mass in twin(y, s, 700, weight):
        f, t, _ = peer.roc_curve(label, score, sample_weight=mass, drop_intermediate=False)
        areas = [area(label, score, sample_weight=mass) for area in (peer.roc_auc_score, peer.average_precision_score)]
        mine.append([*areas, np.interp(0.3, f, t), mass[(label == 1) & (score >= 0.5)].sum() / cases])
    for scores in (s, {"a": s, "b": -s}):  # the second kernel
        options = {"prior": weight, "prevalence": "fixed"}
        drawn = posterior(y, scores, points=[0.3], **options)
        over = posterior(y, scores, over="threshold", points=[0.5], **options)
        drawn, over = (one.sel(system="a") if "system" in one.dims else one for one in (drawn, over))
        found = [drawn["auc"], drawn["average_precision"], drawn["tpr"].sel(fpr=0.3), over["tpr"].sel(threshold=0.5)]
        for one, other in zip(np.array(mine).T.round(9), found, strict=True):
            assert stats.ks_2samp(one, flat(other).round(9)).pvalue > 1e-5


def test_one_item_a_class():
    """The case has the share p ~ Beta(1/3, 1/3) of its class, whose prior item looks like the control; and so q."""
    drawn = flat(posterior([0, 1], [0.0, 1.0], over=None, draws=5000)["auc"])
    p, q = np.random.default_rng(1).beta(1 / 3, 1 / 3, (2, 20_000))
    assert stats.ks_2samp(drawn, (p + q) / 2).pvalue > 1e-4  # p q + (p (1 - q) + (1 - p) q) / 2
    turned = flat(posterior([0, 1], [1.0, 0.0], over=None, draws=5000)["auc"])
    assert stats.ks_2samp(drawn, 1 - turned).pvalue > 1e-4


def test_the_spread_is_that_of_the_sample():
    """Of many controls the AUC of n cases is a mean: its variance is that of their placements over n."""
    rng = np.random.default_rng(5)
    y, s = np.repeat([0, 1], [4000, 20]), np.r_[rng.normal(size=4000), rng.normal(0.5, 1, 20)]
    drawn = flat(posterior(y, s, over=None, prior=1e-9, draws=5000)["auc"])
    assert drawn.std() == pytest.approx(float(bayescm.auc(y, s, method="delong")["se"]), rel=0.04)


@pytest.mark.slow
@pytest.mark.parametrize(("auc", "cases", "controls"), [(0.993, 8, 92), (0.993, 30, 300), (0.75, 30, 30)])
def test_areas_near_one_are_covered(auc, cases, controls):
    """Of 150 test sets. A Dirichlet process over the gaps of the ranking covered .88 and .81 of the first two."""
    rng, y = np.random.default_rng(11), np.repeat([0, 1], [controls, cases])
    held = 0
    for i in range(150):
        found = bayescm.auc(y, rng.normal(stats.norm.ppf(auc) * 2**0.5 * y), draws=1000, random_seed=i)
        lower, upper = found["interval"].values
        held += lower <= auc <= upper
    assert held / 150 > 0.94 - 4 * (0.94 * 0.06 / 150) ** 0.5


def test_a_perfect_separation_is_answered():
    y, s = np.repeat([0, 1], [30, 5]), np.arange(35)
    for found in (
        bayescm.auc(y, s, random_seed=1), bayescm.aucpr(y, s, random_seed=1),
        bayescm.aucpr(y, s, recall_range=(0.2, 1), random_seed=1),
        bayescm.auc(np.repeat([0, 1, 2], 5), np.eye(3)[np.repeat([0, 1, 2], 5)], random_seed=1).isel(estimator=0),
    ):  # fmt: skip
        lower, upper = found["interval"].values
        assert 0.3 < lower < 0.95 < upper < 1
        assert found.attrs["method"] == "bayesian"
    two = {"a": s, "b": np.r_[s[:30][::-1], s[30:][::-1]]}
    found = bayescm.curves.auc_difference(y, two, random_seed=1)
    assert found["interval"].values[0] < 0 < found["interval"].values[1]
    band = bayescm.curve_band(bayescm.curve_posterior(y, s, random_seed=1))["band"].sel(fpr=0.05)
    assert band.values[0] < 0.9 < band.values[1]


def test_the_rates_at_a_threshold_are_betas():
    y, s = sample(40, digits=1, seed=3)
    ranked = rank(y == 1, s)
    cuts = [float(ranked.score[4]), float(ranked.score[15])]
    drawn = posterior(y, s, prior="smoothed", over="threshold", points=cuts, draws=4000)
    for cut in cuts:
        for name, items in (("tpr", ranked.cases), ("fpr", ranked.controls)):
            a, b = expected_beta(ranked.score, items, cut)
            values = flat(drawn[name].sel(threshold=cut))
            at = np.linspace(0.01, 0.99, 25)  # nearer to 1 a draw may be rounded to it
            share = (values <= at[:, None]).mean(-1)
            assert share == pytest.approx(stats.beta(a, b).cdf(at), abs=4.5 * 0.5 / np.sqrt(len(values))), (name, cut)


def expected_beta(scores, items, cut):
    """Return the two numbers of the Beta of a rate by the smoothed prior, from its definition."""
    above, n = int((scores >= cut).sum()), items.sum()
    held = np.flatnonzero(items)
    passed = held[held < above]
    start = passed[-1] + 1 if len(passed) else 0
    behind = held[held >= above]
    stop = behind[0] + 1 if len(behind) else len(scores) + 1
    u = (above - start) / (stop - start)
    done = (items[passed] - 1).sum() + len(passed)  # ties, and the gaps between neighbours
    return done + u, n + 1 - done - u


def test_systems_on_the_same_items_share_their_masses():
    y, s = sample(50)
    rng = np.random.default_rng(2)
    other = s + rng.normal(size=50)
    drawn = posterior(y, {"a": s, "b": other, "turned": -s}, prior="bootstrap", over=None)
    total = drawn["auc"].sel(system="a") + drawn["auc"].sel(system="turned")
    assert np.abs(total - 1).max() < 1e-12  # the same items, in the opposite order
    wins = (s[y == 1][:, None] > s[y == 0]) * 1.0 - (other[y == 1][:, None] > other[y == 0])
    a, b = (np.eye(n) + 1 for n in wins.shape)
    second = np.einsum("ij,kl,ik,jl", wins, wins, a, b) / np.prod([n * (n + 1) for n in wins.shape])
    difference = flat(drawn["auc"].sel(system="a") - drawn["auc"].sel(system="b"))
    assert difference.mean() == pytest.approx(wins.mean(), abs=5 * difference.std() / 63)
    assert difference.std() == pytest.approx(np.sqrt(second - wins.mean() ** 2), rel=0.05)


def test_each_of_several_systems_has_the_distribution_of_one():
    y, s = sample(25, digits=0)
    both = posterior(y, {"a": s, "b": -s}, over="threshold", points=[0.0, 0.5], draws=4000)
    one = posterior(y, s, over="threshold", points=[0.0, 0.5], draws=4000)
    for name in ("auc", "average_precision", "pr_area"):
        assert stats.ks_2samp(flat(both[name].sel(system="a")), flat(one[name])).pvalue > 1e-3
    for name, cut in (("tpr", 0.0), ("fpr", 0.5)):
        mine, alone = (flat(data[name].sel(threshold=cut)) for data in (both.sel(system="a"), one))
        assert stats.ks_2samp(mine, alone).pvalue > 1e-3


@pytest.mark.slow
def test_the_smoothed_prior_spreads_wide_gaps_by_the_same_distribution():
    items = np.zeros(30, np.int64)
    items[[0, 29]] = 1
    rng = np.random.default_rng(3)
    gaps, atoms = np.empty(31), np.empty(30)
    half = []
    for _ in range(4000):
        roc.spread(rng, items, gaps, atoms)  # 29 gaps between both items
        half.append(gaps[1:15].sum() / gaps[1:30].sum())
    assert stats.kstest(half, stats.beta(14 / 29, 15 / 29).cdf).pvalue > 1e-3


# ------------------------------------------------------------------------------------------- what a curve's draws hold


def test_empirical_values_lie_in_the_middle_of_the_bootstrap(oracle):
    near = oracle("field.09")
    y, s = (np.array(near["inputs"][name]) for name in ("response", "predictor"))
    auc = flat(posterior(y, s, pos_label=2, prior="bootstrap", over=None)["auc"])
    assert auc.mean() == pytest.approx(near["expected"]["auc"], abs=5 * auc.std() / 63)
    ties = oracle("field.11")
    counts = [ties["inputs"]["normal_counts_ratings_1..5"], ties["inputs"]["abnormal_counts"]]
    y = np.repeat([0, 1], [sum(row) for row in counts])
    s = np.concatenate([np.repeat(np.arange(5), row) for row in counts])
    auc = flat(posterior(y, s, prior="bootstrap", over=None)["auc"])
    assert auc.mean() == pytest.approx(ties["expected"]["auc"], abs=5 * auc.std() / 63)
    assert auc.std() == pytest.approx(ties["expected"]["delong_se"], rel=0.05)


def test_the_average_precision_of_many_items_is_that_of_scikit_learn():
    y, s = sample(4000, digits=1)
    drawn = posterior(y, s, over=None, prevalence="fixed")
    point = peer.average_precision_score(y, s)
    assert float(drawn["average_precision"].mean()) == pytest.approx(point, abs=0.003)
    assert float(drawn["auc"].mean()) == pytest.approx(peer.roc_auc_score(y, s), abs=0.001)


@given(small, st.sampled_from(["prior_item", "smoothed", "bootstrap", 3.0]))
def test_draws_are_curves(rows, prior):
    y, s = zip(*rows, strict=True)
    drawn = posterior(
        [int(v) for v in y], s, prior=prior, chains=1, draws=40, fpr_range=(0.1, 0.6), tpr_range=(0.5, 1.0)
    )
    for name in ("auc", "average_precision", "pr_area", "tpr", "precision", "partial_auc_tpr_corrected"):
        assert (abs(drawn[name] - 0.5) < 0.5 + 1e-9).all(), name
    assert (drawn["tpr"].diff("fpr") > -1e-12).all()
    assert (drawn["tpr"].isel(fpr=-1) == 1).all()
    assert (drawn["average_precision"] >= drawn["pr_area"] - 0.5).all()
    assert (drawn["partial_auc_fpr"] <= np.minimum(0.5, drawn["auc"]) + 1e-12).all()


def test_partial_areas():
    y, s = sample()
    drawn = posterior(y, s, fpr_range=(0, 1), tpr_range=(0, 1), at_specificity=[0.9, 0.5], at_sensitivity=0.8)
    for side in ("fpr", "tpr"):
        assert np.allclose(drawn[f"partial_auc_{side}"], drawn["auc"], atol=1e-12)
        assert np.allclose(drawn[f"partial_auc_{side}_corrected"], drawn["auc"], atol=1e-12)
    part = posterior(y, s, fpr_range=(0.1, 0.4), points=2001)
    fpr = part["fpr"].values
    inside = (fpr >= 0.1) & (fpr <= 0.4)
    slow_area = np.trapezoid(part["tpr"].values[..., inside], fpr[inside], axis=-1)
    assert np.abs(part["partial_auc_fpr"] - slow_area).max() < 2e-3
    perfect = posterior([0] * 400 + [1] * 400, np.arange(800), fpr_range=(0, 0.2), tpr_range=(0.8, 1), over=None)
    for side in ("fpr", "tpr"):
        assert float(perfect[f"partial_auc_{side}_corrected"].mean()) > 0.98
    assert (drawn["sensitivity_at_specificity"].sel(specificity=0.5) == drawn["tpr"].sel(fpr=0.5)).all()
    back = drawn["specificity_at_sensitivity"].sel(sensitivity=0.8)
    assert 0 <= back.min() <= back.max() <= 1


def test_chance_has_half_a_corrected_partial_area():
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 4000), rng.random(4000)
    drawn = posterior(y, s, over=None, fpr_range=(0.2, 0.4), tpr_range=(0.6, 0.9))
    for side in ("fpr", "tpr"):
        assert float(drawn[f"partial_auc_{side}_corrected"].mean()) == pytest.approx(0.5, abs=0.02)


def test_metrics_over_thresholds_and_the_best_one():
    y, s = sample(80)
    cost = bayescm.metrics.expected_cost(fn=5, fp=1)
    wanted = {"f1": "f1", "mcc": "mcc", "cost": cost}
    tree = bayescm.curve_posterior(y, s, over="threshold", metrics=wanted, draws=200, random_seed=SEED)
    drawn = tree["posterior"].to_dataset()
    share, tpr, fpr = (drawn[name] for name in ("prevalence", "tpr", "fpr"))
    f1 = 2 * share * tpr / (share * tpr + share + (1 - share) * fpr)
    xr.testing.assert_allclose(drawn["f1"].transpose(*f1.dims), f1)
    for name, best in (("f1", "max"), ("cost", "min")):
        value = getattr(drawn[name], best)("threshold")
        mine = drawn.sel(metric=name)
        chosen_ = float(tree["constant_data"]["chosen_threshold"].sel(metric=name))
        assert np.allclose(mine["best_value"], value)
        at = mine["best_threshold"]
        assert np.allclose(drawn[name].sel(threshold=at), value)
        assert (mine["regret"] >= -1e-12).all()
        mean = drawn[name].mean(("chain", "draw"))
        chosen = mean.idxmax("threshold") if best == "max" else mean.idxmin("threshold")
        assert chosen_ == float(chosen)


def test_metrics_without_a_mean_have_no_chosen_threshold():
    y, s = sample(80)
    names = ["lr+", "dor", "lr-", "precision", "recall", "specificity"]
    tree = bayescm.curve_posterior(y, s, over="threshold", metrics=names, random_seed=SEED)
    drawn, chosen = tree["posterior"].to_dataset(), tree["constant_data"]["chosen_threshold"]
    for name in ("positive_likelihood_ratio", "diagnostic_odds_ratio"):
        assert np.isnan(chosen.sel(metric=name))
        assert np.isnan(drawn["regret"].sel(metric=name)).all()
        assert (drawn["best_value"].sel(metric=name) > 1).all()
    for name in ("recall", "specificity", "precision"):
        assert np.isfinite(chosen.sel(metric=name))
        assert ((drawn[name] >= 0) & (drawn[name] <= 1)).all()
    assert (drawn["best_value"].sel(metric="negative_likelihood_ratio") >= 0).all()


def test_rates_never_leave_the_unit_interval():
    y, s = sample(80)
    ends = posterior(y, s, over="threshold", points=[np.inf, 3.5, 1.0, -1.0, -np.inf], metrics=["lr-", "dor"])
    for name in ("tpr", "fpr"):
        assert (ends[name].sel(threshold=np.inf) == 0).all()
        assert (ends[name].sel(threshold=-np.inf) == 1).all()
        assert ((ends[name] >= 0) & (ends[name] <= 1)).all()
    for name in ("negative_likelihood_ratio", "diagnostic_odds_ratio"):
        assert not (ends[name] < 0).any()
    with pytest.warns(UserWarning, match="`at_sensitivity`=1 is nearer to 1"):
        rates = posterior(y, s, over=None, at_sensitivity=[0, 1], tpr_range=(0.9, 1))
    assert (rates["specificity_at_sensitivity"].sel(sensitivity=0) == 1).all()
    assert (rates["specificity_at_sensitivity"] >= 0).all()
    assert (rates["partial_auc_tpr"] >= 0).all()


@pytest.mark.parametrize("concentration", [0.001, 0.01, 0.1, 0.3])
def test_small_concentrations_leave_nothing_undefined(concentration):
    for y, s in (sample(20), ([0, 1], [0.1, 0.2]), ([1, 1, 1], [1, 2, 3])):
        drawn = posterior(y, s, prior=concentration, labels=[0, 1])
        for name in ("auc", "average_precision", "pr_area", "tpr", "precision"):
            assert drawn[name].notnull().all(), name


def test_thresholds_that_no_score_reaches_leave_a_doubt():
    y, s = sample(40)
    drawn = posterior(y, s, prior="smoothed", over="threshold", points=[s.max() + 1, s.min() - 1])
    assert 0 < float(drawn["tpr"].isel(threshold=0).max()) < 0.5
    assert 0.5 < float(drawn["tpr"].isel(threshold=1).min()) < 1
    counts = bayescm.curves.counts_at_thresholds(y, s, thresholds=[0.3])
    point = float(counts.sel(actual=1, predicted=1).item() / y.sum())
    assert float(posterior(y, s, over="threshold", points=[0.3])["tpr"].mean()) == pytest.approx(point, abs=0.02)


def test_many_thresholds_are_thinned_evenly():
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 5000), rng.normal(size=5000)
    drawn = posterior(y, s, over="threshold", draws=10)
    assert drawn.sizes["threshold"] == 301
    shares = [(s >= cut).mean() for cut in drawn["threshold"].values]
    assert np.allclose(np.diff(shares), 1 / 300, atol=1e-3)


# ---------------------------------------------------------------------------------------------------------- prevalence


def test_prevalence_is_estimated_fixed_or_exchanged():
    y, s = sample(50)
    n1, n0 = y.sum(), (y == 0).sum()
    drawn = flat(posterior(y, s, over=None)["prevalence"])
    assert stats.kstest(drawn, stats.beta(n1 + 0.5, n0 + 0.5).cdf).pvalue > 1e-3
    drawn = flat(posterior(y, s, over=None, prevalence=(2, 38))["prevalence"])
    assert stats.kstest(drawn, stats.beta(2, 38).cdf).pvalue > 1e-3
    assert (posterior(y, s, over=None, prevalence="fixed")["prevalence"] == n1 / (n1 + n0)).all()
    rare, common = (posterior(y, s, prevalence=p) for p in (0.01, 0.5))
    assert (rare["prevalence"] == 0.01).all()
    assert np.allclose(rare["auc"], common["auc"])
    assert (rare["average_precision"] < common["average_precision"]).all()
    recall, fpr = rare["recall"], 0.01 * rare["recall"] * (1 / rare["precision"] - 1) / 0.99
    again = 0.5 * recall / (0.5 * recall + 0.5 * fpr)
    xr.testing.assert_allclose(again.transpose(*common["precision"].dims), common["precision"])


# ------------------------------------------------------------------------------------------------------------ break it


def test_perfect_separation_leaves_a_doubt():
    y, s = [0] * 30 + [1] * 5, np.arange(35)
    low, high = np.quantile(posterior(y, s, over=None, draws=5000)["auc"], [0.025, 0.975])
    assert low == pytest.approx(0.725, abs=0.015)
    assert high > 0.999
    assert (posterior(y, s, over=None, prior="bootstrap")["auc"] > 1 - 1e-12).all()
    low, high = np.quantile(posterior(y, s, over=None, prior="smoothed")["auc"], [0.025, 0.975])
    assert 0.6 < low < 0.8
    assert high < 0.9999


@pytest.mark.parametrize("prior", ["prior_item", "smoothed"])
@pytest.mark.parametrize(
    ("y", "s"),
    [
        ([0, 0, 0, 0, 1], [1, 2, 3, 4, 5]),
        ([0, 0, 1, 1], [1, 1, 1, 2]),
        ([0, 1, 1], [0.0, 0.0, 1.0]),
        ([0, 1], [-np.inf, np.inf]),
    ],
)
def test_few_items_leave_wide_intervals(y, s, prior):
    drawn = posterior(y, s, prior=prior)
    low, high = np.quantile(drawn["auc"], [0.025, 0.975])
    assert high - low > 0.3
    assert not np.isnan(drawn["precision"]).any()


@pytest.mark.parametrize("prior", ["prior_item", "smoothed"])
def test_a_class_without_items_has_its_prior(prior):
    drawn = posterior([0, 0, 0], [1, 2, 3], prior=prior, labels=[0, 1], over="threshold", metrics="f1")
    assert float(drawn["auc"].mean()) == pytest.approx(0.5, abs=0.05)
    low, high = np.quantile(drawn["auc"], [0.025, 0.975])
    assert low < 0.2 < 0.8 < high
    with pytest.raises(ValueError, match="got 0 cases and 3 controls"):
        posterior([0, 0, 0], [1, 2, 3], prior="bootstrap", labels=[0, 1])


def test_scores_of_any_kind_are_only_ranked():
    y, s = sample(40, digits=1)
    drawn = posterior(y, s, over=None)
    for other in (np.exp(s), 1 / (1 + np.exp(-s)), s * 1e100, s.astype(object)):
        xr.testing.assert_equal(drawn, posterior(y, other, over=None))
    xr.testing.assert_equal(drawn, posterior(np.where(y == 1, "sick", "well"), s, over=None, pos_label="sick"))


def test_near_ties_are_no_ties():
    apart = rank(np.array([True, False]), np.array([0.6535494669979387, 0.6535494669979386]))
    assert len(apart.score) == 2
    assert list(apart.cases) == [1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "jeffreys"}, "`prior` must be one of"), ({"prior": -1}, "`prior` must be a number"),
        ({"over": "time"}, "`over` must be one of"),
        ({"metrics": "f1"}, "ask for over='threshold'"), ({"over": None, "points": 5}, "`points` is for curves"),
        ({"points": 1}, "at least 2 rates"), ({"points": [0.5, 0.2]}, "increasing rates"),
        ({"fpr_range": (0.5, 0.1)}, "the smaller first"), ({"tpr_range": (0.5,)}, "must be two rates"),
        ({"at_specificity": 1.2}, r"must be a number in \[0, 1\]"), ({"draws": 0}, "must be a positive integer"),
        ({"prevalence": 1.5}, r"`prevalence` must be a number in \(0, 1\)"), ({"by": [1, 2]}, "`by` has 2 items"),
        ({"by": {"fpr": [1] * 60}}, "results keep that name"), ({"by": {"a": [1] * 60, "b": [1] * 60}}, "got 2 names"),
        ({"over": "threshold", "points": [np.nan]}, "missing value"),
        ({"prior": 1e9}, "`prior` must be a number"), ({"prior": np.inf}, "`prior` must be a number"),
        ({"fpr_range": (0.1, 0.1001)}, "at least 0.001 long"),
        ({"by": {"score": [1] * 60}}, "results keep that name"), ({"by": {"positive": [1] * 60}}, "results keep that"),
        ({"by": {"threshold": [1] * 60}}, "results keep that"),
        ({"by": {"specificity": [1] * 60}}, "results keep that"),
        ({"over": "threshold", "metrics": {"auc": "f1"}}, "`metrics` can't call one 'auc'"),
        ({"over": "threshold", "metrics": {"precision": "f1"}}, "`metrics` can't call one 'precision'"),
        ({"over": "threshold", "metrics": {"regret": "f1"}}, "`metrics` can't call one 'regret'"),
        ({"over": "threshold", "metrics": "prevalence"}, "`metrics` can't call one 'prevalence'"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense(options, message):
    y, s = sample()
    with pytest.raises(ValueError, match=message):
        posterior(y, s, **options)


@pytest.mark.parametrize(
    ("y", "s", "message"),
    [
        ([0, 1], [0.1], "1 items"), ([0, 1, 2], [1, 2, 3], "must have two classes"), ([], [], "is empty"),
        ([0, 1], [0.1, np.nan], "missing value"), ([1, 1], [0.1, 0.2], "`labels` is needed"), ([0, 1], {}, "is empty"),
        ([0, 1], [[0.1, 0.9], [0.2, 0.8]], "one dimension"), ([0.5, 1], [1, 2], "fractions, not labels"),
    ],
)  # fmt: skip
def test_items_that_make_no_sense(y, s, message):
    with pytest.raises(ValueError, match=message):
        posterior(y, s)
    with pytest.raises(TypeError, match="must be real numbers"):
        posterior([0, 1], ["a", "b"])


def test_smoothed_has_no_joint_distribution():
    with pytest.raises(ValueError, match="no joint distribution of several systems"):
        posterior([0, 1, 1], {"a": [1, 2, 3], "b": [3, 2, 1]}, prior="smoothed")


# ------------------------------------------------------------------------------------------- seeds, threads, shapes


@pytest.mark.parametrize("options", [{}, {"prior": "smoothed"}, {"over": "threshold", "metrics": "mcc"}])
def test_threads_and_seeds(monkeypatch, options):
    y, s = sample(60)
    first = posterior(y, s, **options)
    monkeypatch.setenv("BAYESCM_THREADS", "3")
    xr.testing.assert_identical(first, posterior(y, s, **options))
    monkeypatch.setenv("BAYESCM_THREADS", "1")
    xr.testing.assert_identical(first, posterior(y, s, **options))
    assert not first.equals(posterior(y, s, **options, random_seed=8))


def test_the_same_draws_whatever_is_read_from_rates():
    y, s = sample()
    xr.testing.assert_equal(posterior(y, s)["auc"], posterior(y, s, over=None, at_specificity=0.3)["auc"])


def test_groups_are_independent_parts():
    y, s = sample(60)
    fold = np.repeat(["a", "b", "c"], 20)
    drawn = posterior(y, s, by={"fold": fold})
    assert drawn["auc"].dims == ("chain", "draw", "fold")
    alone = posterior(y[:20], s[:20])
    xr.testing.assert_equal(drawn.sel(fold="a", drop=True), alone)
    other = {"a": s, "b": -s}
    both = bayescm.curve_posterior(y, other, by=fold, over="threshold", points=[0.0], metrics=["f1", "mcc"])
    assert both["posterior"]["best_threshold"].dims == ("chain", "draw", "group", "system", "metric")
    assert both["constant_data"]["chosen_threshold"].dims == ("group", "system", "metric")


def test_groups_and_systems_need_names_of_their_own():
    with pytest.raises(ValueError, match="the systems are called so"):
        posterior([0, 1], {"a": [1, 2], "b": [2, 1]}, by={"system": [1, 1]})


def test_systems_come_as_mapping_frame_or_array():
    y, s = sample(30)
    import pandas as pd

    first = posterior(y, {"a": s, "b": -s}, over=None)
    xr.testing.assert_equal(first, posterior(y, pd.DataFrame({"a": s, "b": -s}), over=None))
    array = xr.DataArray([s, -s], dims=("model", "item"), coords={"model": ["a", "b"]})
    xr.testing.assert_equal(first.rename(system="model"), posterior(y, array, over=None))
    assert check_scores(y, xr.DataArray(s, dims="item")).systems is None
    numbered = posterior(y, {0: s, 1: -s}, over=None)
    assert numbered["auc"].sel(system=1).notnull().all()
    with pytest.raises(ValueError, match="by text, or all by numbers"):
        posterior(y, {1: s, "1": -s})
    with pytest.raises(ValueError, match="can't have the dim 'fpr'"):
        posterior(y, xr.DataArray([s, -s], dims=("fpr", "item")))


def test_a_rare_beta_of_the_prevalence():
    y, s = sample(30)
    assert posterior(y, s, over=None, prevalence=(0.001, 1))["average_precision"].notnull().all()


def test_results_survive_a_file(tmp_path):
    y, s = sample(30)
    made = bayescm.curve_posterior(y, {"a": s, "b": -s}, by=np.arange(30) % 2, random_seed=1, draws=20)
    made.to_netcdf(tmp_path / "curve.nc", engine="h5netcdf")
    again = xr.open_datatree(tmp_path / "curve.nc", engine="h5netcdf")
    xr.testing.assert_equal(made.load(), again.load())
    assert dict(made.attrs) == dict(again.attrs)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # R-hat of a rate of 1 at the smallest score
def test_arviz_reads_it():
    import arviz as az

    y, s = sample(30)
    made = bayescm.curve_posterior(y, s, random_seed=1, fpr_range=(0, 0.2))
    table = az.summary(made, var_names=["auc", "average_precision"], ci_prob=0.95)
    assert list(table.index) == ["auc", "average_precision"]
    over = bayescm.curve_posterior(y, s, random_seed=1, over="threshold", metrics=["f1", "mcc"])
    assert "best_threshold[f1]" in az.summary(over, ci_prob=0.95).index


def test_rates_nearer_to_one_than_an_item_are_said_to_be_told_by_none():
    y, s = [0] * 10 + [1] * 5, np.arange(15)
    with pytest.warns(UserWarning, match="at_specificity`=0.95 is nearer to 1 than one of 10 controls"):
        bayescm.curve_posterior(y, s, at_specificity=[0.5, 0.95], random_seed=1)
    with pytest.warns(UserWarning, match="one of 5 cases"):
        bayescm.curve_posterior(y, s, at_sensitivity=0.9, random_seed=1)
    bayescm.curve_posterior(y, s, at_specificity=0.9, at_sensitivity=0.8, random_seed=1)  # no warning: an error here

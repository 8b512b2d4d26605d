"""Pictures show the numbers they were given, in the user's axes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayescm
from bayescm import plots


def test_forest_draws_the_stored_numbers():
    s = bayescm.summary([[6, 2], [0, 26]], ["recall", "precision"])
    ax = bayescm.plots.plot_forest(s, reference=0.5)
    (lines,) = ax.collections
    drawn = np.array([segment[:, 0] for segment in lines.get_segments()])
    np.testing.assert_allclose(drawn, s.interval)
    mean, point, reference = ax.lines
    np.testing.assert_allclose(mean.get_xdata(), s["mean"])
    np.testing.assert_allclose(point.get_xdata(), s.point)
    assert set(reference.get_xdata()) == {0.5}
    assert [t.get_text() for t in ax.get_yticklabels()] == ["recall", "precision"]
    assert "95% equal-tailed" in ax.get_xlabel()


def test_forest_leaves_out_other_scales_and_says_so():
    s = bayescm.summary([[20, 9], [5, 26]], ["recall", "dor"], random_seed=1)
    ax = bayescm.plots.plot_forest(s)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["recall"]
    assert "diagnostic odds ratio" in ax.get_xlabel()
    alone = bayescm.plots.plot_forest(bayescm.summary([[20, 9], [5, 26]], "dor", random_seed=1))
    assert len(alone.get_yticklabels()) == 1


def test_forest_of_several_systems_and_given_axes():
    s = bayescm.summary(bayescm.datasets.caelen2017(), ["recall", "f1"])
    _, mine = plt.subplots()
    ax = bayescm.plots.plot_forest(s, ax=mine)
    assert ax is mine
    assert len(ax.collections) == 2
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["A", "B"]
    markers = {handle.get_marker() for handle in ax.get_legend().legend_handles}
    assert len(markers) == 2  # for those who don't tell the colours apart


def names_of(ax):
    return [label.get_text().replace("\n", "") for label in ax.get_yticklabels()]


def test_forest_of_one_metric_has_a_line_for_each_system_the_best_on_top():
    s = bayescm.summary(bayescm.datasets.toetsch2021(), "recall")
    ax = bayescm.plots.plot_forest(s)
    means = s["mean"].squeeze("metric")
    assert names_of(ax) == means.system.values[np.argsort(-means.values, kind="stable")].tolist()
    np.testing.assert_allclose(ax.lines[0].get_xdata(), np.sort(means.values)[::-1])
    assert ax.get_xlabel().startswith("recall, with 95%")
    worst_last = bayescm.plots.plot_forest(bayescm.summary(bayescm.datasets.toetsch2021(), "error_rate")).lines[0]
    assert (np.diff(worst_last.get_xdata()) >= 0).all()
    years = bayescm.datasets.toetsch2021().assign_coords(system=np.arange(24))
    assert names_of(bayescm.plots.plot_forest(bayescm.summary(years, "recall"))) == list(map(str, range(24)))


def test_forest_of_many_systems_has_a_line_for_each_with_its_name():
    s = bayescm.summary(bayescm.datasets.toetsch2021(), ["recall", "f1"])
    ax = bayescm.plots.plot_forest(s)
    order = np.argsort(-s["mean"].sel(metric="recall").values, kind="stable")
    names = s.system.values[order].tolist()
    assert names_of(ax) == names * 2
    np.testing.assert_allclose(
        ax.lines[0].get_xdata(), s["mean"].transpose("metric", "system").values[:, order].ravel()
    )
    assert [text.get_text() for text in ax.texts] == ["recall", "f1"]
    assert len({tuple(color) for lines in ax.collections for color in lines.get_color()}) == 1


def test_forest_of_several_batch_dims_names_both():
    s = bayescm.summary(bayescm.datasets.caelen2017(), "recall").expand_dims(fold=2)
    assert set(names_of(bayescm.plots.plot_forest(s))) == {"0, A", "0, B", "1, A", "1, B"}


def test_forest_says_how_many_lines_are_not_shown():
    counts = bayescm.from_cells(tp=np.arange(1, 301), fn=5, fp=4, tn=20, dims="system")
    ax = bayescm.plots.plot_forest(bayescm.summary(counts, "recall"))
    assert len(names_of(ax)) == 250
    assert "50 further lines" in ax.get_xlabel()


@pytest.mark.parametrize(
    ("result", "said", "names"),
    [
        (lambda: bayescm.interval([[6, 2], [0, 26]], ["recall", "f1"]), "value, with 95% interval", ["recall", "f1"]),
        (lambda: bayescm.interval(bayescm.datasets.caelen2017(), "recall"), "recall, with 95%", None),
        (lambda: bayescm.auc([0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.25, 0.9]), "value, with 95%", ["area under the curve"]),
        (
            lambda: bayescm.planning.decide(bayescm.datasets.caelen2017(), {"fn": 5, "fp": 1}, design="independent"),
            "cost, with 95% equal-tailed",
            None,
        ),
    ],
)
def test_forest_of_other_results(result, said, names):
    found = result()
    ax = bayescm.plots.plot_forest(found)
    assert ax.get_xlabel().startswith(said)
    assert names is None or names_of(ax) == names
    drawn = np.sort(np.array([segment[:, 0] for segment in ax.collections[0].get_segments()]), axis=0)
    np.testing.assert_allclose(drawn, np.sort(found["interval"].values.reshape(-1, 2), axis=0))


def test_forest_loses_no_system_where_labels_are_equal():
    s = bayescm.summary(bayescm.datasets.caelen2017().assign_coords(system=["A", "A"]), ["recall", "f1"])
    assert len(bayescm.plots.plot_forest(s).collections) == 2


def test_matrix_shows_counts_shares_and_intervals():
    cells = bayescm.inference.cell_summary(bayescm.from_array([[6, 2], [0, 26]], labels=["low", "high"]))
    _, mine = plt.subplots()
    ax = bayescm.plots.plot_confusion_matrix(cells, ax=mine)
    assert ax is mine
    texts = [t.get_text() for t in ax.texts]
    assert texts[3].startswith("26\n100.0%")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["low", "high"]
    assert ax.get_ylabel() == "actual"
    with pytest.raises(ValueError, match="one matrix"):
        bayescm.plots.plot_confusion_matrix(bayescm.inference.cell_summary(bayescm.datasets.caelen2017()))


COUNTS = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
NO_POSITIVES = bayescm.from_cells(tp=0, fn=0, fp=2, tn=6)
TOETSCH = {"model": "three_binomial", "prior": "laplace"}


def dist(metric, counts=COUNTS, **options):
    return bayescm.metric_distribution(counts, metric, **options)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def by_label(ax, start):
    return next(line for line in ax.lines if str(line.get_label()).startswith(start))


@pytest.mark.parametrize("kind", ["pdf", "cdf"])
def test_distribution_draws_the_distribution(kind):
    mcc = dist("mcc")
    stored = mcc.to_dataset()
    ax = plots.plot_distribution(mcc, kind=kind)
    curve = ax.lines[0]
    np.testing.assert_array_equal(curve.get_xdata(), stored.x)
    np.testing.assert_array_equal(curve.get_ydata(), stored[kind])
    lower, upper = stored.interval.values
    np.testing.assert_allclose(ax.lines[1].get_xdata(), [lower, upper])
    for name, told in (("mean", "mean"), ("median", "median"), ("point", "value of the counts")):
        assert by_label(ax, told).get_xdata()[0] == stored[name]
    assert legend(ax)[0] == f"95% ETI {lower:.3f} to {upper:.3f}"
    assert f"mean {float(stored['mean']):.3f}" in legend(ax)
    assert ax.get_xlabel() == "Matthews correlation (mcc)"
    assert min(ax.get_yticks()) >= 0  # none beside the bar


def test_distribution_shades_the_interval():
    stored = dist("mcc").to_dataset(ci_prob=0.8, ci_kind="eti")
    ax = plots.plot_distribution(dist("mcc"), ci_prob=0.8, ci_kind="eti")
    shaded = ax.collections[0].get_paths()[0].vertices[:, 0]
    np.testing.assert_allclose([shaded.min(), shaded.max()], stored.interval)
    assert legend(ax)[0].startswith("80% ETI")


def test_distribution_states_the_probability_above_a_reference():
    mcc = dist("mcc")
    ax = plots.plot_distribution(mcc, reference=0.5)
    assert legend(ax)[-1] == f"P(MCC > 0.5) = {float(mcc.sf(0.5)):.3f}"
    assert set(by_label(ax, "P(MCC").get_xdata()) == {0.5}
    assert legend(plots.plot_distribution(dist("recall"), reference=0.5))[-1].startswith("P(recall > 0.5) = 1 - ")


def test_a_reference_is_never_a_false_zero_or_one():
    counts = bayescm.from_cells(tp=260, fn=10, fp=20, tn=600)
    (above,) = [t for t in legend(plots.plot_distribution(dist("f1", counts), reference=0.99)) if t.startswith("P(")]
    assert above == f"P(F1 > 0.99) = {float(dist('f1', counts).sf(0.99)):.1e}"
    (below,) = [t for t in legend(plots.plot_distribution(dist("f1", counts), reference=0.7)) if t.startswith("P(")]
    assert below == f"P(F1 > 0.7) = 1 - {float(dist('f1', counts).cdf(0.7)):.1e}"


def test_distribution_of_several_systems():
    counts = bayescm.datasets.toetsch2021().sel(system=["7a", "8"])
    both = dist("informedness", counts, **TOETSCH)
    _, mine = plt.subplots()
    ax = plots.plot_distribution(both, ax=mine, reference=0)
    assert ax is mine
    first, second, reference = legend(ax)
    assert first.startswith("7a: 95% ETI ")
    assert first.endswith("P(informedness > 0) = 1 - 4.3e-06")
    assert second.endswith("P(informedness > 0) = 0.857")  # Toetsch and Hoffmann: deceptive with 14%
    assert reference == "reference 0"
    stored = both.to_dataset()
    for i, start in enumerate(("7a", "8")):
        np.testing.assert_array_equal(by_label(ax, start).get_ydata(), stored.pdf[i])
    assert "value of the counts" in ax.get_legend().get_title().get_text()
    colours = [by_label(ax, start).get_color() for start in ("7a", "8")]
    assert len(set(colours)) == 2


def test_distribution_of_a_mapping_and_a_sequence():
    ax = plots.plot_distribution({"flat": dist("mcc", prior="laplace"), "Jeffreys": dist("mcc")})
    assert [text.partition(":")[0] for text in legend(ax)] == ["flat", "Jeffreys"]
    ax = plots.plot_distribution([dist("recall"), dist("f1")])
    assert [text.partition(":")[0] for text in legend(ax)] == ["Recall", "F1"]
    assert ax.get_xlabel().startswith("value of the metric")
    ax = plots.plot_distribution({"a": dist("f1", bayescm.datasets.caelen2017())})
    assert [text.partition(":")[0] for text in legend(ax)] == ["a A", "a B"]


def test_distribution_of_a_dataset():
    stored = dist("mcc").to_dataset(ci_prob=0.9)
    ax = plots.plot_distribution(stored, reference=0.5)
    assert legend(ax)[0].startswith("90% ETI")
    assert legend(ax)[-1] == "reference 0.5"
    with pytest.raises(ValueError, match=r"`ci_prob` of a Dataset is the one it was made with, 0\.9; got 0\.95"):
        plots.plot_distribution(stored, ci_prob=0.95)


def test_an_infinite_density_is_cut_off_and_said():
    ax = plots.plot_distribution(dist("recall"))
    assert [t.get_text() for t in ax.texts if t.get_text()] == ["density infinite\nat 1: cut off"]
    curve = ax.lines[0].get_ydata()
    assert ax.get_ylim()[1] < 0.5 * curve.max()
    both = plots.plot_distribution(dist("recall", NO_POSITIVES))
    assert sorted(t.get_text()[-10:-9] for t in both.texts if t.get_text()) == ["0", "1"]
    assert legend(both)[0].startswith("95% ETI")
    assert "value of the counts undefined (0/0)" in legend(both)


@pytest.mark.parametrize("prior", ["laplace", 0.99, 1.0])
def test_a_finite_density_is_not_cut_off(prior):
    ax = plots.plot_distribution(dist("recall", prior=prior, model="three_binomial"))
    assert not ax.texts
    assert ax.get_ylim()[1] > ax.lines[0].get_ydata().max()


def test_a_known_number_is_a_vertical_line():
    known = dist("prevalence", prevalence=0.1)
    ax = plots.plot_distribution(known)
    assert legend(ax) == ["known, 0.1"]
    assert set(ax.lines[0].get_xdata()) == {0.1}
    assert ax.get_xlim()[1] > 1
    ax = plots.plot_distribution({"test set": dist("prevalence"), "10%": known}, kind="cdf")
    assert set(by_label(ax, "10%").get_xdata()) == {0.1}


def test_a_metric_without_upper_limit_has_a_logarithmic_axis():
    ratio = dist("lr+")
    ax = plots.plot_distribution(ratio, reference=1)
    assert ax.get_xscale() == "log"
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(ratio.cdf(x[[0, -1]]), [5e-4, 1 - 5e-4], rtol=1e-6)
    assert np.trapezoid(y, np.log10(x)) == pytest.approx(0.999, abs=2e-4)  # areas are probabilities
    assert legend(ax)[-1].startswith("P(LR+ > 1) = 1 - ")
    stored = plots.plot_distribution(ratio.to_dataset())
    assert stored.get_xscale() == "log"
    with pytest.raises(ValueError, match="`reference` must be above 0"):
        plots.plot_distribution(ratio, reference=0)


def test_a_linear_axis_says_how_much_lies_beyond():
    ratio = dist("lr+")
    ax = plots.plot_distribution(ratio, log=False)
    end = ax.lines[0].get_xdata()[-1]
    assert end == pytest.approx(1.25 * float(ratio.eti()[1]), rel=0.01)
    assert ax.texts[0].get_text() == f"{100 * float(ratio.sf(end)):.2g}% lies beyond \u2192"
    assert not plots.plot_distribution(dist("mcc"), log=False).texts
    perfect = plots.plot_distribution(dist("lr-", bayescm.from_cells(tp=3, fn=0, fp=0, tn=5)), log=False)
    assert perfect.texts[0].get_text() == "density infinite\nat 0: cut off"


def test_infinite_mean_and_value_of_the_counts():
    ax = plots.plot_distribution(dist("dor"))
    assert {"mean infinite", "value of the counts infinite"} <= set(legend(ax))
    assert len(by_label(ax, "mean").get_xdata()) == 0


def test_numbers_have_the_decimals_of_the_interval():
    counts = bayescm.from_cells(tp=260_000, fn=100, fp=2000, tn=60_000)
    assert legend(plots.plot_distribution(dist("recall", counts)))[0] == "95% ETI 0.999535 to 0.999685"
    even = plots.plot_distribution(dist("mcc", bayescm.from_cells(tp=5, fn=5, fp=5, tn=5)))
    assert "value of the counts 0.000" in legend(even)
    assert not any("-0.000" in text for text in legend(even))


def test_ridges_of_many_systems():
    bm = dist("informedness", bayescm.datasets.toetsch2021(), **TOETSCH)
    ax = plots.plot_distribution(bm, kind="ridge", reference=0)
    assert [t.get_text() for t in ax.get_yticklabels()][:3] == ["1", "2", "3"]
    shown = [t.get_text().strip() for t in ax.texts]
    assert shown[-1] == "P(informedness > 0)"
    assert shown[[t.get_text() for t in ax.get_yticklabels()].index("8")] == "0.857"
    for i in range(24):
        ridge = ax.lines[5 * i].get_ydata()  # then its bar and three marks
        assert ridge.min() == pytest.approx(i - 0.85)
        assert ridge.max() <= i
    with pytest.raises(ValueError, match=r"24 distributions, and more than 8 .* kind='ridge'"):
        plots.plot_distribution(bm)


def test_ridges_of_known_and_infinite():
    ax = plots.plot_distribution({"a": dist("recall"), "b": dist("prevalence", prevalence=0.2)}, kind="ridge")
    assert len(ax.get_yticks()) == 2


def test_distribution_refuses_what_it_cannot_draw():
    grid = bayescm.datasets.caelen2017().expand_dims(fold=2)
    with pytest.raises(ValueError, match="at most one batch dim"):
        plots.plot_distribution(dist("recall", grid))
    with pytest.raises(ValueError, match="mixes metrics with and without an upper limit"):
        plots.plot_distribution([dist("recall"), dist("lr+")])
    with pytest.raises(ValueError, match="mapping of names"):
        plots.plot_distribution([dist("recall"), dist("recall", prior="laplace")])
    with pytest.raises(TypeError, match=r"`data` must be what .*; got ndarray"):
        plots.plot_distribution(np.ones(3))
    with pytest.raises(TypeError, match="got a Dataset of point"):
        plots.plot_distribution(bayescm.summary(COUNTS, "recall"))
    with pytest.raises(ValueError, match="at least 3 points"):
        plots.plot_distribution(dist("recall").to_dataset(points=1))
    with pytest.raises(ValueError, match="batch dim of size 0"):
        plots.plot_distribution(dist("recall", bayescm.datasets.caelen2017()).to_dataset().isel(system=slice(0)))
    with pytest.raises(ValueError, match="`data` is empty"):
        plots.plot_distribution([])
    with pytest.raises(ValueError, match="`kind` must be one of"):
        plots.plot_distribution(dist("recall"), kind="violin")
    with pytest.raises(TypeError, match="`reference` must be a number"):
        plots.plot_distribution(dist("recall"), reference="half")


def test_metric_uncertainty_draws_what_the_paper_says():
    """Toetsch and Hoffmann: often above 20 points, sometimes above 60, shorter as N grows, not monotonously."""
    counts = bayescm.datasets.toetsch2021()
    s = bayescm.summary(counts, ["prevalence", "recall", "specificity"], ci_kind="hdi", **TOETSCH)
    ax = plots.plot_metric_uncertainty(s)
    drawn = np.array([line.get_ydata() for line in ax.lines])
    np.testing.assert_array_equal(drawn, s.width.T)
    assert (drawn > 0.2).mean() > 0.5
    assert 1 <= (drawn > 0.6).sum() <= 5
    early, late = drawn[:, :8].mean(), drawn[:, -8:].mean()  # Table S1 is sorted by N
    assert late < 0.6 * early
    assert (np.diff(drawn, axis=1) > 0).any()
    assert [t.get_text() for t in ax.get_xticklabels()] == counts.system.values.tolist()
    assert legend(ax) == ["prevalence", "recall", "specificity"]
    assert ax.get_ylabel() == "length of the 95% HDI"


def test_metric_uncertainty_against_the_number_of_items():
    counts = bayescm.datasets.toetsch2021()
    s = bayescm.summary(counts, ["recall", "precision", "bm"], **TOETSCH)
    ax = plots.plot_metric_uncertainty(s, counts=counts)
    assert ax.get_xscale() == "log"
    tn, fp, fn, tp = np.moveaxis(counts.values.reshape(-1, 4), -1, 0)
    for line, items in zip(ax.lines, (tp + fn, tp + fp, tn + fp + fn + tp), strict=False):
        np.testing.assert_array_equal(line.get_xdata(), items)
    rule = by_label(ax, "2/")
    np.testing.assert_allclose(rule.get_ydata(), 2 / np.sqrt(rule.get_xdata()))
    recall = ax.lines[0]
    large = recall.get_xdata() > 20
    assert (recall.get_ydata()[large] < 2 / np.sqrt(recall.get_xdata()[large])).all()  # eq. 15


def test_metric_uncertainty_of_chosen_metrics():
    s = bayescm.summary(bayescm.datasets.caelen2017(), ["f1", "lr+", "mcc"])
    assert legend(plots.plot_metric_uncertainty(s)) == ["f1", "mcc (matthews correlation)"]
    _, mine = plt.subplots()
    ax = plots.plot_metric_uncertainty(s, metric="lr+", ax=mine)
    assert ax is mine
    assert legend(ax) == ["lr+ (positive likelihood ratio)"]
    with pytest.raises(ValueError, match=r"`metric` must be some of f1, .*; got .kappa."):
        plots.plot_metric_uncertainty(s, metric="kappa")


def test_metric_uncertainty_refuses_what_it_cannot_draw():
    s = bayescm.summary(bayescm.datasets.caelen2017(), ["f1", "recall"])
    with pytest.raises(ValueError, match="one batch dim, the systems to be compared; got none"):
        plots.plot_metric_uncertainty(s.isel(system=0))
    with pytest.raises(ValueError, match=r"`counts` must be those of the summary, 2 matrices .* shape \(24, 2, 2\)"):
        plots.plot_metric_uncertainty(s, counts=bayescm.datasets.toetsch2021())
    many = bayescm.summary(bayescm.datasets.caelen2017())
    with pytest.raises(ValueError, match="can't be told apart"):
        plots.plot_metric_uncertainty(many)


@pytest.mark.slow
@pytest.mark.parametrize("plot", ["plot_dist", "plot_forest"])
def test_arviz_draws_exact_distributions_without_draws(plot):
    import arviz as az

    dists = {"mcc": dist("mcc", bayescm.datasets.caelen2017()), "recall": dist("recall", bayescm.datasets.caelen2017())}
    dt, options = plots.arviz_options(dists, plot, ci_probs=(0.5, 0.9))
    assert dt.posterior.sizes["draw"] == 1
    pc = getattr(az, plot)(dt, **options)
    stored = dists["mcc"].to_dataset(ci_prob=0.9)
    one = {"system": "A"}
    wide = pc.viz["credible_interval" if plot == "plot_dist" else "twig"]["mcc"].sel(one).item()
    np.testing.assert_allclose(wide.get_xdata(), stored.interval.sel(one))
    if plot == "plot_dist":
        np.testing.assert_array_equal(pc.viz["dist"]["mcc"].sel(one).item().get_ydata(), stored.pdf.sel(one))
    else:
        narrow = pc.viz["trunk"]["mcc"].sel(one).item()
        np.testing.assert_allclose(narrow.get_xdata(), dists["mcc"].eti(0.5).sel(one))


def test_arviz_options_refuse_other_things():
    with pytest.raises(TypeError, match="`data` must be"):
        plots.arviz_options({"mcc": 0.3})
    with pytest.raises(ValueError, match="prevalence is a known number and has no density"):
        plots.arviz_options(dist("prevalence", prevalence=0.1))
    with pytest.raises(ValueError, match="`plot` must be one of"):
        plots.arviz_options(dist("mcc"), "plot_trace")

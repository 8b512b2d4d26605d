"""What kind of result a Dataset is, and how each kind is told: a sentence, records, the columns of a short table.

A view answers for a Dataset that has its variables, of these kinds, and its attrs: one that was cut to pieces has other
ones, one that was reduced or computed with other numbers (:mod:`bayescm.results.stamps`); xarray shows it in its way.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import xarray as xr

from bayescm.results import areas, chances, drift, gaps, gates, plans, printed, readers, studies, summaries, systems

Records = list[dict[str, Any]]

_KINDS = {"f": "f", "i": "i", "b": "b", "U": "UOT"}  # text may come back from a file as another kind


@dataclass(frozen=True, slots=True)
class View:
    """How one kind of result is told.

    Attributes
    ----------
    source : str
        The public functions of bayescm that return it.
    variables : mapping of str to str
        Names that it must have, and the kinds of their dtypes.
    attrs : tuple of str
    sizes : mapping of str to int
        Dims that it must have, of which size; 0 for any.
    answer : callable
        Returns the sentence.
    records : callable
        Returns a mapping of names to values for every row.
    index : tuple of str
        Names of records that tell rows apart, besides the dims of the batch.
    shown : tuple of str
        Columns of the short table.
    without : str
        An attr that it must not have.
    cut : bool
        Whether only the first rows are shown of many; else many rows are shown as xarray shows them.
    picture : str
        The function of :mod:`bayescm.plots` that draws it; empty for none.
    """

    source: str
    variables: Mapping[str, str]
    attrs: tuple[str, ...]
    sizes: Mapping[str, int]
    answer: Callable[[xr.Dataset], str]
    records: Callable[[xr.Dataset], Records]
    index: tuple[str, ...]
    shown: tuple[str, ...]
    without: str = field(default="")
    cut: bool = field(default=False)
    picture: str = field(default="")

    def fits(self, data: xr.Dataset) -> bool:
        """Say whether a Dataset is such a result, complete and in memory."""
        if not all(name in data.attrs for name in self.attrs) or self.without in data.attrs:
            return False
        variables, sizes = data.variables, data.sizes
        own = [variables.get(name) for name in self.variables]
        return (
            all(
                one is not None and one.size and one.dtype.kind in _KINDS[kind]
                for one, kind in zip(own, self.variables.values(), strict=True)
            )
            and all(sizes.get(dim, 0) == (n or sizes.get(dim)) for dim, n in self.sizes.items())
            and all(variable.chunks is None for variable in variables.values())
        )


def _of(floats: str, **others: str) -> dict[str, str]:
    """Return the kinds of variables: many of numbers, and others."""
    return dict.fromkeys(floats.split(), "f") | others


_BOUNDS = {"ci_bound": 2}
VIEWS = (
    View(
        "gate",
        _of("new old point mean sd interval probability more", n_items="i", rule="U", verdict="U", passes="b"),
        ("verdict", "passed", "checks", "ci_prob_each"), _BOUNDS | {"check": 0}, gates.answer, gates.of_gate,
        ("check",), ("new", "old", "lower", "upper", "probability", "verdict"), cut=True,
    ),
    View(
        "planning.at_prevalences",
        _of("point mean sd interval simultaneous observed_prevalence", simultaneous="b", metric="U", method="U"),
        ("ci_prob",), _BOUNDS | {"prevalence": 0}, chances.at_prevalences, summaries.of_summary,
        ("prevalence", "metric"), ("point", "lower", "upper", "method"), cut=True, picture="plot_prevalence",
    ),
    View(
        "planning.replicate", _of("point mean median sd interval undefined mcse_mean", metric="U", method="U"),
        ("ci_prob", "size"), _BOUNDS, chances.second_test, chances.of_replicates, ("metric",),
        ("point", "lower", "upper", "undefined", "method"), cut=True,
    ),
    View(
        "probability", _of("probability error mcse_probability", claim="U", method="U"), (), {},
        chances.claims, chances.of_claims, ("claim",), ("probability", "mcse", "method"), cut=True,
    ),
    View(
        "region", _of("level point", metric="U"), ("space", "method", "levels"), {"metric": 2}, chances.extent,
        chances.of_regions, ("metric",), ("point", "lower", "upper"), without="band", cut=True, picture="plot_region",
    ),
    View(
        "inference.cell_summary", _of("point mean median sd interval", ci_kind="U"), ("normalize", "ci_prob"),
        _BOUNDS | {"actual": 0, "predicted": 0}, chances.confusion, chances.of_cells, (),
        ("point", "lower", "upper"), cut=True,
    ),
    View(
        "priors.hidden_size", _of("probability", n_items="i", smallest="i", likeliest="i"), ("scores", "most"), {},
        printed.size, printed.of_sizes, ("n_items",), ("probability",), cut=True,
    ),
    View(
        "from_reported", _of("matches least most stated allowed nearest", metric="U"), ("verdict", "at_odds", "n"), {},
        printed.answer, printed.of_printed, ("metric",), ("stated", "lower", "upper", "nearest"),
    ),
    View(
        "priors.counts_from_metrics", _of("stated obtained difference rounding matches", counts="i"), (), {},
        chances.matrix, chances.of_stated, ("metric",), ("stated", "obtained", "difference"),
    ),
    View(
        "synthesis",
        _of("point median interval difference difference_interval probability_better", metric="U", versus="U"),
        ("studies", "ci_prob"), _BOUNDS | {"at": 0}, studies.synthesis, studies.of_synthesis, ("estimate", "metric"),
        ("median", "lower", "upper", "difference", "probability_better"), picture="plot_region",
    ),
    View(
        "synthesis",
        _of("point mean median sd interval mcse_mean", metric="U", estimate="U"), ("studies", "ci_prob"), _BOUNDS,
        studies.synthesis, studies.of_synthesis, ("estimate", "metric"), ("point", "mean", "median", "lower", "upper"),
        picture="plot_region",
    ),
    View(
        "readers", _of("point se df interval p_value credible probability_positive value"),
        ("readers", "metric", "ci_prob"), _BOUNDS | {"estimate": 0, "sampled": 3}, readers.readers, readers.of_readers,
        ("estimate", "sampled"), ("point", "lower", "upper", "p_value", "probability_positive"), picture="plot_forest",
    ),
    View(
        "gaps", _of("point mean median sd interval ratio probability_within mcse_mean", metric="U"),
        ("groups", "rope", "ci_prob", "pooled"), _BOUNDS, gaps.gaps, gaps.of_gaps, ("metric",),
        ("point", "median", "lower", "upper", "probability_within"), picture="plot_forest",
    ),
    View(
        "drift",
        _of("point mean interval probability_worse probability_better since n_items change probability_changed"),
        ("series", "rope", "ci_prob", "verdict"), _BOUNDS | {"period": 0}, drift.drift, drift.of_drift, ("period",),
        ("point", "mean", "lower", "upper", "probability_worse", "since"), cut=True, picture="plot_forest",
    ),
    View(
        "summary",
        _of("point mean median sd interval mcse_mean mcse_interval", metric="U", ci_kind="U", method="U"),
        ("model", "prior", "ci_prob"), _BOUNDS, summaries.answer, summaries.of_summary, ("metric",),
        ("point", "mean", "sd", "lower", "upper", "method"), picture="plot_forest",
    ),
    View(
        "compare_systems",
        _of(
            "point mean sd interval probability probability_better ratio ratio_interval mcse_probability",
            metric="U", comparison="U", first="U", second="U", verdict="U", method="U",
        ),
        ("design", "comparisons", "ci_prob", "rope"), _BOUNDS | {"side": 3}, systems.answer, systems.of_differences,
        ("comparison", "metric"), ("mean", "lower", "upper", "probability_better", "verdict"), cut=True,
        picture="plot_difference",
    ),
    View(
        "leaderboard",
        _of(
            "point mean interval probability_best expected_rank top_probability rank_probability",
            rank_interval="i", simultaneous_rank_interval="i", best_set="b", tie_group="i",
        ),
        ("design", "metric", "ci_prob"), _BOUNDS | {"system": 0, "rank": 0, "top": 0},
        systems.leader, systems.of_board, ("system",),
        ("point", "mean", "lower", "upper", "best", "rank_lower", "rank_upper", "tie_group"), cut=True,
        picture="plot_leaderboard",
    ),
    View(
        "curve_band", _of("point band area area_interval"), ("space", "ci_prob", "statement"), _BOUNDS, areas.band,
        areas.of_band, ("fpr", "recall"), ("point", "lower", "upper"), cut=True, picture="plot_curve",
    ),
    View(
        "curves.intervals", _of("point interval threshold", metric="U", clipped="b"), ("space", "method", "ci_prob"),
        _BOUNDS, areas.thresholds, summaries.of_interval, ("threshold", "metric"), ("point", "lower", "upper"),
        cut=True,
    ),
    View(
        "interval", _of("point interval", metric="U", clipped="b"), ("method", "ci_prob"), _BOUNDS, summaries.answer,
        summaries.of_interval, ("metric",), ("point", "se", "lower", "upper"),
    ),
    View(
        "curves.auc_difference", _of("point interval auc se", clipped="b"), ("design", "method", "ci_prob"),
        _BOUNDS | {"system": 2}, areas.difference, areas.of_difference, ("comparison", "estimator"),
        ("point", "lower", "upper", "first", "second"),
    ),
    View(
        "curves.reliability", _of("point interval mean_score mean_loss", items="i"), ("method", "ci_prob", "off"),
        _BOUNDS | {"bin": 0}, areas.reliability, areas.of_reliability, ("bin",),
        ("point", "lower", "upper", "mean_score", "items"),
    ),
    View(
        "auc, aucpr", _of("point interval se", clipped="b"), ("cases", "controls", "method", "ci_prob"), _BOUNDS,
        areas.answer, areas.of_areas, ("system", "estimator", "ci_method"), ("point", "se", "lower", "upper"),
    ),
    View(
        "auc", _of("point interval se", clipped="b", estimator="U"),
        ("classes", "items", "method", "ci_prob"), _BOUNDS,
        areas.of_several_classes, areas.of_areas, ("system", "estimator", "ci_method"),
        ("point", "se", "lower", "upper"),
    ),
    View(
        "sample_size", _of("assurance rule", n_items="i", about="U", metric="U"),
        ("width", "wanted_assurance", "ci_prob", "pilot"), {}, plans.size, plans.of_sizes, ("metric",),
        ("items", "about", "assurance", "rule", "formula"),
    ),
    View(
        "planning.sample_size_of_auc", _of("width assurance", cases="i", controls="i", n_items="i"),
        ("auc", "prevalence", "method", "ci_prob"), {}, plans.size_of_area, plans.of_area, (),
        ("cases", "controls", "width", "assurance"),
    ),
    View(
        "planning.sample_size_to_compare", _of("assurance error_rate", n_items="i"),
        ("first", "second", "gap", "metric", "ci_prob", "design"), {}, plans.size_to_compare, plans.of_contest,
        ("metric",), ("first", "second", "gap", "items", "discordant", "assurance", "error_rate"),
    ),
    View(
        "decide",
        _of("point mean sd interval probability_best expected_regret value_of_information", best="U", decisive="b"),
        ("decision_prob", "ci_prob"), _BOUNDS | {"action": 0}, plans.action, plans.of_actions, ("action",),
        ("mean", "sd", "lower", "upper", "probability_best", "expected_regret"),
    ),
    View(
        "planning.allocate", _of("neyman totals sd expected_sd", labels="i", checked="i", group="U"),
        ("metric", "n_checks"), {}, plans.allocation, plans.of_allocation, ("group",),
        ("labels", "neyman", "checked", "totals"),
    ),
    View(
        "planning.label_value",
        _of("value net value_of_information cost", labels="i", n_checks="i", best_n="i", best="U"),
        ("per_check", "n_items"), {}, plans.value_of_labels, plans.of_label_values, ("n_checks",), ("value", "net"),
    ),
)  # fmt: skip
"""Of several that fit the first is taken."""


_MAIN = ("interval", "band", "n_items", "value", "labels", "probability", "obtained", "stated", "point")


def main_variable(data: xr.Dataset) -> Hashable:
    """Return the variable that has a value for every row."""
    return next(name for name in _MAIN if name in data)


def view_of(data: Any) -> tuple[View, xr.Dataset] | None:
    """Return how a result is told, and the Dataset that says it; None for anything else."""
    if isinstance(data, xr.DataTree):
        data = (data["summary"] if "summary" in data.children else data).to_dataset()
    if not isinstance(data, xr.Dataset):
        return None
    if data.attrs.get("creation_library") != "bayescm" or "assumptions" not in data.attrs:
        return None
    return next(((view, data) for view in VIEWS if view.fits(data)), None)

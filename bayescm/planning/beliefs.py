"""What is thought of a classifier before its test: modes and concentrations, or a pilot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.counts import one_matrix
from bayescm.data.schema import labels_of
from bayescm.distributions import dirichlet, exact_distribution
from bayescm.distributions.beta_binomial import Rate
from bayescm.inference.intervals import ALIASES, PROPORTION
from bayescm.metrics import Metric, MetricsLike, resolve
from bayescm.planning.protocols import BUDERER, OF_INTERVALS, SIMEL, named
from bayescm.planning.whole_tests import Test
from bayescm.planning.widths import Named, Proportion
from bayescm.priors.concentrations import Concentrations, PriorLike, concentrations, resolved_prior

Array = NDArray[np.float64]

_ABOUT = {
    ("fn", "tp"): "actual positives",
    ("fp", "tn"): "actual negatives",
    ("fp", "tp"): "predicted positives",
    ("fn", "tn"): "predicted negatives",
    ("fn", "fp", "tp"): "items but true negatives",
    ("fn", "fp", "tn", "tp"): "items",
}
_RATES = ("recall", "specificity")
_SMOOTH = ("wilson", "agresti_coull", "clopper_pearson")


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """The arguments that :func:`sample_size` and :func:`interval_width` share, checked."""

    metrics: tuple[Metric, ...]
    mode: Any
    concentration: Any
    pilot: Concentrations | None
    prior: Concentrations
    ci_prob: float
    ci_kind: str
    method: str
    """Of the interval: its name among those of proportions, or whose formula plans it; empty of a credible one."""
    analysis: Mapping[str, Any]
    """Attrs that say how counts to come will be analysed."""

    @classmethod
    def read(
        cls, metrics: MetricsLike, mode: Any, concentration: Any, pilot: Any, method: str | None, *,
        prior: PriorLike | None = None, model: str = "dirichlet_multinomial", ci_prob: float = 0.95,
        ci_kind: str = "eti",
    ) -> "Beliefs":  # fmt: skip
        """Check the arguments."""
        resolved = tuple(resolve(metrics, 2))
        others = [metric.name for metric in resolved if metric.kind != "cells"]
        if others:
            raise ValueError(f"`metric` must be one of the cells of two labels; got {others[0]}.")
        prior = resolved_prior(prior)
        base = concentrations(prior, model, 2)
        if dirichlet.improper(base) is not None:
            raise ValueError(
                "`prior` must be proper: tests to come may leave a cell empty. Take prior='jeffreys', or any with "
                "positive concentrations."
            )
        ci_prob = validate.number("ci_prob", ci_prob, 0, 1)
        validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
        name = _method(method, resolved)
        analysis = {"prior": prior, "model": model, "ci_prob": ci_prob, "ci_kind": ci_kind}
        analysis |= {"method": name} if name else {}
        return cls(resolved, mode, concentration, _posterior(pilot, base), base, ci_prob, ci_kind, name, analysis)

    @property
    def interval(self) -> str:
        """The name of the interval of a proportion; empty where it is the credible one."""
        return self.method if self.method in PROPORTION else ""

    @property
    def by_formula(self) -> bool:
        """Whether a formula of protocols plans."""
        return self.method in OF_INTERVALS

    def proportions(self) -> tuple[list[Proportion], list[str]]:
        """Return every metric as a proportion of its own items, and what these are."""
        found, about = [], []
        for metric in self.metrics:
            beta = _beta(metric, self.prior)
            if beta is None or metric.ratio is None:
                raise ValueError(
                    f"`prevalence` is needed for {metric.name}: it isn't a proportion of a number of items, so it "
                    "depends on how many positives there are. Give prevalence=0.5, or two numbers of a Beta."
                )
            rate = self._of_pilot(metric) or self._rate(metric.name, [metric.name for metric in self.metrics])
            how = self.ci_prob, self.ci_kind
            found.append(Named(rate, 0.0, 0.0, *how, self.interval) if self.interval else Proportion(rate, *beta, *how))
            about.append(_ABOUT[tuple(sorted(metric.ratio[0] + metric.ratio[1]))])
        return found, about

    def test(self, prevalence: Any, fixed_totals: bool) -> Test:
        """Return the whole test."""
        if self.interval and self.interval not in _SMOOTH:
            raise ValueError(
                f"`method` must be one of {', '.join(map(repr, _SMOOTH))} with `prevalence`; got {self.interval!r}, "
                "whose length jumps where there are no errors. Plan without `prevalence`, in items of the class."
            )
        if self.pilot is None:
            recall, specificity = (self._rate(name, list(_RATES)) for name in _RATES)
        else:
            rows = self.pilot.rows
            recall, specificity = Rate(rows[1, 1], rows[1, 0]), Rate(rows[0, 0], rows[0, 1])
        share = self._prevalence(prevalence)
        how = self.prior, self.ci_prob, self.ci_kind, self.interval
        return Test(self.metrics, share, recall, specificity, bool(fixed_totals), *how)

    def _of_pilot(self, metric: Metric) -> Rate | None:
        beta = None if self.pilot is None else _beta(metric, self.pilot)
        return None if beta is None else Rate(*beta)

    def _rate(self, name: str, known: list[str]) -> Rate:
        """Return the Beta of a mode and a concentration, which may be mappings."""
        values = []
        for argument, given in (("mode", self.mode), ("concentration", self.concentration)):
            if isinstance(given, Mapping) and set(given) != set(known):
                raise ValueError(f"`{argument}` as a mapping must have the keys {known}; got {list(given)}.")
            values.append(given[name] if isinstance(given, Mapping) else given)
        return Rate.of_mode("mode", *values)

    def _prevalence(self, prevalence: Any) -> Rate:
        """Return the prevalence: a number, the two numbers of a Beta, or that of the pilot."""
        if isinstance(prevalence, str):
            if prevalence != "pilot" or self.pilot is None:
                raise ValueError(
                    f"`prevalence` as text must be 'pilot', and needs `pilot`; got {prevalence!r}. Give a number."
                )
            return Rate(self.pilot.shares[1], self.pilot.shares[0])
        given = validate.beta_numbers("prevalence", prevalence)
        if np.ndim(given) == 0:
            return Rate(0.0, 0.0, validate.number("prevalence", given, 0, 1))
        values = validate.array_of("prevalence", given)
        if values.dtype.kind not in "iuf" or values.shape != (2,) or not (np.isfinite(values) & (values > 0)).all():
            raise ValueError(
                f"`prevalence` must be a number or the two positive numbers of a Beta; got {prevalence!r}."
            )
        return Rate(*values.tolist())


def _method(method: str | None, metrics: tuple[Metric, ...]) -> str:
    """Return the name of an interval or of a formula that all metrics have; empty of the credible interval."""
    if method is None:
        return ""
    name = validate.choice("method", ALIASES.get(str(method), method), (*PROPORTION, *OF_INTERVALS))
    whose = BUDERER if name in PROPORTION else name
    if others := [metric.name for metric in metrics if named(metric) != whose]:
        what = "likelihood ratios" if whose == SIMEL else "proportions of the items"
        raise ValueError(f"`method`={method!r} is for {what}, and {others[0]} is none. Leave it out.")
    return name


def _posterior(pilot: Any, prior: Concentrations) -> Concentrations | None:
    """Return the posterior of a pilot."""
    if pilot is None:
        return None
    counts = one_matrix(pilot)
    if len(labels_of(counts)) != 2:
        raise ValueError(
            f"`pilot` must have two labels; got {labels_of(counts)}. Plan one class against the rest: "
            "bayescm.confusion_matrix(y_true == label, y_pred == label)."
        )
    return dirichlet.posterior(counts.values, prior)


def _beta(metric: Metric, which: Concentrations) -> tuple[float, float] | None:
    """Return the concentrations of a proportion's Beta distribution."""
    dist = exact_distribution(metric, which)
    beta = None if dist is None else dist.concentrations
    return None if beta is None else (float(beta[0]), float(beta[1]))

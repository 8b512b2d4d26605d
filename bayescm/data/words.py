"""Words that options take, for type checkers; what isn't one of them is refused at run time as well."""

from typing import Literal

CiKind = Literal["eti", "hdi"]
Design = Literal["independent", "paired"]
Direction = Literal["larger", "smaller"]
BandMethod = Literal["simultaneous", "pointwise", "whole"]
Plane = Literal["roc", "pr"]
Sampler = Literal[
    "auto", "exact", "quadrature", "nuts", "nutpie", "numpyro", "blackjax", "smc", "advi", "fullrank_advi", "pathfinder"
]  # fmt: skip
RegionMethod = Literal["wilks", "exact", "ellipse", "credible", "simulate", "anytime"]
IntervalMethod = Literal[
    "wald", "wilson", "agresti_coull", "clopper_pearson", "jeffreys", "likelihood_ratio", "anytime", "delta",
    "bootstrap", "exact", "beta", "normal", "profile", "logit", "probit", "cloglog", "wilson_cc",
]  # fmt: skip

"""Plackett-Luce: what rankings and votes tell of systems, each with a worth."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import optimize, sparse, special

from bayescm.comparison import rank_draws
from bayescm.comparison.board_report import Answer, better_by_moments
from bayescm.comparison.field import Worths
from bayescm.data import validate
from bayescm.data.assumptions import JUDGES, RANKED, assumed
from bayescm.data.labels import some
from bayescm.data.needs import need
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.rankings import PLACKETT_LUCE, UNRANKED, Rankings, rankings
from bayescm.data.schema import SYSTEM
from bayescm.distributions.sample import Draws
from bayescm.metrics import Metric
from bayescm.results.names import CARRIED_BY

Array = NDArray[np.float64]

_WORTH = Metric("share_of_first_places", "Share of first places", "worth over the sum of all worths", np.asarray)
_PRIORS = {"jeffreys": 0.5, "laplace": 1.0}
_CHAINS = 20
_WARM_UP = 200
_MOST_THINNED = 50
_SLOW = 1.1
"""Draws for one independent one, up to which none are left out."""
_AGREE = 1.02
"""R-hat up to which chains agree."""
_LEAST = 1e-290
_PRECISE = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-14, "gtol": 1e-9}


def of_rankings(
    data: Any, options: Mapping[str, Any], prior: Any, draws: int, seed: int
) -> tuple[Worths, Answer, dict[str, Any]]:
    """Return systems by their worths, what is known of these, and attrs that say how."""
    given = {name: value for name, value in options.items() if name not in ("model", "draws", "unranked")}
    if other := [name for name, value in given.items() if value is not None]:
        raise ValueError(f"`{other[0]}` doesn't apply to rankings; leave it out.")
    unranked = options.get("unranked") or UNRANKED[0]
    a, read = _concentration(prior), rankings(data, unranked)
    point, notes = _measured(read)
    shares = _draw(read, a, draws, matrix_rng(seed, 0, Stream.RANKS))
    minus = -np.log(shares)
    found = replace(rank_draws.of_values(minus), metric=lambda values: np.exp(-values))
    settings = {
        "method": "draws", "design": "rankings", "model": PLACKETT_LUCE, "draws": draws, "random_seed": seed,
        "prior": "jeffreys" if prior is None else prior, "rankings": read.number, "unranked": unranked,
        "assumptions": assumed(items=RANKED, error=JUDGES), **({CARRIED_BY: "; ".join(notes)} if notes else {}),
    }  # fmt: skip
    field = Worths(point, _WORTH, {SYSTEM: xr.Variable(SYSTEM, read.systems)})
    return field, Answer(found, Draws(shares.T), partial(better_by_moments, minus, together=True)), settings


def _concentration(prior: Any) -> float:
    """Return the prior's shape."""
    if prior is None or isinstance(prior, str):
        name = "jeffreys" if prior is None else prior
        if name in _PRIORS:
            return _PRIORS[name]
        raise ValueError(f"`prior` of rankings must be {', '.join(map(repr, _PRIORS))} or a number; got {prior!r}.")
    return validate.number("prior", prior, 0, np.inf)


def _draw(read: Rankings, a: float, draws: int, rng: np.random.Generator) -> Array:
    """Draw worths that add up to 1, (draws, systems), by Gibbs (Caron and Doucet 2012, with the scale left free).

    All choices from one set wait together for a gamma variable, given which worths are gamma variables. Chains start
    scattered around the mode, and of their draws as many are left out as depend on one another.
    """
    wins, times = read.chosen.sum(1), read.chosen.sum(0)
    members, sets = read.sets, read.sets.T.tocsr()
    array_stats = need("arviz_stats.base", "The draws of worths").array_stats

    def go_on(worth: Array, steps: int) -> Array:
        for _ in range(steps):
            waited = rng.standard_gamma(times[:, None], (len(times), _CHAINS)) / (members @ worth)
            worth = rng.standard_gamma((a + wins)[:, None], worth.shape) / (1.0 + sets @ waited)
            worth = np.maximum(worth, _LEAST)
        return worth

    def chains(worth: Array, number: int, thin: int) -> Array:
        kept = []
        for _ in range(number):
            worth = go_on(worth, thin)
            kept.append(worth)
        return np.array(kept)  # (draw, system, chain)

    start = _mode(read, a)[:, None] + rng.standard_normal((len(wins), _CHAINS))
    tried = chains(go_on(np.exp(start), _WARM_UP), _WARM_UP, 1)
    shared = np.log(tried / tried.sum(1, keepdims=True))
    slow = _CHAINS * _WARM_UP / min(array_stats.ess(one, chain_axis=1, draw_axis=0) for one in shared.swapaxes(0, 1))
    thin = min(int(np.ceil(2.0 * slow)), _MOST_THINNED) if slow > _SLOW else 1
    made = chains(tried[-1], -(-draws // _CHAINS), thin)
    made = made / made.sum(1, keepdims=True)
    differ = max(array_stats.rhat(one, chain_axis=1, draw_axis=0) for one in np.log(made).swapaxes(0, 1))
    if differ > _AGREE:
        validate.warn(f"Chains of worths don't agree (R-hat {differ:.2f}): compare the systems more directly.")
    return np.asarray(made.swapaxes(1, 2).reshape(-1, len(wins))[:draws])


def _mode(read: Rankings, a: float = 0.0) -> Array:
    """Return log worths with the highest density, of a prior Gamma(a, 1) of worths; of likelihood alone for 0."""
    wins, times = read.chosen.sum(1) + a, read.chosen.sum(0)

    def minus(logs: Array) -> tuple[float, Array]:
        worth = np.exp(logs)
        sums = read.sets @ worth
        some = a * worth.sum()
        slope = worth * (read.sets.T @ (times / sums)) + a * worth - wins
        return float(times @ np.log(sums) + some - wins @ logs), slope

    found = optimize.minimize(minus, np.zeros(len(wins)), jac=True, method="L-BFGS-B", options=_PRECISE)
    return np.asarray(found.x)


def _measured(read: Rankings) -> tuple[Array, list[str]]:
    """Return the worths with the highest likelihood, and what of them rests on the prior: then they are NaN."""
    beaten = read.chosen @ read.sets.toarray() > 0  # row was chosen where column could be, too
    number, part = sparse.csgraph.connected_components(beaten, directed=True, connection="strong")
    if number == 1:
        return special.softmax(_mode(read)), []
    apart, loose = sparse.csgraph.connected_components(beaten, directed=False)
    nowhere = np.full(len(part), np.nan)
    if apart > 1:
        names = [some([name for name, at in zip(read.systems, loose, strict=True) if at == i]) for i in range(apart)]
        return nowhere, [f"{' and '.join(names[:2])} were never compared: the prior alone says how they stand"]
    return nowhere, ["some were never below any of the others, so that the prior alone bounds how far ahead they are"]

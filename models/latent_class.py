"""No gold standard: imperfect tests, whose errors and the prevalence are estimated together (Hui and Walter 1980).

What happens
    The true class of an item is never seen. Two or more tests, labellers or classifiers give their answer to every
    item, in one or more populations that differ in prevalence. A test has the same sensitivity and specificity in every
    population, and given the true class the tests err independently (or, with dependence=True, through a difficulty of
    the item that they share). What is counted in each population is how often each pattern of answers occurred.

In symbols
    true_prevalence[p] ~ Beta
    test_sensitivity[t], test_specificity[t] ~ Beta x Beta, given sensitivity + specificity > 1
    P(pattern | p) = true_prevalence[p] prod_t P(answer t | positive)
                   + (1 - true_prevalence[p]) prod_t P(answer t | negative)
    counts[p] ~ Multinomial(N_p, P)

    With the classes swapped, and every sensitivity exchanged for 1 - specificity, the likelihood is the same. The
    condition, that each test is better than chance, removes that mirrored solution. The two rates of a test have the
    product of their Betas, restricted to that triangle: with the default prior, uniform on it. (The density is left
    without its constant.)

    dependence=True: given the true class i and the item's ease u ~ Normal(0, 1), test t is right with probability
    sigmoid(b[t, i] + difficulty_sd[i] u), difficulty_sd[i] ~ HalfNormal(1.5), and u is integrated out
    (bayescm/models/patterns.py; Qu, Tan and Kutner 1996 with a logistic in place of a normal curve). Sensitivity and
    specificity are the averages over items and keep their prior.

What can be estimated
    P populations and T tests give P (2^T - 1) free cells for P + 2 T parameters (and 2 more under dependence, less
    those known). Two tests need two populations, and these must differ in prevalence; three tests need one. Enough
    cells do not always tell the parameters apart (those of two tests with dependence never do), so the rank of the
    cells' derivative is what decides. Where it falls short only informative priors help, and the posterior stays near
    them.

    The answers of tests that err together may fit tests that don't: of three with true rates of .8, of which two shared
    most errors, these two came out at .95 and more, and nothing in one population, or even two, shows it. The attr
    ``carried_by`` says what the counts can tell.

Run ``python models/latent_class.py`` to see the tuberculosis tests of the paper.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray
from pymc.logprob.transforms import Transform

from bayescm.data import validate
from bayescm.data.items import check_tests, joint_cells
from bayescm.data.schema import ACTUAL, CELL, MATRIX, PREDICTED
from bayescm.models.blocks import items_of, two_label_cells
from bayescm.models.patterns import LOAD_SCALE, pattern_probabilities
from bayescm.priors.concentrations import NAMES, concentrations

POPULATION, TEST, RATE = "population", "test", "rate"

Array = NDArray[np.float64]

_UNLIKELY = 0.02
"""Posterior predictive p up to which tests are said to err together."""


def model(counts: Any, *, prior: Any = "laplace", known: Any = None, dependence: bool = False) -> pm.Model:
    """Return the model as a PyMC model.

    Parameters
    ----------
    counts : xarray.DataArray
        ``counts(population, <one dim per test>)``, two labels each, the positive last. The dims' names are the tests'
        names; without the dim ``population`` there is one.
    prior : str, number or mapping
        A name or number for every Beta; "laplace" (1, 1) is flat. Or a mapping with any of the keys ``prevalence``,
        ``sensitivity`` and ``specificity``, each a name, a number, the two numbers of a Beta (that of the event first),
        or a mapping of them by population or test; what is left out is flat. Errors that a calibration study has
        measured come in here: 45 of 50 positives found is ``prior={"sensitivity": {"tine": (46, 6)}}``.
    known : mapping of str to pair, optional
        Tests of known error: (sensitivity, specificity), None for the one that is not known.
    dependence : bool
        Whether tests err together given the true class.

    Returns
    -------
    pymc.Model
        ``true_prevalence(population)``, ``test_sensitivity(test)``, ``test_specificity(test)``,
        ``difficulty_sd(actual)`` under dependence, ``theta(population, test, actual, predicted)`` with the TRUE class
        as `actual`, so that every metric of every test against the truth follows; the observed ``counts(population,
        cell)``.

    Raises
    ------
    ValueError
        If the counts can't identify the parameters and `prior` is no mapping.

    Warns
    -----
    UserWarning
        If they can't, and a mapping of priors is all that tells the parameters apart.
    """
    counts = check_tests(counts, POPULATION)
    setting = _setting(counts, prior, known, dependence)
    _check_identified(setting, isinstance(prior, Mapping))
    observed = joint_cells(counts, POPULATION)
    labels = counts[setting.tests[0]].values
    coords = {POPULATION: counts[POPULATION].values, TEST: setting.tests, ACTUAL: labels, PREDICTED: labels}
    coords |= {RATE: setting.free_names(), "answer": ["right", "wrong"], CELL: observed[CELL].values}
    with pm.Model(coords=coords) as program:
        counts_data = pm.Data("counts_data", observed.values, dims=(POPULATION, CELL))
        shares = pm.Data("a_prevalence", setting.prevalence, dims=(POPULATION, ACTUAL))
        prevalence = pm.Beta("true_prevalence", shares[:, 1], shares[:, 0], dims=POPULATION)
        rates = _rates(setting)
        sensitivity = pm.Deterministic("test_sensitivity", rates[:, 1], dims=TEST)
        specificity = pm.Deterministic("test_specificity", rates[:, 0], dims=TEST)
        sd = pm.HalfNormal("difficulty_sd", LOAD_SCALE, dims=ACTUAL) if dependence else None
        cells = _cells(prevalence, sensitivity, specificity, sd)
        theta = two_label_cells(prevalence[:, None], sensitivity, specificity)
        shape = (counts.sizes[POPULATION], len(setting.tests), 2, 2)
        pm.Deterministic("theta", theta.reshape(shape), dims=(POPULATION, TEST, *MATRIX))
        n = items_of(counts_data)
        pm.Multinomial("counts", n=n, p=cells, observed=counts_data, dims=(POPULATION, CELL))
    return program


def carried_by(
    counts: Any, posterior: xr.Dataset, *, prior: Any = "laplace", known: Any = None, dependence: bool = False
) -> str:
    """Say whether the counts show that tests err together; nothing under dependence, or of one test.

    The discrepancy is Pearson's, of the counts and of future ones at each of some draws.

    Parameters
    ----------
    counts, prior, known, dependence
        As in :func:`model`.
    posterior : xarray.Dataset
        Its draws.
    """
    counts = check_tests(counts, POPULATION)
    setting = _setting(counts, prior, known, dependence)
    if dependence or len(setting.tests) == 1:
        return ""
    if _rank(setting)[0] == _rank(setting)[2]:
        return (
            "as many rates as free cells, so that nothing here can show tests that err together, on the same items; "
            "if they do, all rates mislead: one more test or population, and dependence=True, tell"
        )
    observed, rng = joint_cells(counts, POPULATION), np.random.default_rng(1)
    values, sizes = observed.values, observed.values.sum(1)
    drawn = posterior.stack(sample=("chain", "draw")).transpose("sample", ...)
    some = np.linspace(0, drawn.sizes["sample"] - 1, 400).astype(int)
    true, sensitivity, specificity = (
        drawn[name].values[some] for name in ("true_prevalence", "test_sensitivity", "test_specificity")
    )
    shares = np.stack([_cells(true[i], sensitivity[i], specificity[i], None) for i in range(len(some))])
    expected = shares * sizes[:, None]
    future = np.stack([[rng.multinomial(n, row) for n, row in zip(sizes, one, strict=True)] for one in shares])
    apart, by_chance = (((n - expected) ** 2 / expected).sum((1, 2)) for n in (values, future))
    p = float((by_chance >= apart).mean())
    if p > _UNLIKELY:
        return (
            f"the answers fit tests that err independently (posterior predictive p = {p:.2g}), which two that err "
            "together may do as well: see whether dependence=True says the same"
        )
    means = expected.mean(0)
    place = np.unravel_index(np.argmax((values - means) ** 2 / means), values.shape)
    where, cell = observed[POPULATION].values[place[0]], observed[CELL].values[place[1]]
    text = (
        f"the answers don't fit tests that err independently (posterior predictive p = {p:.2g}; {cell} in {where}: "
        f"{values[place]} items where {means[place]:.0f} are expected), so that all rates may mislead: tests may err "
        "together, for which dependence=True is"
    )
    validate.warn(f"{text}.")
    return text


def simulate(
    rng: np.random.Generator,
    n: int = 500,
    *,
    prior: Any = "laplace",
    known: Any = None,
    dependence: bool = False,
    tests: int = 2,
    populations: int = 2,
) -> xr.Dataset:
    """Draw a truth from the prior and the answers to `n` items of each population from the truth.

    Returns
    -------
    xarray.Dataset
        ``counts(population, test_1, ...)``, ``theta`` and the free variables.
    """
    dims = (POPULATION, *(f"{TEST}_{i}" for i in range(1, tests + 1)))
    empty = check_tests(xr.DataArray(np.zeros((populations,) + (2,) * tests, np.int64), dims=dims), POPULATION)
    setting = _setting(empty, prior, known, dependence)
    prevalence = rng.beta(setting.prevalence[:, 1], setting.prevalence[:, 0])
    rates = setting.draw(rng)
    sd = np.abs(rng.normal(0, LOAD_SCALE, 2)) if dependence else None
    cells = _cells(prevalence, rates[:, 1], rates[:, 0], sd)
    counts = np.stack([rng.multinomial(n, row / row.sum()) for row in cells]).reshape(empty.shape)
    theta = two_label_cells(prevalence[:, None], rates[:, 1], rates[:, 0])
    truth = {
        "counts": empty.copy(data=counts),
        "theta": ((POPULATION, TEST, *MATRIX), theta.reshape(populations, tests, 2, 2)),
        "true_prevalence": (POPULATION, prevalence),
        "test_sensitivity": (TEST, rates[:, 1]),
        "test_specificity": (TEST, rates[:, 0]),
    }
    more = {} if sd is None else {"difficulty_sd": (ACTUAL, sd)}
    return xr.Dataset(truth | more, coords={TEST: setting.tests, ACTUAL: [0, 1], PREDICTED: [0, 1]})


class Setting(NamedTuple):
    """Tests, what is known of them, and the priors of the rest."""

    tests: list[str]
    known: Array  # (test, rate): specificity and sensitivity, NaN where they are estimated
    numbers: Array  # (test, rate, 2): Beta numbers of being right and wrong
    prevalence: Array  # (population, 2): concentrations of the negative and the positive class
    dependence: bool

    def free(self) -> NDArray[np.int64]:
        """Return (rate, test) of every rate that is estimated: specificities first."""
        return np.argwhere(np.isnan(self.known.T))

    def free_names(self) -> list[str]:
        """Name the rates that are estimated."""
        return [f"{('specificity', 'sensitivity')[rate]} of {self.tests[test]}" for rate, test in self.free()]

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw rates (test, rate) from the prior: the Betas, until sensitivity and specificity exceed 1."""
        rates = self.known.copy()
        for test, (known, numbers) in enumerate(zip(self.known, self.numbers, strict=True)):
            while True:
                rates[test] = np.where(np.isnan(known), rng.beta(numbers[:, 0], numbers[:, 1]), known)
                if rates[test].sum() > 1:
                    break
        return rates


class BetterThanChance(Transform):  # type: ignore[misc]
    """Map the estimated rates, each test's sensitivity + specificity above 1, to the real line.

    Specificity runs from 0 (or from 1 less a known sensitivity) to 1, then sensitivity from 1 less the specificity.
    """

    name = "triangle"
    ndim_supp = 1

    def __init__(self, setting: Setting):
        self.known, free = setting.known, setting.free()
        self.tests = [free[free[:, 0] == rate, 1] for rate in (0, 1)]
        sensitivity = setting.known[self.tests[0], 1]
        self.lowest = np.where(np.isnan(sensitivity), 0.0, 1 - sensitivity)
        self.cut = len(self.lowest)

    def _lower(self, specificity: Any) -> Any:
        """Return the lower end of every rate, given the estimated specificities."""
        full = pm.math.constant(np.nan_to_num(self.known[:, 0]))
        full = full[self.tests[0]].set(specificity) if self.cut else full
        return pm.math.concatenate([self.lowest, 1 - full[self.tests[1]]])

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Return real numbers."""
        lower = self._lower(value[: self.cut])
        return pm.math.log(value - lower) - pm.math.log1p(-value)

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Return rates."""
        share = pm.math.sigmoid(value)
        lower = self._lower(self.lowest + (1 - self.lowest) * share[: self.cut])
        return lower + (1 - lower) * share

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Return the log of the Jacobian's determinant: a triangle's, so a product."""
        share = pm.math.sigmoid(value)
        lower = self._lower(self.lowest + (1 - self.lowest) * share[: self.cut])
        return (pm.math.log1p(-lower) + pm.math.log(share) + pm.math.log1p(-share)).sum()


def _rates(setting: Setting) -> Any:
    """Build the rates (test, rate): one vector of those that are estimated, and the known."""
    full = pm.math.constant(np.nan_to_num(setting.known))
    rate, test = setting.free().T
    if not len(rate):
        return full
    numbers = pm.Data("a_rates", setting.numbers[test, rate], dims=(RATE, "answer"))
    change = BetterThanChance(setting)

    def logp(value: Any, right: Any, wrong: Any) -> Any:
        each = pm.logp(pm.Beta.dist(right, wrong), value).sum()
        return pm.math.switch((full[test, rate].set(value).sum(axis=-1) > 1).all(), each, -np.inf)

    def random(right: Array, wrong: Array, rng: Any = None, size: Any = None) -> Array:
        given = setting.numbers.copy()
        given[test, rate] = np.stack([right, wrong], -1).reshape(-1, len(rate), 2)[0]
        draws = [setting._replace(numbers=given).draw(rng)[test, rate] for _ in range(int(np.prod(size or 1)))]
        return np.reshape(draws, (*(size or ()), len(rate)))

    def start(rv: Any, size: Any, *numbers: Any) -> Any:
        return change.backward(pm.math.constant(np.full(len(rate), 1.5)))

    free = pm.CustomDist(
        "rates", numbers[:, 0], numbers[:, 1], logp=logp, random=random, support_point=start, signature="(r),(r)->(r)",
        transform=change, dims=RATE,
    )  # fmt: skip
    return full[test, rate].set(free)


def _cells(prevalence: Any, sensitivity: Any, specificity: Any, sd: Any) -> Any:
    """Return the probabilities of the answers' patterns (population, cell), of arrays or of variables."""
    negative, positive = (
        pattern_probabilities(right, None if sd is None else sd[i])
        for i, right in enumerate((specificity, sensitivity))
    )
    # an answer to a negative item is right where it is negative: the patterns in reverse order
    return prevalence[:, None] * positive + (1 - prevalence[:, None]) * negative[::-1]


def _setting(counts: xr.DataArray, prior: Any, known: Any, dependence: bool) -> Setting:
    """Read the priors and what is known."""
    tests, populations = [str(dim) for dim in counts.dims[1:]], counts[POPULATION].values.tolist()
    parts = (
        dict(prior)
        if isinstance(prior, Mapping)
        else dict.fromkeys(("prevalence", "sensitivity", "specificity"), prior)
    )
    unknown = set(parts) - {"prevalence", "sensitivity", "specificity"}
    if unknown:
        raise ValueError(
            f"`prior` as a mapping may have the keys 'prevalence', 'sensitivity' and 'specificity'; got "
            f"{sorted(unknown)}."
        )
    numbers = [_betas(name, parts.get(name, "laplace"), tests) for name in ("specificity", "sensitivity")]
    prevalence = _betas("prevalence", parts.get("prevalence", "laplace"), populations)[:, ::-1]
    return Setting(tests, _known(known, tests, dependence), np.stack(numbers, 1), prevalence, dependence)


def _betas(name: str, value: Any, members: list[Any]) -> Array:
    """Return two numbers of a Beta for every population or test."""
    if not isinstance(value, Mapping):
        return np.repeat(_beta(f"prior[{name!r}]", value)[None], len(members), 0)
    foreign = [key for key in value if key not in members]
    if foreign:
        raise ValueError(f"`prior[{name!r}]` names {foreign[0]!r}, which `counts` doesn't have; it has {members}.")
    return np.stack([_beta(f"prior[{name!r}][{member!r}]", value.get(member, "laplace")) for member in members])


def _beta(name: str, value: Any) -> Array:
    """Return the two numbers of a proper Beta: of the event first."""
    value = validate.beta_numbers(name, value)
    if isinstance(value, str):
        value = concentrations(validate.choice(name, value, NAMES), "three_binomial", 2).shares
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf" or numbers.shape not in ((), (2,)):
        raise TypeError(f"`{name}` must be a name, a number or the two numbers of a Beta; got {value!r}.")
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ValueError(f"`{name}` must be a proper Beta, with numbers above 0; got {numbers.tolist()}.")
    return np.broadcast_to(numbers, 2).astype(np.float64)


def _known(known: Any, tests: list[str], dependence: bool) -> Array:
    """Return the known rates (test, rate), NaN for the others."""
    table = np.full((len(tests), 2), np.nan)
    for test, pair in dict(known or {}).items():
        if test not in tests:
            raise ValueError(f"`known` names the test {test!r}, which `counts` doesn't have; it has {tests}.")
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(
                f"`known[{test!r}]` must be (sensitivity, specificity), None for one not known; got {pair!r}."
            )
        for rate, value in ((1, pair[0]), (0, pair[1])):
            if value is not None:
                table[tests.index(test), rate] = validate.number(f"known[{test!r}]", value, 0, 1, closed=not dependence)
        if table[tests.index(test)].sum() <= 1 or (table[tests.index(test)] == 0).any():
            raise ValueError(
                f"`known[{test!r}]` must have sensitivity + specificity above 1; got {pair!r}. Swap its labels if the "
                "test is worse than chance."
            )
    return table


def _check_identified(setting: Setting, informative: bool) -> None:
    """Refuse, or warn of, parameters that the cells can't tell apart."""
    rank, parameters, cells = _rank(setting)
    if rank == parameters:
        return
    text = (
        f"`counts` of {len(setting.tests)} tests in {len(setting.prevalence)} populations has {cells} free cells, "
        f"which tell apart {rank} of the {parameters} parameters"
    )
    if not informative:
        population = "" if setting.dependence and len(setting.tests) == 2 else " or a population of another prevalence"
        raise ValueError(
            f"{text}. Add a test{population}, give the error rates that are known as `known`, or what is known of "
            "them as a mapping `prior` of informative Betas."
        )
    validate.warn(f"{text}: along the others the posterior is the prior.")


def _rank(setting: Setting) -> tuple[int, int, int]:
    """Return the rank of the cells' derivative at one point, the number of parameters and that of free cells."""
    rate, test = setting.free().T
    n_populations, n_tests = len(setting.prevalence), len(setting.tests)
    point = np.concatenate(
        [np.linspace(0.3, 0.6, n_populations), np.linspace(0.7, 0.85, len(rate)), [0.8, 1.1] * setting.dependence]
    )

    def cells(x: Array) -> Array:
        rates = setting.known.copy()
        rates[test, rate] = x[n_populations : n_populations + len(rate)]
        sd = x[-2:] if setting.dependence else None
        return np.ravel(_cells(x[:n_populations], rates[:, 1], rates[:, 0], sd))

    jacobian = _differences(cells, point)
    values = np.linalg.svd(jacobian, compute_uv=False)
    return int((values > 1e-7 * values[0]).sum()), len(point), n_populations * (2**n_tests - 1)


def _differences(function: Callable[[Array], Array], point: Array, step: float = 1e-4) -> Array:
    """Return the Jacobian by central differences of fourth order."""
    columns = []
    for direction in step * np.eye(len(point)):
        near = function(point + direction) - function(point - direction)
        far = function(point + 2 * direction) - function(point - 2 * direction)
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, -1)


if __name__ == "__main__":
    import arviz as az

    import bayescm

    table = bayescm.datasets.hui_walter1980()
    fit = bayescm.posterior(table, model="latent_class", metrics=["recall", "specificity", "precision"], random_seed=1)
    names = ["true_prevalence", "test_sensitivity", "test_specificity", "precision"]
    print(az.summary(fit, var_names=names, ci_prob=0.95, ci_kind="eti"))

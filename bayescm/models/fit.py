"""A model bound to data: its options, its closed form, its program, and who has the compiled one in use."""

import dataclasses
import difflib
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm import models
from bayescm.data import validate
from bayescm.data.counts import check_counts
from bayescm.data.schema import ACTUAL, CELL, MATRIX, cell_names, flatten_cells
from bayescm.models import nuts, samplers
from bayescm.models.closed_form import ClosedForm
from bayescm.priors.concentrations import MODELS, not_conjugate

METHODS = ("auto", "exact", "nuts")
"""Of simulation-based calibration."""


class BoundModel(NamedTuple):
    """A model with its options and data."""

    name: str
    module: Any  # None for a program of the user's own
    program: Any  # the user's own
    data: Any
    arguments: dict[str, Any]  # of the model's functions

    def closed_form(self) -> ClosedForm | None:
        """Return the closed form under these options, if there is one."""
        exact = getattr(self.module, "exact", None)
        form = None if exact is None else exact(self.data, **self.arguments)
        if not isinstance(form, ClosedForm | None):
            raise TypeError(
                f"`exact` of {self.name} must return a bayescm.models.closed_form.ClosedForm or None; "
                f"got {type(form).__name__}."
            )
        return form

    def build(self) -> Any:
        """Return the PyMC program, not compiled."""
        return self.program if self.module is None else self.module.model(self.data, **self.arguments)

    @contextmanager
    def compiled(self, kept: dict[str, Any] | None = None) -> Iterator[Any]:
        """Lend the program to one thread at a time: the one that was compiled before, if there is one of its like.

        Programs of the package's models are kept for good, those of a model of the user's own in `kept`, as long as
        the caller knows that the model stays the same. The user's own program gets its data back in the end.
        """
        with nuts.TURN:
            fresh = self.build()
            if self.module is None:
                with _with_counts(fresh, self.data):
                    yield fresh
                return
            given = {} if kept is None else kept
            ours = str(getattr(self.module, "__name__", "")).startswith(f"{models.programs.__name__}.")
            yield nuts.reused(self._key(fresh), fresh, self.module.model, None if ours else given)

    def _key(self, program: Any) -> str | None:
        """Name what a compiled program depends on but the values of its data; None if that can't be named."""
        shapes = {data.name: data.get_value().shape for data in program.data_vars}
        try:
            return repr(_exactly([self.name, id(self.module.model), self.arguments, shapes, dict(program.coords)]))
        except TypeError:
            return None


def _exactly(value: Any) -> Any:
    """Return plain lists whose text tells any two values apart; a TypeError for what can't be told apart."""
    if isinstance(value, xr.DataArray):
        return [value.dims, _exactly(value.values), _exactly({name: c.values for name, c in value.coords.items()})]
    if isinstance(value, np.ndarray | np.generic):
        return _exactly(value.tolist())
    if isinstance(value, Mapping):
        return [[_exactly(name), _exactly(item)] for name, item in value.items()]
    if isinstance(value, list | tuple):
        return [_exactly(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, _exactly(dataclasses.astuple(value))]
    if type(value).__name__ == "Beta":
        return _exactly(validate.beta_numbers("prior", value))
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    raise TypeError(type(value).__name__)


def name_of(model: Any, prior: Any = None) -> Any:
    """Return the name of one of the package's models given as a module; anything else as it is.

    The model ``three_binomial`` under priors that aren't all Betas is ``informative``.
    """
    package, _, name = str(getattr(model, "__name__", "")).rpartition(".")
    model = name if package == models.programs.__name__ and name in models.names() else model
    three = isinstance(model, str) and model == "three_binomial"
    return "informative" if three and not_conjugate(prior) else model


def is_conjugate(model: Any) -> bool:
    """Say whether a model's posterior is concentrations of every matrix."""
    return isinstance(model, str) and model in MODELS


def bind(
    model: Any, data: Any, prior: Any, options: dict[str, Any], sampler: str = "auto"
) -> tuple[BoundModel, dict[str, Any]]:
    """Split options into the model's own and those of the sampler.

    Parameters
    ----------
    model : str, module or pymc.Model
    data
        What the model takes; None for a program with data of its own.
    prior
        None for the model's default.
    options : dict
    sampler : str
        Whose options are taken; that of "auto" and "exact" would be NUTS.

    Returns
    -------
    bound : BoundModel
    sample_options : dict
    """
    if hasattr(model, "free_RVs"):
        if prior is not None:
            raise ValueError("`prior` is part of a program of your own; change it there.")
        if [rv.name for rv in model.observed_RVs] != ["counts"]:
            raise ValueError(
                "`model` as a pymc.Model must observe one variable called 'counts'; "
                f"this one observes {[rv.name for rv in model.observed_RVs]}."
            )
        own_program = "your own program"
        return BoundModel(own_program, None, model, data, {}), sampler_options(options, own_program, [], sampler)
    module = models.load(validate.choice("model", model, models.names())) if isinstance(model, str) else model
    if not hasattr(module, "model"):
        raise TypeError(
            f"`model` must be the name of a model ({', '.join(models.names())}), an object with a function `model`, "
            f"or a pymc.Model; got {type(model).__name__}."
        )
    name = model if isinstance(model, str) else getattr(model, "__name__", type(model).__name__)
    defaults = defaults_of(module.model)
    if prior is not None and "prior" not in defaults:
        raise ValueError(f"`prior` isn't an option of {name}, which states its own.")
    own = {option: value for option, value in options.items() if option in defaults}
    rest = {option: value for option, value in options.items() if option not in defaults}
    arguments = defaults | own | ({} if prior is None else {"prior": prior})
    if missing := [option for option, value in arguments.items() if value is inspect.Parameter.empty]:
        raise TypeError(f"`{missing[0]}` is an option that {name} needs.")
    return BoundModel(name, module, None, data, arguments), sampler_options(rest, name, list(defaults), sampler)


def defaults_of(function: Any) -> dict[str, Any]:
    """Return the named parameters of a model's function behind the first one, with their defaults."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return {p.name: p.default for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}


def sampler_options(options: dict[str, Any], name: str, own: list[str], sampler: str) -> dict[str, Any]:
    """Return options that a sampler takes; a TypeError for any other, with what may have been meant."""
    known = samplers.SAMPLERS.get(sampler, samplers.SAMPLERS["nuts"]).options
    for option in options:
        if option not in known:
            meant = difflib.get_close_matches(option, [*own, *known], 1)
            hint = f"; did you mean `{meant[0]}`?" if meant else "."
            who = "pymc.sample" if known is nuts.OPTIONS else f"sampler={sampler!r}"
            raise TypeError(f"`{option}` is an option of neither {name} nor {who}{hint}")
    return options


@contextmanager
def _with_counts(program: Any, counts: Any) -> Iterator[None]:
    """Give a program of the user's own these counts for a while."""
    data = {v.name: v for v in program.data_vars}.get("counts_data")
    have = np.asarray(program.rvs_to_values[program["counts"]].eval())
    values = have if counts is None else _arranged(program, counts, have.shape)
    if data is None:
        if not np.array_equal(values, have):
            raise ValueError(
                "`counts` differs from what `model` observes, and that can't be replaced: observe a pm.Data called "
                "'counts_data', or build the model with these counts."
            )
        yield
        return
    before = data.get_value()
    data.set_value(values.astype(before.dtype))
    try:
        yield
    finally:
        data.set_value(before)


def _arranged(program: Any, counts: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return counts in the order of a program's observations: by dims and labels where they have them."""
    dims = program.named_vars_to_dims.get("counts")
    if not isinstance(counts, xr.DataArray) and np.shape(counts) != shape:
        counts = check_counts(counts)  # a bare matrix
    if isinstance(counts, xr.DataArray):
        if set(MATRIX) <= set(counts.dims):
            counts = check_counts(counts)
            labels = program.coords.get(ACTUAL)
            if labels is not None and set(labels) == set(counts[ACTUAL].values.tolist()):
                counts = counts.sel({dim: list(labels) for dim in MATRIX})
            named = list(program.coords.get(CELL) or []) == cell_names(counts[ACTUAL].values.tolist())
            counts = flatten_cells(counts) if dims is None or named or CELL in dims else counts
        if dims is not None and set(dims) == set(counts.dims):
            counts = counts.transpose(*dims)
    values = validate.count_values("counts", counts)
    if values.shape != shape:
        raise ValueError(f"`counts` has the shape {values.shape}, and `model` observes {shape}.")
    return values

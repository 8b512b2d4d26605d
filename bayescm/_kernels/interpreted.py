"""The kernels without Numba: Python runs the same sources, some hundred times slower, but at once.

A module of kernels is executed a second time, apart from the first, with other imports: its decorators leave functions
as they are, or take a short loop over arrays from :mod:`bayescm._kernels.arrays`; ``math`` gives inf and NaN where it
would raise, as machine code does; and the kernels that it imports are those of this module.
"""

import builtins
import math
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from threading import RLock
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np

from bayescm._kernels import arrays

_AS_THEY_ARE = ("arrays", "codes")
_MODULES: dict[str, ModuleType] = {}
_LOCK = RLock()
_LARGEST = 709.7  # argument of exp


def load(name: str) -> ModuleType:
    """Return a module of kernels that Python runs."""
    with _LOCK:
        if name not in _MODULES:
            spec = find_spec(f"{__package__}.{name}")
            code = cast(SourceFileLoader, spec.loader).get_code(spec.name) if spec is not None else None
            if spec is None or code is None:
                raise ImportError(f"there are no kernels called {name!r}.")
            module = ModuleType(spec.name)
            module.__file__ = spec.origin
            vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
            exec(code, vars(module))
            _MODULES[name] = module
        return _MODULES[name]


def _import(
    name: str, globals: Mapping[str, Any] | None = None, locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] = (), level: int = 0,
) -> Any:  # fmt: skip
    """Import for a module of kernels."""
    package, _, last = name.rpartition(".")
    if name == "math":
        return MATH
    if package != __package__ or last in _AS_THEY_ARE:
        return builtins.__import__(name, globals, locals, fromlist, level)
    return _JIT if last == "jit" else load(last)


def _kernel[F: Callable[..., Any]](function: F) -> F:
    """Return the function, or what does the same to whole arrays."""
    module = function.__module__.rpartition(".")[2]
    return cast(F, arrays.OF.get(f"{module}.{function.__name__}", function))


_JIT = SimpleNamespace(kernel=_kernel, vector_kernel=_kernel)


def _exp(x: float) -> float:
    return math.exp(x) if x < _LARGEST else float(np.exp(np.float64(x)))


def _expm1(x: float) -> float:
    return math.expm1(x) if x < _LARGEST else float(np.expm1(np.float64(x)))


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else (-math.inf if x == 0.0 else math.nan)


def _log1p(x: float) -> float:
    return math.log1p(x) if x > -1.0 else (-math.inf if x == -1.0 else math.nan)


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


MATH = SimpleNamespace(**vars(math) | {"exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p, "sqrt": _sqrt})
"""As ``math``, but nothing is raised outside the domain or beyond the largest number."""

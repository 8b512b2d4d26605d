"""Kernels from the shared library of :mod:`bayescm._kernels.ahead`, called by ctypes, which releases the lock.

No numba here. The library is of the package (a wheel has it) or of the cache folder, and is taken where it was made of
these sources and loads here.
"""

import ctypes
import json
import os
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from bayescm._kernels.cache import folder, sources
from bayescm._kernels.notices import say
from bayescm._kernels.signatures import ENTRIES, RECORDS

NAME = "kernels.so"
V3, ANY = "v3", "any"
"""Variants of every kernel: for x86-64-v3 (AVX2 and fused products), and for any processor of the machine's kind."""

_POINTER, _INTEGER = ctypes.c_void_p, ctypes.c_int64
_NUMBERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "f": (ctypes.c_double, float), "i": (_INTEGER, index), "b": (ctypes.c_int8, bool),
}  # fmt: skip
_DTYPES = {"f": np.dtype(np.float64), "i": np.dtype(np.int64), "b": np.dtype(np.bool_)}
Converter = Callable[[Any, list[Any]], None]
_GIVEN_UP = 1
"""A kernel's status after an error, of which the second argument tells."""


class Misfit(Exception):
    """An argument isn't of the type that the library's kernel takes."""


class _Error(ctypes.Structure):
    """What Numba tells of an error: a pickled class with its arguments."""

    _fields_ = [("pickled", _POINTER), ("size", ctypes.c_int32)]


_Pointer: Any = ctypes.POINTER(_Error)


def symbol(name: str, variant: str) -> str:
    """Return a kernel's name in the library."""
    return f"{variant}_{name.replace('.', '_')}"


@cache
def get(name: str) -> Callable[..., Any] | None:
    """Return a kernel of the library, for instance "planes.reduce", or None where there is no library."""
    found = library()
    if found is None or os.environ.get("BAYESCM_COMPILE") == "jit":
        return None
    return _caller(found, name, V3 if found.bayescm_supports_v3() else ANY)


@cache
def library() -> ctypes.CDLL | None:
    """Return the library of the package or of the cache folder, if there is one that fits."""
    for place in (str(Path(__file__).parent), folder()):
        if place is not None and (file := Path(place, NAME)).exists():
            try:
                return opened(file)
            except (OSError, ValueError) as error:
                say(f"{file} isn't used, and kernels are compiled: {error}")
    return None


def opened(file: Path) -> ctypes.CDLL:
    """Load a library and check that it was made of these sources."""
    found = ctypes.CDLL(str(file))
    manifest = json.loads(ctypes.string_at(found.bayescm_manifest))
    if manifest["sources"] != sources():
        raise ValueError("it was made of other sources. `python -m bayescm._kernels.ahead` makes one of these.")
    found.bayescm_release.argtypes, found.bayescm_release.restype = [_POINTER], None
    return found


def _caller(found: ctypes.CDLL, name: str, variant: str) -> Callable[..., Any]:
    """Return a function that calls a kernel as Python would, or lets Numba compile it for arguments of other types."""
    takes, gives = ENTRIES[name]
    function, append = getattr(found, symbol(name, variant)), _converter_of_several(takes)
    function.argtypes = [_POINTER, _POINTER] + [part for leaf in _leaves(takes) for part in _parts(leaf)]
    results = gives.split()
    result = type("Result", (ctypes.Structure,), {"_fields_": [(f"f{i}", _field(x)) for i, x in enumerate(results)]})

    def call(*given: Any) -> Any:
        arguments: list[Any] = []
        try:
            append(given, arguments)
        except Misfit:
            module, _, attribute = name.partition(".")
            return getattr(import_module(f"{__package__}.{module}"), attribute)(*given)
        out, error = result(), _Pointer()
        status = function(ctypes.byref(out), ctypes.byref(error), *arguments)
        if status:
            raise _raised(name, status, error)
        taken = tuple(_taken(found, getattr(out, f"f{i}"), x) for i, x in enumerate(results))
        return taken if len(taken) > 1 else taken[0] if taken else None

    return call


def _leaves(types: str) -> Iterator[str]:
    """Yield numbers, arrays and generators, record by record."""
    for name in types.split():
        yield from _leaves(RECORDS[name]) if name in RECORDS else (name,)


def _parts(leaf: str) -> list[Any]:
    """Return the C types of an argument, as Numba lays it out: an array is its MemInfo, owner, size and so on."""
    if leaf in _NUMBERS:
        return [_NUMBERS[leaf][0]]
    if leaf == "rng":
        return [_POINTER] * 9
    return [_POINTER, _POINTER, _INTEGER, _INTEGER, _POINTER] + [_INTEGER] * (2 * int(leaf[1]))


def _converter_of_several(types: str) -> Converter:
    """Return a function that appends the parts of several arguments, or of the fields of a record."""
    converters = [_converter(name) for name in types.split()]

    def append(values: Any, arguments: list[Any]) -> None:
        for converter, value in zip(converters, values, strict=True):
            converter(value, arguments)

    return append


def _converter(name: str) -> Converter:
    """Return a function that appends the parts of an argument."""
    if name == "rng":
        return _append_generator
    if name in RECORDS:
        return _converter_of_several(RECORDS[name])
    if name in _NUMBERS:
        number = _NUMBERS[name][1]
        return lambda value, arguments: arguments.append(number(value))
    dtype, ndim, strided = _DTYPES[name[0]], int(name[1]), name.endswith("A")

    def append(value: Any, arguments: list[Any]) -> None:
        flags = value.flags
        plain = flags.c_contiguous
        if value.dtype != dtype or value.ndim != ndim or not (flags.aligned and (plain or strided)):
            raise Misfit
        size = value.size
        quick = plain and size and flags.writeable  # a quarter of the time
        address = ctypes.addressof(ctypes.c_char.from_buffer(value)) if quick else value.ctypes.data
        arguments += (None, None, size, value.itemsize, address, *value.shape, *value.strides)

    return append


def _append_generator(value: np.random.Generator, arguments: list[Any]) -> None:
    made = value.bit_generator.ctypes
    calls = (made.next_uint64, made.next_uint32, made.next_double)
    pointers = [ctypes.cast(call, _POINTER) for call in calls]
    arguments += (None, made.state_address, made.state, *pointers, made.bit_generator, None, None)


def _field(result: str) -> Any:
    """Return the C type of a result."""
    if result in _NUMBERS:
        return _NUMBERS[result][0]
    ndim = int(result[1])
    names = ("memory", "owner", "size", "itemsize", "data")
    fields = [*zip(names, _parts(result), strict=False), ("shape", _INTEGER * ndim), ("strides", _INTEGER * ndim)]
    return type("Array", (ctypes.Structure,), {"_fields_": fields})


def _taken(found: ctypes.CDLL, value: Any, result: str) -> Any:
    """Return a result; of an array a copy, and the kernel's own is given back."""
    if result in _NUMBERS:
        return bool(value) if result == "b" else value
    held = ctypes.string_at(value.data, value.size * value.itemsize)
    array = np.frombuffer(bytearray(held), _DTYPES[result[0]]).reshape(tuple(value.shape))
    found.bayescm_release(value.memory)
    return array


def _raised(name: str, status: int, error: Any) -> BaseException:
    """Return the error that a kernel ended with, as Numba would raise it."""
    if status < _GIVEN_UP or not error:
        return RuntimeError(f"the kernel {name} ended with the status {status}.")
    kind, arguments, *_ = pickle.loads(ctypes.string_at(error.contents.pickled, error.contents.size))
    return kind(*(argument for argument in arguments or () if isinstance(argument, str)))  # type: ignore[no-any-return]

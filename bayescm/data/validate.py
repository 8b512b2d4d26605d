"""Checks of arguments: one place, one voice.

Every message names the argument in backticks, says what is wanted, what came, and what to do.
"""

import re
import warnings
from collections.abc import Collection, Hashable
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_NUMBER = 1e150
"""Largest finite number that comes in: the square of a larger one is infinite."""
MAX_COUNT = 10**9
"""Largest count of one cell: above it the incomplete beta function loses digits."""
MAX_INTEGER = 2**53
"""Largest whole number that 64-bit floats hold with all that are smaller."""


def warn(message: str) -> None:
    """Warn at the user's line, however deep in the package the cause lies."""
    inside = (str(Path(__file__).parent), str(Path(__file__).parents[1] / "models"))
    warnings.warn(message, UserWarning, stacklevel=2, skip_file_prefixes=inside)


def choice(name: str, value: object, allowed: Collection[str]) -> str:
    """Return `value` if it is one of the `allowed` words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"`{name}` must be one of {words}; got {value!r}.")
    return value


def draws(value: object) -> int:
    """Return a number of `draws` that leaves some in the tails of an interval."""
    found = positive_integer("draws", value)
    if found < 1000:
        raise ValueError(f"`draws` must be at least 1000, so that the tails hold some; got {found}.")
    return found


def number(name: str, value: object, lower: float, upper: float, *, closed: bool = False) -> float:
    """Return `value` as a float inside an interval, open unless `closed`."""
    wanted = f"a number in {'[' if closed else '('}{lower:g}, {upper:g}{']' if closed else ')'}"
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        result = np.nan
    if isinstance(value, str | bool) or (np.isnan(result) and not isinstance(value, float)):
        raise TypeError(f"`{name}` must be {wanted}; got {_short(value)}.")
    inside = lower <= result <= upper if closed else lower < result < upper
    if not inside:
        share = f" As a share it is {result / 100:g}." if upper == 1 < result <= 100 else ""
        raise ValueError(f"`{name}` must be {wanted}; got {_short(value)}.{share}")
    return result


def fraction(value: Any) -> Any:
    """Return "1%" as 0.01, and anything else as it is."""
    text = value.strip() if isinstance(value, str) else ""
    return float(text.removesuffix("%")) / 100.0 if re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*%", text) else value


def ends(lower: object, upper: object) -> tuple[float, float]:
    """Return the two ends of an interval of rates."""
    low, high = number("lower", lower, 0, 1), number("upper", upper, 0, 1)
    if not low < high:
        raise ValueError(f"`lower` must be below `upper`; got {low:g} and {high:g}.")
    return low, high


def beta_numbers(name: str, value: Any) -> Any:
    """Return the two numbers of a Beta that came as a distribution (PreliZ or PyMC); anything else as it is."""
    node: Any = getattr(value, "owner", None)
    if type(getattr(node, "op", None)).__name__ == "BetaRV":
        first, second = (float(number.eval()) for number in node.op.dist_params(node))
        return first, second
    if not (hasattr(value, "alpha") and hasattr(value, "beta")):
        return value
    if type(value).__name__ != "Beta" or value.alpha is None or value.beta is None:
        raise TypeError(f"`{name}` as a distribution must be a Beta with its two numbers set; got {value!r}.")
    return float(value.alpha), float(value.beta)


def positive_integer(name: str, value: object) -> int:
    """Return `value` as an int of at least one."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(f"`{name}` must be a positive integer; got {value!r}.")
    if value < 1:
        raise ValueError(f"`{name}` must be a positive integer; got {value!r}.")
    if value > MAX_INTEGER:
        raise ValueError(f"`{name}` must be at most {MAX_INTEGER:,}; got {value!r}.")
    return int(value)


def array_of(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return an array, or say which entry is masked: NumPy would take the number behind the mask."""
    where = _masked(values)
    if where:
        at = where[0] if len(where[0]) > 1 else where[0][0] if where[0] else 0
        raise ValueError(
            f"`{name}` has {len(where)} masked {'entry' if len(where) == 1 else 'entries'}, the first at position "
            f"{at}: masked is missing. Leave such items out, everywhere alike, or fill them in (.filled)."
        )
    try:
        return np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError(f"`{name}` must be a rectangular array; got {_short(values)}.") from None


def _short(value: Any) -> str:
    """Return a value as text, the beginning of a long one."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _masked(values: Any) -> list[tuple[int, ...]]:
    """Return where a masked array, or a list that holds some, is masked."""
    if isinstance(values, np.ma.MaskedArray):
        return [tuple(map(int, at)) for at in np.argwhere(np.ma.getmaskarray(values))]
    if not isinstance(values, list | tuple):
        return []
    parts = ((i, part) for i, part in enumerate(values) if isinstance(part, list | tuple | np.ma.MaskedArray))
    return [(i, *at) for i, part in parts for at in _masked(part)]


def missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which values are missing: NaN, None, pandas' NA and NaT."""
    if array.dtype.kind != "O":
        return np.isnan(array) if array.dtype.kind in "fcmM" else np.zeros(array.shape, bool)
    absent = [v is None or type(v).__name__ == "NAType" or bool(np.all(v != v)) for v in array.flat]
    return np.array(absent, bool).reshape(array.shape)


def count_values(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """Return whole, non-negative counts as int64, or say which value is not one."""
    array = array_of(name, values)
    if array.dtype.kind == "O" and not any(isinstance(value, str | bytes) for value in array.flat):
        array = np.where(missing(array), np.nan, array)
        array = _floats(name, array)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"`{name}` must hold numbers of items; got values of type {array.dtype}.")
    if array.size == 0:
        raise ValueError(f"`{name}` is empty; give at least one confusion matrix.")
    if (
        array.min() >= 0
        and array.max() <= MAX_COUNT
        and (array.dtype.kind != "f" or bool((array == array.round()).all()))
    ):
        return array.astype(np.int64)
    _first_bad(name, array, np.isnan(array), "has a missing value; use 0 for a cell that never occurred")
    _first_bad(name, array, np.isinf(array), "has an infinite value")
    _first_bad(name, array, array < 0, "must not be negative")
    _first_bad(
        name,
        array,
        array > MAX_COUNT,
        f"must not exceed {MAX_COUNT:,} in a cell (the incomplete beta function loses its digits beyond); "
        "divide the matrix by a constant to get a conservative answer",
    )
    if array.dtype.kind == "f":
        _first_bad(
            name,
            array,
            array != np.floor(array),
            "must be whole numbers of items. Weights and shares are refused because they say nothing about the "
            "number of items behind them: count the items, or rescale the weighted shares to Kish's effective "
            "sample size (sum of weights)^2 / (sum of squared weights) and round",
        )
    return array.astype(np.int64)


def _floats(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of any type as floats; an array that holds something else as it is."""
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise ValueError(f"`{name}` has a whole number of more than 300 digits, larger than any float.") from None
    except (TypeError, ValueError):
        return array


def known_sizes(name: str, array: Any) -> None:
    """Refuse lazy arrays whose sizes aren't known before they are computed."""
    if any(size != size for size in array.shape):
        raise ValueError(
            f"`{name}` has chunks of unknown sizes, as dask has after a selection by values: call "
            ".compute_chunk_sizes() on its dask array first, or .compute()."
        )


def columns_once(name: str, frame: Any) -> None:
    """Refuse a data frame that has two columns of one name, of which one would be taken without a word."""
    columns = list(frame.columns) if hasattr(frame, "iloc") and hasattr(frame, "columns") else []  # others have none
    twice = next((column for i, column in enumerate(columns) if column in columns[:i]), None)
    if twice is not None:
        raise ValueError(f"`{name}` as a frame has two columns called {twice!r}; every column needs a name of its own.")


def _first_bad(name: str, array: NDArray[Any], bad: NDArray[np.bool_], wanted: str) -> None:
    """Raise a ValueError that shows the first value marked `bad`."""
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(np.atleast_1d(bad))[0])
        at = f" at position {where if len(where) > 1 else where[0]}" if array.ndim else ""
        raise ValueError(f"`{name}` {wanted}; got {np.atleast_1d(array)[where].item()!r}{at}.")


def one_dimensional(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return a non-empty array with one axis, refusing strings that NumPy made of mixed values."""
    array = array_of(name, values)
    if array.ndim != 1:
        raise ValueError(f"`{name}` must have one dimension; got shape {array.shape}.")
    if array.size == 0:
        raise ValueError(f"`{name}` is empty; give at least one item.")
    if array.dtype.kind == "U" and isinstance(values, list | tuple):
        kinds = {type(value).__name__ for value in values if not isinstance(value, str)}
        if kinds:
            raise ValueError(f"`{name}` mixes text with {', '.join(sorted(kinds))}; give all labels one type.")
    return array


def real_numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return real numbers as float64, refusing what would not survive the conversion."""
    array = one_dimensional(name, values)
    if (absent := missing(array)).any():
        raise ValueError(f"`{name}` has a missing value at position {int(np.argmax(absent))}.")
    if array.dtype.kind == "O" and all(isinstance(value, Real) for value in array):
        array = _floats(name, array)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"`{name}` must be real numbers; got values of type {array.dtype}.")
    result = array.astype(np.float64)
    if (array.dtype.kind in "iu" and (np.abs(result) >= 2**53).any()) or (result != array).any():
        raise ValueError(f"`{name}` has numbers that 64-bit floats can't hold, so ties would merge; rescale them.")
    _first_bad(
        name, result, np.isfinite(result) & (np.abs(result) > MAX_NUMBER),
        f"must not exceed {MAX_NUMBER:g} unless infinite (squares overflow); rescale it, or give inf for what is "
        "beyond all others",
    )  # fmt: skip
    return result


def same_length(**arrays: NDArray[Any]) -> None:
    """Require arrays of one length."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        each = " and ".join(f"`{name}` has {n}" for name, n in lengths.items())
        raise ValueError(f"{each} items; give one of each per item.")


def listed(name: str, value: Any) -> list[Any]:
    """Return the entries of a sequence, or say that it is none."""
    if isinstance(value, type) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        raise TypeError(f"`{name}` must be a sequence, such as a list; got {value!r}.")
    return list(value)


def unique(name: str, values: Collection[Hashable]) -> None:
    """Require that no value occurs twice."""
    seen: set[Hashable] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"`{name}` has {value!r} twice; every entry must be different.")
        seen.add(value)


def seed(random_seed: int | np.random.Generator | None) -> int:
    """Return a seed that reproduces the run: the one given, or a fresh one to be recorded."""
    if random_seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0] >> np.uint32(1))  # 31 bits: a netCDF 3 file holds it
    if isinstance(random_seed, np.random.Generator):
        return int(random_seed.integers(2**31))
    if isinstance(random_seed, bool) or not isinstance(random_seed, int | np.integer):
        raise TypeError(
            f"`random_seed` must be an integer, a numpy.random.Generator or None; got {type(random_seed).__name__}."
        )
    if not 0 <= random_seed < 2**63:
        raise ValueError(f"`random_seed` must be in [0, 2**63); got {random_seed}.")
    return int(random_seed)

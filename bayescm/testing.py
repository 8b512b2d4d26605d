"""A gate in a test: ``assert_not_worse``, a fixture of pytest as well."""

from typing import Any

import bayescm

try:
    import pytest
except ImportError:  # the function alone
    pytest = None  # type: ignore[assignment]


def assert_not_worse(new: Any, old: Any, margin: float | None = None, **options: Any) -> Any:
    """Fail unless a new system passes a gate beside the old one, and say why.

    Parameters
    ----------
    new, old, margin, **options
        As in :func:`bayescm.gate`. Without a margin it fails only where the new system is shown to be worse.

    Returns
    -------
    xarray.Dataset
        What the gate found.

    Raises
    ------
    AssertionError
        With the sentence and the table of the gate.

    Examples
    --------
    >>> from bayescm.testing import assert_not_worse
    >>> found = assert_not_worse([1] * 180 + [0] * 20, [1] * 179 + [0] * 21, margin=0.05)
    >>> found.attrs["verdict"]
    'not worse'
    """
    __tracebackhide__ = True
    found = bayescm.gate(new, old, margin=margin, **options)
    if not found.attrs["passed"]:
        raise AssertionError(f"{found!r}")
    return found


if pytest is not None:

    @pytest.fixture(name="assert_not_worse")
    def _assert_not_worse() -> Any:
        """Return the function of this name."""
        return assert_not_worse

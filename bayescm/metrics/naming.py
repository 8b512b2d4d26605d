"""The coordinate ``metric``: canonical names, found by any name of the metric."""

from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex

from bayescm.data.schema import ALIAS, METRIC


class Names(pd.Index):  # type: ignore[misc]
    """Names of metrics, of which one is found by its other names too: "sensitivity", "mcc", "sensitivity[a]".

    An index of pandas, made as xarray makes its own of calendars: results align with any others, by canonical names.
    """

    def __new__(cls, data: Any, name: Any = METRIC, **_: Any) -> Self:
        """Make the index; pickle calls this too."""
        made: Any = pd.Index(data, dtype=object, name=name)
        made.__class__ = cls
        return cast(Self, made)

    def get_loc(self, key: Any) -> Any:
        """Return the place of a metric."""
        if not isinstance(key, str) or key in self:
            return super().get_loc(key)
        from bayescm.metrics import resolve

        base, bracket, label = key.partition("[")
        try:
            return super().get_loc(resolve(base, 3)[0].name + bracket + label)
        except ValueError as error:
            raise KeyError(str(error)) from None
        except KeyError:
            raise KeyError(f"the result has no metric {key!r}; it has {', '.join(map(str, self))}") from None


def naming(metric: Any) -> dict[str, str]:
    """Return how attrs name a metric."""
    return {METRIC: metric.name} | ({ALIAS: metric.alias} if metric.alias else {})


def named(names: Sequence[str]) -> xr.Variable:
    """Return the coordinate ``metric`` of these names."""
    return PandasIndex(Names(names), METRIC, coord_dtype=np.asarray(names).dtype).create_variables()[METRIC]

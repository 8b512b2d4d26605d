"""CurveDisplay: a curve with its uncertainty in the habit of scikit-learn's displays, without importing it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.curves import curve_band, curve_posterior
from bayescm.data import validate
from bayescm.data.labels import Label, positive_last
from bayescm.data.schema import CHAIN, DRAW
from bayescm.data.words import BandMethod, Plane
from bayescm.distributions.sample import bounds
from bayescm.plots.areas import posterior_of
from bayescm.plots.curves import bands_on, curve_layers, draw_curves, statement_of
from bayescm.plots.frames import Axes, list_legend, new_axes
from bayescm.plots.letters import formulas, write
from bayescm.plots.planes import draw_chance
from bayescm.priors.concentrations import PrevalenceLike
from bayescm.results.writing import decimals_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

_AREAS = {"roc": ("AUC", "auc"), "pr": ("AP", "average_precision")}
_METHODS = ("predict_proba", "decision_function")
_OF_BAND = ("space", "method", "ci_prob")
_OF_POSTERIOR = ("prior", "prevalence", "random_seed", "pos_label")


class CurveOptions(TypedDict, total=False):
    """What every door of CurveDisplay takes."""

    space: str
    method: str
    ci_prob: float
    prior: str | float | None
    prevalence: PrevalenceLike
    random_seed: int | np.random.Generator | None
    pos_label: Label | None
    color: Any
    point: bool
    median: bool
    iso_f1: bool | Sequence[float]
    plot_chance_level: bool


class CurveDisplay:
    """A ROC or PR curve with its band, in the habit of scikit-learn's displays.

    Make it by :meth:`from_estimator`, :meth:`from_predictions` or :meth:`from_cv_results`, which also draw it.

    Parameters
    ----------
    posterior : xarray.DataTree
        From :func:`bayescm.curve_posterior` over rates.
    method, space, ci_prob
        Of the band, as in :func:`bayescm.curve_band`.

    Attributes
    ----------
    posterior : xarray.DataTree
        The draws, with everything that was read from them.
    band : xarray.Dataset
        From :func:`bayescm.curve_band`.
    ax_ : matplotlib.axes.Axes
        After drawing.
    figure_ : matplotlib.figure.Figure
        After drawing.

    Examples
    --------
    >>> import bayescm
    >>> y = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    >>> s = [0.1, 0.2, 0.2, 0.3, 0.5, 0.6, 0.4, 0.7, 0.8, 0.9]
    >>> display = bayescm.CurveDisplay.from_predictions(y, s, name="mine", random_seed=1)
    >>> display.ax_.get_legend().get_texts()[0].get_text()  # doctest: +ELLIPSIS
    'mine (AUC = 0.8... [0.5..., 0.9...])'
    """

    ax_: Axes
    figure_: "Figure | SubFigure"

    def __init__(
        self,
        posterior: xr.DataTree,
        *,
        method: BandMethod = "simultaneous",
        space: Plane = "roc",
        ci_prob: float = 0.95,
    ) -> None:
        self.posterior = posterior
        self.band = curve_band(posterior, method=method, space=space, ci_prob=ci_prob)
        self._name: str | None = None

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        color: Any = None,
        plot_chance_level: bool | None = None,
        **kwargs: Any,
    ) -> "CurveDisplay":
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Default: a new figure. Several displays can share axes: the colours and the legend go on.
        name : str, optional
            In the legend.
        color : color, optional
            Of the curve and its band; only for a single curve.
        plot_chance_level : bool, optional
            Whether there is the line of guessing: the diagonal of the ROC plane (by default there), on the PR plane the
            prevalence (by default not), the posterior median.
        **kwargs
            `point`, `median` and `iso_f1` of :func:`bayescm.plots.plot_curve`.

        Returns
        -------
        CurveDisplay
            This one, with ``ax_`` and ``figure_``.

        Notes
        -----
        The legend gives the area under the curve, AUC or on the PR plane average precision (AP): posterior median and
        equal-tailed interval.
        """
        _known_options(kwargs)
        before = formulas(ax)
        ax = new_axes(ax, (5.4, 5.2))
        shown = curve_layers(self.band, None, bands_on(ax))
        if color is not None:
            if len(shown) > 1:
                raise ValueError(f"`color` is for a single curve; these are {len(shown)}. Leave it out.")
            shown = [shown[0]._replace(color=color)]
        name = self._name if name is None else str(name)
        statement = statement_of(self.band)
        old = ax.get_legend()
        said = statement if old is None else old.get_title().get_text()
        artists = draw_curves(ax, shown, chance=plot_chance_level is not False, **kwargs)
        if plot_chance_level and self.band.attrs["space"] == "pr":
            draw_chance(ax, level=float(posterior_of(self.posterior)["prevalence"].median()))
        for artist, layer, area in zip(artists, shown, self._areas(), strict=True):
            label = " ".join(part for part in (name, layer.name) if part)
            label = f"{label} ({area})" if label else area
            artist.set_label(label if said == statement else f"{label};\n{statement}")
        list_legend(ax, said)
        write(ax, before)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _areas(self) -> list[str]:
        """Return what the legend says of the area under each curve."""
        short, variable = _AREAS[str(self.band.attrs["space"])]
        level = float(self.band.attrs["ci_prob"])
        draws = posterior_of(self.posterior)[variable]
        values = draws.transpose(..., CHAIN, DRAW).values.reshape(-1, draws.sizes[CHAIN] * draws.sizes[DRAW])
        found = []
        for lower, median, upper in bounds(values, level).T:
            digits = decimals_of(float(lower), float(upper))
            found.append(f"{short} = {median:.{digits}f} [{lower:.{digits}f}, {upper:.{digits}f}]")
        return found

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Unpack[CurveOptions],
    ) -> Self:
        """Draw the curve of scores.

        Parameters
        ----------
        y_true, y_score
            As in :func:`bayescm.curve_posterior`. With several systems there is a curve for each.
        name, ax
            As in :meth:`plot`.
        **options
            `prior`, `prevalence`, `random_seed` and `pos_label` of :func:`bayescm.curve_posterior`; `space` ("roc" or
            "pr"), `method` and `ci_prob` of :func:`bayescm.curve_band`; `color`, `point`, `median`, `iso_f1` and
            `plot_chance_level` of :meth:`plot`.

        Returns
        -------
        CurveDisplay

        Examples
        --------
        >>> import bayescm
        >>> y, s = [0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.3, 0.2, 0.8, 0.9]
        >>> display = bayescm.CurveDisplay.from_predictions(y, s, space="pr", random_seed=1)
        >>> display.band.attrs["statement"]
        'simultaneous at 91 values of recall from 0.05 to 0.95'
        """
        return cls._drawn(y_true, y_score, options, name, ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # scikit-learn's name
        y: ArrayLike,
        *,
        response_method: str = "auto",
        name: str | None = None,
        ax: Axes | None = None,
        **options: Unpack[CurveOptions],
    ) -> Self:
        """Draw the curve of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : object
            A fitted classifier with ``classes_``, and ``predict_proba`` or ``decision_function``.
        X : array_like
            What it is to score.
        y : array_like of shape (n,)
            Actual labels.
        response_method : {"auto", "predict_proba", "decision_function"}
            Where scores come from; "auto": the first of both that it has.
        name : str, optional
            In the legend; default: that of the estimator's class.
        ax, **options
            As in :meth:`from_predictions`; `pos_label` is by default as in :func:`bayescm.confusion_matrix`, from
            ``classes_``.

        Returns
        -------
        CurveDisplay

        Raises
        ------
        TypeError
            If it isn't a classifier.
        ValueError
            If it knows more than two classes.

        Examples
        --------
        >>> import numpy as np
        >>> import bayescm
        >>> class Sign:
        ...     classes_ = np.array([0, 1])
        ...
        ...     def decision_function(self, X):
        ...         return X[:, 0]
        >>> X = np.array([[-2.0], [-1.0], [0.5], [-0.5], [1.0], [2.0]])
        >>> display = bayescm.CurveDisplay.from_estimator(Sign(), X, [0, 0, 0, 1, 1, 1], random_seed=1)
        >>> display.ax_.get_legend().get_texts()[0].get_text().split(" (")[0]
        'Sign'
        """
        score, classes, options["pos_label"] = _response(estimator, X, response_method, options.get("pos_label"))
        return cls._drawn(y, score, options, type(estimator).__name__ if name is None else name, ax, labels=classes)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,  # scikit-learn's name
        y: ArrayLike,
        *,
        response_method: str = "auto",
        name: str | None = None,
        ax: Axes | None = None,
        **options: Unpack[CurveOptions],
    ) -> Self:
        """Draw a curve for every fold of a cross-validation.

        Parameters
        ----------
        cv_results : mapping
            Of scikit-learn's ``cross_validate``, with ``return_estimator=True`` and ``return_indices=True``.
        X : array_like
            What was cross-validated.
        y : array_like of shape (n,)
            Actual labels.
        response_method, name, ax, **options
            As in :meth:`from_estimator`.

        Returns
        -------
        CurveDisplay
            Every fold has a posterior of its own, over the dim ``fold``: of the classifier that was fitted to the
            others.

        Raises
        ------
        ValueError
            If `cv_results` has no estimators or indices.

        Examples
        --------
        >>> import numpy as np
        >>> import bayescm
        >>> class Sign:
        ...     classes_ = np.array([0, 1])
        ...
        ...     def decision_function(self, X):
        ...         return X[:, 0]
        >>> X = np.array([[-2.0], [-1.0], [0.5], [-0.5], [1.0], [2.0]])
        >>> cv_results = {"estimator": [Sign(), Sign()], "indices": {"test": [[0, 1, 4], [2, 3, 5]]}}
        >>> display = bayescm.CurveDisplay.from_cv_results(cv_results, X, [0, 0, 0, 1, 1, 1], random_seed=1)
        >>> display.band.fold.values
        array([0, 1])
        """
        if not {"estimator", "indices"} <= set(cv_results):
            raise ValueError(
                "`cv_results` must be of cross_validate(..., return_estimator=True, return_indices=True); it has "
                f"{', '.join(map(str, cv_results))}."
            )
        tests = [np.asarray(test) for test in cv_results["indices"]["test"]]
        rows = X if hasattr(X, "shape") else np.asarray(X)
        pos_label = options.get("pos_label")
        scored = [
            _response(one, rows.iloc[test] if hasattr(rows, "iloc") else rows[test], response_method, pos_label)
            for one, test in zip(cv_results["estimator"], tests, strict=True)
        ]
        _, classes, options["pos_label"] = scored[0]
        folds = {"fold": np.repeat(np.arange(len(tests)), list(map(len, tests)))}
        truth, scores = np.asarray(y)[np.concatenate(tests)], np.concatenate([score for score, _, _ in scored])
        return cls._drawn(truth, scores, options, name, ax, labels=classes, by=folds)

    @classmethod
    def _drawn(
        cls, y_true: Any, y_score: Any, options: CurveOptions, name: str | None, ax: Axes | None, **more: Any
    ) -> Self:
        """Draw curves, after the options of the picture are known to be right."""
        given: dict[str, Any] = dict(options)
        band, posterior = (
            {name: given.pop(name) for name in names if name in given} for names in (_OF_BAND, _OF_POSTERIOR)
        )
        _known_options({key: value for key, value in given.items() if key != "color"})
        made = cls(curve_posterior(y_true, y_score, **posterior, **more), **band)
        made._name = name
        made.plot(ax, **given)
        return made


def _known_options(options: dict[str, Any]) -> None:
    """Refuse options that a picture of curves doesn't have."""
    for name in options:
        if name not in ("point", "median", "iso_f1", "plot_chance_level"):
            raise TypeError(
                f"`{name}` isn't an option of CurveDisplay, which has point, median, iso_f1, plot_chance_level and "
                "color; change anything else on `ax_`."
            )


def _response(
    estimator: Any, X: Any, method: str, pos_label: Label | None
) -> tuple[NDArray[np.float64], list[Any], Any]:
    """Return scores that are larger for the positive class, both classes (the positive one last), and that one."""
    validate.choice("response_method", method, ("auto", *_METHODS))
    has = [one for one in _METHODS if hasattr(estimator, one)]
    if not has or isinstance(estimator, type):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(
            f"`estimator` must be a classifier with predict_proba or decision_function; got {what}. "
            "Scores of anything else go into CurveDisplay.from_predictions."
        )
    if method != "auto" and method not in has:
        raise ValueError(f"`response_method` {method!r} isn't in {type(estimator).__name__}, which has {has[0]!r}.")
    used = has[0] if method == "auto" else method
    score = np.asarray(getattr(estimator, used)(X))  # one that isn't fitted says so here
    classes = _classes(estimator)
    positive = classes[positive_last(classes, pos_label)[-1]]
    wanted = 2 if used == "predict_proba" else 1
    if score.ndim != wanted or (wanted == 2 and score.shape[1] != 2):
        raise ValueError(f"`estimator` must give scores of two classes; {used} gave an array of shape {score.shape}.")
    first = classes.index(positive) == 0
    if used == "predict_proba":
        score = score[:, classes.index(positive)]
    elif first:
        score = -score
    return score, classes[::-1] if first else classes, positive


def _classes(estimator: Any) -> list[Any]:
    """Return the two classes of a fitted classifier."""
    if not hasattr(estimator, "classes_"):
        raise TypeError(
            f"`estimator` must be a classifier with `classes_`, which {type(estimator).__name__} lacks. "
            "Scores of anything else go into CurveDisplay.from_predictions."
        )
    classes = np.asarray(estimator.classes_).tolist() if np.ndim(estimator.classes_) == 1 else []
    if len(classes) != 2:
        output = f"{len(classes)} classes" if classes else "several outputs"
        raise ValueError(
            f"`estimator` must know two classes; {type(estimator).__name__} has {output}. "
            "Draw one class against the rest with CurveDisplay.from_predictions."
        )
    return classes

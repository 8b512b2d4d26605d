"""What an answer takes for granted, in short sentences: the attr `assumptions` of results, and the feet of tables.

An interval holds under its assumptions and not otherwise, so they stand where it is read. The page "What question does
this answer?" says what to do where one of them fails.
"""

from typing import Any

ITEMS = "independent items of one population"
EACH_CLASS = "independent items of each class"
FIXED = "independent items of each class, whose totals were fixed by design"
EXCHANGED = "the rates of each class are the same at that prevalence"
SAME_ITEMS = "all systems answered the same items"
RUNS = "an item's runs are averaged, and how many there are didn't depend on how they went"
OWN_ITEMS = "each system answered items of its own"
ONE_KIND = "systems of one kind, whose true values scatter around one or two common ones, but for a few"
OF_PROGRAM = "those of the program"
SECOND_TEST = "a second test of the same classifier on the same population"
STATED = "rates as stated"
PILOTED = "rates as the pilot leaves them, averaged over its posterior"
CHECKED = "independent items of each stratum and verdict, of which those to be checked were chosen by these alone"
IN_STRATA = "independent items of each stratum, whatever the verdict"
PRINTED = "all printed numbers are of one matrix of so many items, whose cells are weighed by the prior"
SEEN = "of losses: no score far from those seen, which could lose any amount of log loss"
RANKED = "independent rankings, in each of which the next is chosen from those left by worth alone"
JUDGES = "several rankings by one judge, or of one question, aren't independent: intervals are too short then"
TEST_SET = "uncertainty of the test set only, not of training"

OF_MODELS = {
    "kfold": "independent items in every fold, of one population",
    "fold_scores": "normal scores, any two equally correlated as their training sets overlap",
    "overdispersed": "independent clusters of one population, whose items may be alike",
    "paired": f"{ITEMS}; {SAME_ITEMS}",
    "hierarchical": f"systems of one kind; {OWN_ITEMS}, independent",
    "regression": "independent items given covariates and groups, whose effects add up in logits; groups of one kind",
    "latent_class": "independent items of each population; tests err independently of each other, given the truth",
    "latent_class, dependence": "independent items of each population; tests err together on items that are hard for "
    "all",
    "binormal": f"{EACH_CLASS}; normal scores in each",
    "stratified": CHECKED,
    "misclassified": EACH_CLASS,
}
"""Of the models that take more, or something else, than independent items of one population."""
TRAINED = {"fold_scores": "uncertainty of training and of the test sets"}
_FITTED = (
    "the mean performance of these fitted models on this population; not that of the recipe on new training sets, for "
    "which model 'fold_scores' is meant"
)
TARGETS = {
    "complete": _FITTED,
    "average": f"{_FITTED}; where folds are small it misses both, as its prior counts once in every fold",
    "partial": "a typical fold of this cross-validation; not the recipe on another sample, for which model "
    "'fold_scores' is meant",
}
"""What an interval of the model ``kfold`` is for, by its pooling."""

OF_AUDIT = {
    "process": "about the process that made these items, whose totals are a sample, too",
    "population": "about a population whose strata have exactly the shares of the totals",
    "items": "about these items and no others",
    "others": "about other items, of which none was checked: each class is taken for another as often as in those that "
    "were",
}
"""What an answer for items of which only some were checked is about."""


def assumed(prevalence: Any = None, *more: str, items: str = ITEMS, error: str = TEST_SET) -> str:
    """Return what an answer assumes, as one line of text.

    Parameters
    ----------
    prevalence : None, "fixed", number or sequence
        As in :func:`bayescm.summary`.
    *more : str
        Further assumptions.
    items : str
        How the items came about.
    error : str
        What the uncertainty is about.

    Returns
    -------
    str

    Examples
    --------
    >>> from bayescm.data.assumptions import assumed
    >>> assumed(0.1)  # doctest: +NORMALIZE_WHITESPACE
    'independent items of one population; the rates of each class are the same at that prevalence; uncertainty of the
    test set only, not of training'
    """
    fixed = isinstance(prevalence, str)  # "fixed", or "pilot" of a plan
    if fixed and prevalence == "fixed":
        items = FIXED if items == ITEMS else items
    exchanged = () if prevalence is None or fixed else (EXCHANGED,)
    return "; ".join((items, *exchanged, *more, error))


def of_runs(runs: int) -> list[str]:
    """Return what is assumed where systems answered an item several times."""
    return [RUNS] if runs > 1 else []


def of_model(name: str | None, prevalence: Any, options: dict[str, Any]) -> dict[str, str]:
    """Return the attrs that say what a model by its name assumes and, for folds, what its interval is for."""
    if name is None:
        return {"assumptions": OF_PROGRAM}
    more = [OF_AUDIT[options["of"]]] if "of" in options else []
    name = f"{name}, dependence" if options.get("dependence") else name
    said = {
        "assumptions": assumed(prevalence, *more, items=OF_MODELS.get(name, ITEMS), error=TRAINED.get(name, TEST_SET))
    }
    return said | ({"target": TARGETS[options["pooling"]]} if name == "kfold" else {})

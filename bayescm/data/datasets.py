"""Example tables, each with its source."""

from importlib.resources import files

import numpy as np
import xarray as xr

from bayescm.data.counts import from_cells
from bayescm.data.schema import ITEM, SYSTEM, THRESHOLD


def toetsch2021() -> xr.DataArray:
    """Return the 24 published classifiers of Toetsch and Hoffmann 2021, Table S1 (CC BY).

    Returns
    -------
    xarray.DataArray
        ``counts(system, actual, predicted)`` with coordinates ``doi`` and ``location`` of each publication.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.datasets.toetsch2021().sel(system="7a").values
    array([[ 6,  2],
           [ 0, 26]])
    """
    text = (files("bayescm") / "data" / "sets" / "toetsch_table_s1.csv").read_text(encoding="utf-8")
    header, *rows = (line.split(",") for line in text.splitlines())
    column = {name: np.array([row[i] for row in rows]) for i, name in enumerate(header)}
    cells = {name.lower(): column[name].astype(np.int64) for name in ("TP", "FN", "FP", "TN")}
    counts = from_cells(tp=cells["tp"], fn=cells["fn"], fp=cells["fp"], tn=cells["tn"])
    return counts.assign_coords(
        {SYSTEM: column["id"], "doi": (SYSTEM, column["doi"]), "location": (SYSTEM, column["location"])}
    ).assign_attrs(source="Toetsch and Hoffmann 2021, PeerJ Computer Science 7:e398, Table S1, CC BY")


def caelen2017() -> xr.DataArray:
    """Return classifiers A and B of Caelen 2017, section 4.

    Returns
    -------
    xarray.DataArray
        ``counts(system, actual, predicted)``.
    """
    counts = from_cells(tp=[65, 50], fn=[15, 30], fp=[35, 30], tn=[30, 35])
    return counts.assign_coords({SYSTEM: ["A", "B"]}).assign_attrs(
        source="Caelen 2017, Annals of Mathematics and Artificial Intelligence 81, section 4"
    )


def urlus2023() -> xr.DataArray:
    """Return the reference curve of Urlus et al. 2023: one classifier at seven thresholds.

    Returns
    -------
    xarray.DataArray
        ``counts(threshold, actual, predicted)``.
    """
    counts = from_cells(
        tn=[81, 109, 161, 201, 232, 248, 254],
        fp=[175, 147, 95, 55, 24, 8, 2],
        fn=[2, 7, 21, 41, 78, 121, 155],
        tp=[242, 237, 223, 203, 166, 123, 89],
        dims=THRESHOLD,
    )
    return counts.assign_coords({THRESHOLD: [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]}).assign_attrs(
        source="Urlus et al. 2023, reference data of the package mmu"
    )


def hui_walter1980() -> xr.DataArray:
    """Return the two skin tests for tuberculosis in two populations of Hui and Walter 1980: no gold standard.

    Returns
    -------
    xarray.DataArray
        ``counts(population, mantoux, tine)``: how many had each pair of results, 0 negative and 1 positive.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.datasets.hui_walter1980().sum(("mantoux", "tine")).values
    array([ 555, 1322])
    """
    return xr.DataArray(
        [[[528, 9], [4, 14]], [[367, 37], [31, 887]]],
        dims=("population", "mantoux", "tine"),
        coords={"population": ["school", "sanatorium"], "mantoux": [0, 1], "tine": [0, 1]},
        name="counts",
        attrs={"source": "Hui and Walter 1980, Biometrics 36:167"},
    )


def corani2017() -> xr.DataArray:
    """Return accuracies of naive Bayes and C4.5 (J48) on 54 data sets, ten runs of 10-fold cross-validation each.

    Returns
    -------
    xarray.DataArray
        ``scores(classifier, dataset, fold)`` of shape (2, 54, 100): ``nbc`` and ``j48``. Names of data sets are those
        of the source (some lost a letter); ``credit`` and ``credit-2`` are the same numbers there, too.

    Examples
    --------
    >>> import bayescm
    >>> scores = bayescm.datasets.corani2017()
    >>> difference = scores.sel(classifier="j48") - scores.sel(classifier="nbc")
    >>> round(float(difference.mean()), 2)
    0.9
    """
    text = (files("bayescm") / "data" / "sets" / "corani2017_nbc_j48.csv").read_text(encoding="utf-8")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    names = list(dict.fromkeys(row[1] for row in rows))
    values = np.array([row[2:] for row in rows], dtype=np.float64).reshape(2, len(names), -1)
    return xr.DataArray(
        values,
        dims=("classifier", "dataset", "fold"),
        coords={"classifier": ["nbc", "j48"], "dataset": names, "fold": np.arange(values.shape[-1])},
        name="scores",
        attrs={
            "long_name": "Accuracy",
            "units": "%",
            "source": "documentation of the package baycomp (MIT); Corani et al. 2017, Machine Learning 106",
        },
    )


def kaggle2019() -> xr.Dataset:
    """Return the ten best of the private leaderboard of Kaggle's Recursion Cellular Image Classification.

    Returns
    -------
    xarray.Dataset
        ``correct(system)`` and ``wrong(system)``, and the published ``accuracy(system)``. Kaggle didn't say how many
        images there were: 15,123 is the guess of Toetsch and Hoffmann (2021), 76% of 19,899.

    Examples
    --------
    >>> import bayescm
    >>> board = bayescm.datasets.kaggle2019()
    >>> board.correct.values[:3]
    array([15087, 15073, 15062])
    """
    correct = np.array([15087, 15073, 15062, 15049, 15047, 15029, 15017, 15017, 15014, 15008])
    accuracy = [0.99763, 0.99672, 0.99596, 0.99512, 0.99498, 0.9938, 0.99296, 0.99296, 0.99282, 0.9924]
    teams = [
        "3467175",
        "3394520",
        "3338942",
        "3339018",
        "3338836",
        "3429037",
        "3346448",
        "3338664",
        "3338358",
        "3339624",
    ]
    return xr.Dataset(
        {"correct": (SYSTEM, correct), "wrong": (SYSTEM, 15123 - correct), "accuracy": (SYSTEM, accuracy)},
        coords={SYSTEM: teams},
        attrs={"source": "public leaderboard, as in Toetsch and Hoffmann 2021, PeerJ Computer Science 7:e398, Fig. 5"},
    )


def van_dyke1993() -> xr.Dataset:
    """Return the readings of Van Dyke et al. 1993: five readers, 114 patients, two modalities of magnetic resonance.

    Returns
    -------
    xarray.Dataset
        ``rating(system, reader, item)`` from 1 to 5, that there is a dissection of the thoracic aorta, and
        ``truth(item)``, whether there was one (45 patients).

    Examples
    --------
    >>> import bayescm
    >>> study = bayescm.datasets.van_dyke1993()
    >>> dict(study.rating.sizes), int(study.truth.sum())
    ({'system': 2, 'reader': 5, 'item': 114}, 45)
    """
    text = (files("bayescm") / "data" / "sets" / "van_dyke1993.csv").read_text(encoding="utf-8")
    rows = np.array([line.split(",") for line in text.splitlines()[1:]], np.int64)
    return xr.Dataset(
        {"rating": ((SYSTEM, "reader", ITEM), rows[:, 2:].T.reshape(2, 5, -1)), "truth": (ITEM, rows[:, 1])},
        coords={SYSTEM: [1, 2], "reader": np.arange(1, 6), ITEM: rows[:, 0]},
        attrs={
            "source": "Van Dyke et al. 1993, Cine MRI in the diagnosis of thoracic aortic dissection, 79th meeting of "
            "the RSNA; as distributed with R packages for readers' studies"
        },
    )

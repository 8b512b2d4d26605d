"""What the pages on the papers say must hold in the committed studies."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

import bayescm

STUDIES = Path(bayescm.__file__).parents[1] / "docs" / "verification"


def rows(name, **wanted):
    with (STUDIES / f"{name}.csv").open(encoding="utf-8") as lines:
        return [row for row in csv.DictReader(lines) if all(row[k] == v for k, v in wanted.items())]


def column(found, name):
    return np.array([float(row[name]) for row in found])


def page(name):
    return " ".join((STUDIES / f"papers_{name}.md").read_text(encoding="utf-8").split())


def test_hold_outs_scatter_as_the_page_says():
    scattered = rows("urlus_hold_outs")
    said = re.search(
        r"is between ([\d.]+) and ([\d.]+); the smallest of the (\d+) p-values is ([\d.]+)\.", page("urlus")
    )
    found = column(scattered, "dispersion")
    assert [float(text) for text in said.groups()] == [
        found.min().round(2), found.max().round(2), len(scattered), column(scattered, "p_value").min().round(3),
    ]  # fmt: skip
    deviance = (found - 1) / np.sqrt(2 / 999)  # of a variance of 1000 values
    assert abs(deviance).max() < 5


def test_coverage_by_simulation_is_that_by_enumeration():
    for method in ("wilks", "ellipse"):
        for n in ("10", "30", "100"):
            for level in ("0.683", "0.954"):
                (drawn,) = rows("urlus_coverage", items=n, method=method, level=level)
                (exact,) = rows("regions_coverage", items=n, method=method, level=level, space="pr",
                                truths_dirichlet="2 1 1 2")  # fmt: skip
                error = np.hypot(float(drawn["se"]), float(exact["se"]))
                difference = float(drawn["error_in_points"]) - float(exact["error_in_points"])
                assert abs(difference) < 6 * error + 0.02, (method, n, level)
    said = re.search(r"the largest is ([\d.]+) points", page("urlus"))[1]
    assert float(said) == column(rows("urlus_coverage"), "se").max().round(2)


@pytest.mark.parametrize("expected", ["40", "5"])
def test_the_likelihood_ratio_is_enumerated_and_simulated(expected):
    found = rows("urlus_chi2", expected_fp=expected)
    exact, drawn = column(found, "enumerated"), column(found, "simulated")
    assert exact.sum() == pytest.approx(1, abs=1e-5)
    assert (abs(drawn - exact) < 6 * np.sqrt(exact / 1e7) + 1e-6).all()


def test_lowest_coverage_of_areas_is_as_the_page_says():
    text = page("boyd")
    for methods, said in (
        (("binomial", "logit"), re.search(r"lowest coverage (\S+) and (\S+) in 54 settings each", text)),
        (("bootstrap", "cross_validation"), re.search(r"lowest coverage (\S+) and (\d+);", text)),
    ):
        for method, number in zip(methods, said.groups(), strict=True):
            found = column(rows("areas_coverage", method=method), "coverage")
            assert len(found) == (45 if method == "bootstrap" else 54)
            assert found.min().round(3) == float(number)

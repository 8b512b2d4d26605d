"""What the pages on the papers say must hold in the committed studies."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

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


NUMBERED = {  # as the papers count them
    "urlus": {"eq": 46, "fig": 9, "table": 2, "algorithm": 4},
    "toetsch": {"eq": 15, "fig": 6, "table": 1},
    "morais": {"eq": 8, "fig": 8, "table": 1, "lemma": 7},
    "caelen": {"eq": 9, "fig": 5, "table": 3, "algorithm": 4},
    "boyd": {"eq": 10, "fig": 8, "theorem": 1},
}
NAMED = re.compile(
    r"\b(eq|fig|table|algorithm|lemma|theorem)s?\.? ([0-9][^|:]*?)(?=\b(?:eq|fig|table|alg|lem|the|prop)|:|$)"
)


def items(name):
    """Return the numbers of equations, figures and the like that the first column of a page has."""
    found = {}
    for line in (STUDIES / f"papers_{name}.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("| "):
            continue
        for kind, text in NAMED.findall(line.split("|")[1].strip().lower()):
            for first, last in re.findall(r"(\d+)[a-d]?(?: to (\d+))?", text):
                found.setdefault(kind, set()).update(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("name", NUMBERED)
def test_every_equation_figure_and_table_is_on_the_page_of_its_paper(name):
    found = items(name)
    for kind, last in NUMBERED[name].items():
        assert set(range(1, last + 1)) <= found[kind], kind


@pytest.mark.parametrize("name", NUMBERED)
def test_every_item_is_reproduced_or_has_a_sentence(name):
    table = [line for line in (STUDIES / f"papers_{name}.md").read_text(encoding="utf-8").splitlines() if "|" in line]
    for line in table[2:]:
        status, said = (cell.strip() for cell in line.split("|")[2:4])
        assert status in ("y", "c", "")
        assert status or said, line


def test_numbers_of_7a_are_those_of_the_page():
    low, high = (float(text) for text in re.search(r"of 7a (\S+) to (\S+) \|", page("toetsch")).groups())
    recall, specificity = stats.beta(27, 1), stats.beta(7, 3)

    def below(x):
        return integrate.quad(lambda r: recall.pdf(r) * specificity.cdf(2 * x - r), 0, 1, points=[2 * x - 1, 0.9])[0]

    assert below(high) - below(low) == pytest.approx(0.95, abs=0.003)  # both ends are rounded
    found = bayescm.priors.counts_from_metrics({"accuracy": 0.94, "recall": 1.0, "specificity": 0.75}, n_items=34)
    assert found["counts"].values.tolist() == [[6, 2], [0, 26]]
    said = re.search(r"recall (\d+)%, specificity (\d+)%, informedness (\d+)% above 20; largest (\S+), (\S+), (\S+) \|",
                     page("toetsch")).groups()  # fmt: skip
    names = ["recall", "specificity", "informedness"]
    width = bayescm.summary(
        bayescm.datasets.toetsch2021(), names, model="three_binomial", prior="laplace", ci_kind="hdi"
    ).width.values
    assert [int(text) for text in said[:3]] == (100 * (width > 0.2).mean(0)).round().tolist()
    assert [float(text) for text in said[3:]] == width.max(0).round(3).tolist()


def test_toetsch_fig_6_has_two_priors_of_one_name():
    cells, own = (
        bayescm.planning.interval_width(name, [100], prior="laplace").width.item() for name in ("accuracy", "recall")
    )
    said = re.search(
        r"19 points / (\S+), of accuracy .* Beta\(1, 1\), .* it is (\S+)\. One name", page("toetsch")
    ).groups()
    assert [f"{value:.4f}"[1:] for value in (cells, own)] == list(said) == [".1903", ".1921"]
    k, weights = np.arange(101), stats.betabinom.pmf(np.arange(101), 100, 7.4, 2.6)
    for prior, wanted in ((2, cells), (1, own)):
        low, high = stats.beta.ppf([[0.025], [0.975]], k + prior, 100 - k + prior)
        order = np.argsort(high - low)
        at = np.searchsorted(np.cumsum(weights[order]), 0.95)
        assert (high - low)[order][at] == pytest.approx(wanted, abs=1e-6)


def test_morais_fig_5_has_infima_at_the_ends_of_intervals():
    k, n = np.arange(101), 100
    z = stats.norm.isf(0.025)
    half = z / (n + z**2) * np.sqrt(k * (n - k) / n + z**2 / 4)
    middle = (k + z**2 / 2) / (n + z**2)
    ends = {"flat": stats.beta.ppf([[0.025], [0.975]], k + 1, n - k + 1), "Wilson": (middle - half, middle + half)}
    said = re.search(r"is (\S+) \(flat\) and (\S+) \(Wilson\); .* has (\S+) for both", page("morais")).groups()
    for (low, high), least in zip(ends.values(), said[:2], strict=True):
        near, grid = np.concatenate([low, high]), np.linspace(0.01, 0.99, 981)
        near = np.concatenate([near - 1e-12, near + 1e-12])
        for rates, wanted in ((near[(near >= 0.01) & (near <= 0.99)], least), (grid, said[2])):
            held = stats.binom.pmf(k, n, rates[:, None]) * ((low <= rates[:, None]) & (rates[:, None] <= high))
            assert f"{held.sum(1).min():.{len(wanted) - 1}f}"[1:] == wanted


def test_caelen_fig_5_right_is_what_the_study_has():
    text = page("caelen")
    said = re.search(r"equal tails of 40,000 draws: (\S+) at step 150, (\S+) at 300\.", text).groups()
    for step, share in zip(("150", "300"), said, strict=True):
        row = rows("caelen_sequential", way="as_printed_equal_tails", step=step)
        assert column(row, "coverage").tolist() == [float(share)]
    late = rows("caelen_sequential", way="as_printed")[5:]
    least, most = re.search(r"1,000 draws holds it (\S+) to (\S+) of the time", text).groups()
    assert column(late, "coverage").round(2).min() == float(least)
    assert column(late, "coverage").round(2).max() == float(most)


def test_prediction_powered_inference_differs_between_packages(monkeypatch):
    monkeypatch.syspath_prepend(str(STUDIES))
    import audits

    rng, size = np.random.default_rng(1), 20_000
    checked, rest = (audits.answers(rng, 0.97, audits.JUDGES["good"], n, size) for n in (40, 1960))
    unchecked, differ = rest.sum(1), (checked.sum(2) > 0).all(1)
    low, high = audits.prediction_powered(checked, unchecked)
    assert ((low <= 0.97) & (high >= 0.97)).mean() == pytest.approx(0.57, abs=0.03)
    low, high = audits.prediction_powered(checked, unchecked, bounded=False)
    said = re.search(
        r"silent in (\S+) of the sets .* holds in (\S+) of the others",
        " ".join((STUDIES / "audits.md").read_text(encoding="utf-8").split()),
    ).groups()
    found = 1 - differ.mean(), ((low <= 0.97) & (high >= 0.97))[differ].mean()
    assert [f"{value:.2f}"[1:] for value in found] == list(said)

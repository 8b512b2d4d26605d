"""Simultaneous intervals of multinomial shares: statsmodels' numbers, Wilson's, enumeration, edges."""

import itertools

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.inference import proportions
from bayescm.inference.multinomial import _all_within, goodman, sison_glaz

STATSMODELS = {  # 0.15.0, multinomial_proportions_confint(method="sison-glaz")
    (56, 72, 73, 59, 62, 87, 58): [
        (0.07923, 0.16436), (0.11349, 0.19862), (0.11563, 0.20076), (0.08565, 0.17078), (0.09208, 0.17720),
        (0.14561, 0.23074), (0.08351, 0.16864),
    ],
    (23, 12, 44): [(0.18987, 0.41067), (0.05063, 0.27143), (0.45570, 0.67649)],
    (91, 49, 37, 43): [(0.34545, 0.48330), (0.15455, 0.29239), (0.10000, 0.23785), (0.12727, 0.26512)],
    (1, 1, 1, 1): [(0.0, 0.91122)] * 4,
}  # fmt: skip


@pytest.mark.parametrize("counts", STATSMODELS)
def test_sison_and_glaz_as_statsmodels_has_them(counts):
    np.testing.assert_allclose(np.column_stack(sison_glaz(counts)), STATSMODELS[counts], atol=6e-6)


@pytest.mark.parametrize("counts", [(23, 12, 44), (6, 2, 4), (9, 9, 9, 9)])
def test_the_probability_of_a_box_against_enumeration(counts):
    counts, n = np.array(counts), sum(counts)
    for c in range(1, 6):
        boxes = itertools.product(*[range(max(k - c, 0), k + c + 1) for k in counts])
        exact = sum(stats.multinomial.pmf(x, n, counts / n) for x in boxes if sum(x) == n)
        assert _all_within(counts.astype(float), c) == pytest.approx(exact, abs=0.005)
    assert _all_within(counts.astype(float), 0) == pytest.approx(stats.multinomial.pmf(counts, n, counts / n))


def test_goodman_is_wilson_s_with_a_share_of_the_error():
    lower, upper = goodman([[5, 3, 0, 12]], 0.9)
    wanted = proportions.wilson(np.array([5, 3, 0, 12]), 20, 0.975)
    np.testing.assert_allclose([lower[0], upper[0]], wanted)


def test_coverage_of_all_cells_at_once_by_enumeration():
    cells = np.array([np.diff((-1, *cut, 22)) - 1 for cut in itertools.combinations(range(22), 2)])
    found = {"goodman": goodman(cells), "sison_glaz": sison_glaz(cells)}
    covered = {}
    for name, (lower, upper) in found.items():
        covered[name] = []
        for p in ((0.2, 0.3, 0.5), (0.05, 0.15, 0.8), (1 / 3, 1 / 3, 1 / 3)):
            inside = ((lower <= p) & (p <= upper)).all(1)
            covered[name].append(stats.multinomial.pmf(cells, 20, p) @ inside)
    assert min(covered["goodman"]) > 0.94
    assert 0.6 < min(covered["sison_glaz"]) < 0.95  # too short with few items, as documented


@pytest.mark.parametrize("made", [goodman, sison_glaz])
def test_edges(made):
    for counts in ([0, 0, 0], [10**9, 10**8, 5], [1, 0], [7, 0, 0, 2], [10**6] * 20):
        lower, upper = made(counts)
        share = np.array(counts) / max(sum(counts), 1)
        assert (lower >= 0).all()
        assert (upper <= 1).all()
        assert (lower <= share + 1e-12).all()
        assert (share <= upper + 1e-12).all()
    np.testing.assert_array_equal(made([0, 0, 0]), [[0, 0, 0], [1, 1, 1]])
    widths = [np.subtract(*made([23, 12, 44], level)[::-1]).mean() for level in (0.5, 0.8, 0.95, 0.999)]
    assert (np.diff(widths) > 0).all()


@pytest.mark.parametrize("normalize", ["actual", "predicted", "all"])
def test_cells_of_a_matrix_by_what_a_sample_is(normalize):
    matrix = np.array([[50, 3, 2], [4, 40, 1], [0, 6, 30]])
    counts = bayescm.from_array(np.stack([matrix, matrix.T]), dims="system", labels=list("abc"))
    found = bayescm.inference.cell_summary(counts, normalize=normalize, simultaneous="sison_glaz", ci_prob=0.9)
    assert found["simultaneous_interval"].dims == ("system", "actual", "predicted", "ci_bound")
    assert found.attrs["simultaneous"] == "sison_glaz"
    samples = {"actual": matrix, "predicted": matrix.T, "all": matrix.ravel()}[normalize]
    wanted = np.stack(sison_glaz(samples, 0.9), axis=-1)
    wanted = wanted.swapaxes(0, 1) if normalize == "predicted" else wanted.reshape(3, 3, 2)
    np.testing.assert_allclose(found["simultaneous_interval"].isel(system=0), wanted)
    plain = bayescm.inference.cell_summary(counts, normalize=normalize, ci_prob=0.9)
    assert "simultaneous_interval" not in plain
    np.testing.assert_array_equal(found["interval"], plain["interval"])
    lazy = bayescm.inference.cell_summary(
        counts.chunk(system=1), normalize=normalize, simultaneous="goodman", ci_prob=0.9
    )
    eager = bayescm.inference.cell_summary(counts, normalize=normalize, simultaneous="goodman", ci_prob=0.9)
    np.testing.assert_array_equal(lazy["simultaneous_interval"].compute(), eager["simultaneous_interval"])


def test_what_has_no_length_and_what_is_unknown_is_said():
    with pytest.warns(UserWarning, match="not certainty"):
        bayescm.inference.cell_summary([[6, 2], [0, 26]], simultaneous="sison_glaz")
    with pytest.raises(ValueError, match="`simultaneous` must be one of 'goodman', 'sison_glaz'"):
        bayescm.inference.cell_summary([[6, 2], [0, 26]], simultaneous="bonferroni")

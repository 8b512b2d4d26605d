"""coverage_of(): against sums by hand, against simulation, on regions, bands and users' own data."""

import itertools

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.calibration import coverage_of
from bayescm.inference import proportions


def wilson(n):
    return lambda k: proportions.wilson(k, np.full(k.shape, float(n)))


def test_a_binomial_is_summed_over_its_outcomes():
    rates, k = np.array([0.0, 0.1, 0.5, 1.0]), np.arange(11)
    found = coverage_of(wilson(10), rates, 10)
    lower, upper = proportions.wilson(k, np.full(11, 10.0))
    for i, p in enumerate(rates):
        mass = stats.binom.pmf(k, 10, p)
        one = found.isel(truth=i)
        assert one["coverage"].item() == pytest.approx(mass @ ((lower <= p) & (p <= upper)))
        assert one["below"].item() == pytest.approx(mass @ (upper < p))
        assert one["above"].item() == pytest.approx(mass @ (lower > p))
        assert one["width"].item() == pytest.approx(mass @ (upper - lower))
    assert (found["mcse"] == 0).all()
    assert found.attrs["answered_by"] == "enumeration"


def test_simulation_agrees_with_enumeration_within_its_error():
    rates = np.linspace(0.05, 0.95, 19)
    exact = coverage_of(wilson(20), rates, 20)
    drawn = coverage_of(wilson(20), rates, 20, most_outcomes=1, simulations=4000, random_seed=1)
    own = coverage_of(
        lambda k: proportions.wilson(k, 20.0), rates, simulate=lambda rng, p: rng.binomial(20, p), simulations=1000,
        random_seed=1,
    )  # fmt: skip
    for found in (drawn, own):
        assert found.attrs["answered_by"] == "simulation"
        z = (found["coverage"] - exact["coverage"]) / np.sqrt(
            exact["coverage"] * (1 - exact["coverage"]) / found.attrs["simulations"]
        )
        assert np.abs(z).max() < 5
        np.testing.assert_allclose(found["width"], exact["width"], rtol=0.03)


def test_several_multinomials_and_several_quantities():
    truths = np.array([[[0.3, 0.7], [0.6, 0.4]], [[0.9, 0.1], [0.5, 0.5]]])

    def both(counts):
        assert counts.shape == (8 * 5, 2, 2)
        lower, upper = proportions.wilson(counts[..., 1], np.array([7.0, 4.0]))
        return lower, upper

    found = coverage_of(both, truths, (7, 4), target=lambda p: p[:, 1])
    for row, n in enumerate((7, 4)):
        alone = coverage_of(wilson(n), truths[:, row, 1], n)
        for name in ("coverage", "below", "above", "width"):
            np.testing.assert_allclose(found[name].isel(quantity=row), alone[name], atol=1e-12)
    at_once = coverage_of(both, truths, (7, 4), target=lambda p: p[:, 1], simultaneous=True)
    np.testing.assert_allclose(at_once["coverage"], found["coverage"].prod("quantity"))  # independent


def test_an_exact_region_never_holds_less_than_its_level():
    truths = np.random.default_rng(1).dirichlet([2, 1, 1, 2], 6)

    def holds(counts, aim):
        recall, precision = aim
        levels = bayescm.regions.region_level(
            bayescm.from_array(counts.reshape(-1, 2, 2), dims="matrix"), recall=recall, precision=precision,
            method="exact",
        )  # fmt: skip
        return levels["level"].values <= 0.9

    def point(p):
        return p[3] / (p[3] + p[2]), p[3] / (p[3] + p[1])

    found = coverage_of(holds, truths, 8, target=point, contains=True)
    assert (found["coverage"] >= 0.9 - 1e-9).all()
    assert set(found.data_vars) == {"coverage", "mcse", "unanswered"}


def test_no_answer_is_a_miss():
    found = coverage_of(lambda k: (np.where(k == 0, np.nan, 0.0), np.where(k == 0, np.nan, 1.0)), [0.5], 3)
    assert found["unanswered"].item() == pytest.approx(1 / 8)
    assert found["coverage"].item() == pytest.approx(7 / 8)
    assert found["width"].item() == pytest.approx(1.0)


def test_the_numbers_are_the_same_for_any_number_of_workers_and_where_it_was_stopped(tmp_path):
    options = {"simulate": lambda rng, p: rng.binomial(20, p), "simulations": 50, "random_seed": 3}
    method, rates = lambda k: proportions.wilson(k, 20.0), [0.1, 0.3, 0.5, 0.7]
    whole = coverage_of(method, rates, **options)
    assert coverage_of(method, rates, workers=3, **options).identical(whole)
    calls = itertools.count()

    def stopped(k):
        if next(calls) == 120:
            raise KeyboardInterrupt
        return method(k)

    file = tmp_path / "kept.jsonl"
    with pytest.raises(KeyboardInterrupt):
        coverage_of(stopped, rates, file=file, **options)
    with file.open("a") as lines:
        lines.write("[3, [[0.")  # cut off
    calls = itertools.count(1000)
    assert coverage_of(stopped, rates, file=file, **options).identical(whole)
    assert next(calls) == 1100  # of four truths two were there
    assert coverage_of(stopped, rates, file=file, **options).identical(whole)
    assert next(calls) == 1101
    for change in ({"simulations": 60}, {"random_seed": 5}, {"target": np.cos}, {"truths": rates[::-1]}):
        with pytest.raises(ValueError, match="from another call"):
            coverage_of(method, file=file, **{"truths": rates} | options | change)
    with pytest.raises(ValueError, match="`random_seed` must be a number where a `file`"):
        coverage_of(method, rates, file=file, **options | {"random_seed": None})
    file.write_text("[[2")  # cut off in its first line
    assert coverage_of(method, rates, file=file, **options).identical(whole)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"truths": []}, "`truths`"), ({"truths": [1.5]}, "probabilities"), ({"truths": [[0.5, 0.6]]}, "add up to 1"),
        ({"truths": [np.nan]}, "probabilities"), ({"n": None}, "`n` must say"), ({"n": (3, 4)}, "one of each of 1"),
        ({"n": 0}, "`n`"), ({"simulate": lambda rng, p: 1}, "leave it out"), ({"simulations": 0}, "`simulations`"),
        ({"method": lambda k: k}, r"\(lower, upper\)"), ({"truths": 0.5}, "rates, or rows"),
        ({"workers": 0}, "workers"),
    ],
)  # fmt: skip
def test_wrong_input_is_explained(change, message):
    given = {"method": wilson(5), "truths": [0.5], "n": 5} | change
    with pytest.raises(ValueError, match=message):
        coverage_of(given.pop("method"), given.pop("truths"), **given)

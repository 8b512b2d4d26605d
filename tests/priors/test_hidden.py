"""Numbers of items behind a board: against every fraction there is."""

from fractions import Fraction

import numpy as np
import pytest

import bayescm


@pytest.mark.parametrize("n", [7, 30, 164])
def test_the_size_that_was_kept_back_is_found(n):
    rng = np.random.default_rng(n)
    right = rng.binomial(n, rng.beta(6, 2, 12))
    board = {f"s{i}": f"{k / n:.3f}" for i, k in enumerate(right)}
    found = bayescm.priors.hidden_size(board, most=250)
    fits = [
        m
        for m in range(1, 251)
        if all(
            any(abs(Fraction(k, m) - Fraction(s)) <= Fraction(1, 2000) for k in range(m + 1)) for s in board.values()
        )
    ]
    assert found.n_items.values.tolist() == fits
    assert n in fits
    assert abs(float(found.probability.sum()) - 1) < 1e-12
    assert int(found.likeliest) == n
    assert f"the most probable {n}" in found.bayescm.sentence


def test_percents_and_what_is_refused():
    assert int(bayescm.priors.hidden_size({"A": "66.7%", "B": "33.3%"}).smallest) == 3
    assert int(bayescm.priors.hidden_size({"A": 0.66, "B": 0.33}, rounding="truncated").smallest) == 3
    with pytest.raises(ValueError, match="no number of items"):
        bayescm.priors.hidden_size({"A": 0.787, "B": 0.762, "C": 0.701}, most=50)
    with pytest.raises(TypeError, match="mapping"):
        bayescm.priors.hidden_size([0.5])
    with pytest.raises(ValueError, match="A"):
        bayescm.priors.hidden_size({"A": 66.7})

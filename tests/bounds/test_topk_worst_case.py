"""The conjecture that TopK's worst residual is (2 / pi) (d / K) M is false."""

from fractions import Fraction

import numpy as np
import pytest

from elastic_consistency.bounds import get
from elastic_consistency.bounds.proofs.counterexamples.topk_endgame import (
    GRADIENTS,
    UNIT,
    squared_residual,
)

# 2 / pi < 0.63663, so ((2 / pi) 5)^2 is below this number.
ABOVE_THE_CONJECTURE = Fraction(63663 * 5, 100000) ** 2


def test_ten_gradients_exceed_the_conjectured_worst_case():
    assert squared_residual() > ABOVE_THE_CONJECTURE
    assert float(squared_residual()) ** 0.5 == pytest.approx(3.30297, abs=1e-5)


def test_they_stay_below_the_proved_bound():
    proved = get("topk_gap").evaluate({"d": 5, "K": 1, "M": 1.0})

    assert float(squared_residual()) ** 0.5 < proved


def test_an_independent_topk_gives_the_same_residual():
    """Argsort in floating point instead of integers."""
    residual = np.zeros(5)
    for gradient in np.array(GRADIENTS) / UNIT:
        whole = residual + gradient
        residual = whole.copy()
        residual[np.argsort(-abs(whole))[:1]] = 0.0

    assert float(residual @ residual) == pytest.approx(float(squared_residual()), rel=1e-12)


def test_gradients_that_are_too_long_are_refused():
    with pytest.raises(ValueError, match="at row 0"):
        squared_residual(((UNIT, 1, 0, 0, 0),))


def test_ties_are_refused():
    with pytest.raises(ValueError, match="must be unique"):
        squared_residual(((1, 1, 0, 0, 0),))

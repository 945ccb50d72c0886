"""Strategies for problems, rules and codecs; they shrink to one parameter and plain SGD."""

import numpy as np
from hypothesis import strategies as st

from elastic_consistency.optimization.compression import (
    AbstractCodec,
    ErrorFeedback,
    Identity,
    ScaledSign,
    Scaling,
    TopK,
)
from elastic_consistency.optimization.oracles import AbstractOracle, Linear, Quadratic
from elastic_consistency.optimization.update_rules import SGD, AbstractRule, HeavyBall

# Powers of two, so that small cases can be followed by hand and rounding stays out of sight.
_CURVATURES = (1.0, 0.5, 0.25, 0.0625)
_COORDINATES = (1.0, 0.0, -1.0, 2.0, -0.5)


def _vectors(entries: tuple[float, ...], size: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.sampled_from(entries), min_size=size, max_size=size).map(np.array)


def linears(*, max_dimension: int = 3) -> st.SearchStrategy[Linear]:
    """Linear losses: all gradients are aligned, the worst case of most constants."""
    return st.integers(1, max_dimension).flatmap(
        lambda d: st.builds(Linear, _vectors(_COORDINATES, d))
    )


def quadratics(*, max_dimension: int = 3, noise: bool = False) -> st.SearchStrategy[Quadratic]:
    """Strongly convex quadratics with L <= 1, Gaussian noise if wanted."""
    variances = st.sampled_from((1.0, 0.25)) if noise else st.just(0.0)
    return st.integers(1, max_dimension).flatmap(
        lambda d: st.builds(
            Quadratic,
            _vectors(_CURVATURES, d),
            variances,
            st.none(),
            _vectors(_COORDINATES, d),
        )
    )


def oracles(*, max_dimension: int = 3) -> st.SearchStrategy[AbstractOracle]:
    """Problems without noise whose constants are exact."""
    return quadratics(max_dimension=max_dimension) | linears(max_dimension=max_dimension)


def step_sizes() -> st.SearchStrategy[float]:
    """Step sizes for problems with L <= 1, from the largest certified ones down."""
    return st.sampled_from((0.5, 0.25, 1.0, 0.125, 0.03125))


def rules() -> st.SearchStrategy[AbstractRule]:
    """Rules with a constant step size."""
    momenta = st.sampled_from((0.5, 0.0, 0.75))
    return st.builds(SGD, step_sizes()) | st.builds(HeavyBall, step_sizes(), momenta)


def codecs() -> st.SearchStrategy[AbstractCodec]:
    """Contractions with error feedback, or none."""
    lossy = st.one_of(
        st.builds(Scaling, st.sampled_from((0.25, 0.5, 0.9))),
        st.builds(TopK, st.integers(1, 3)),
        st.just(ScaledSign()),
    )
    return st.just(Identity()) | st.builds(ErrorFeedback, lossy)

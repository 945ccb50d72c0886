"""Strategies for delays; they shrink to one second, always."""

from hypothesis import strategies as st

from elastic_consistency.simulator.cluster import ComputeLaw
from elastic_consistency.simulator.delays import (
    AbstractDelayLaw,
    Constant,
    Empirical,
    Exponential,
    Gamma,
    LogNormal,
    Pareto,
    Preemption,
    ShiftedExponential,
    TransientStraggler,
)


def seconds(*, zero: bool = False) -> st.SearchStrategy[float]:
    """Durations that make ties, and stragglers of 200 times; zero if allowed."""
    usual = (1.0, 2.0, 0.5, 3.0, 0.1, 10.0, 200.0)
    return st.sampled_from((1.0, 0.0, *usual[1:]) if zero else usual)


def delay_laws(*, zero: bool = False) -> st.SearchStrategy[AbstractDelayLaw]:
    """Every law of independent delays; with `zero`, delays may be 0."""
    some = seconds()
    return st.one_of(
        st.builds(Constant, seconds(zero=zero)),
        st.builds(Empirical.from_samples, st.lists(seconds(zero=zero), min_size=1, max_size=4)),
        st.builds(Exponential, some),
        st.builds(ShiftedExponential, seconds(zero=zero), some),
        st.builds(Gamma, st.sampled_from((1.0, 0.5, 4.0)), some),
        st.builds(LogNormal, some, st.sampled_from((1.0, 0.1, 3.0))),
        st.builds(Pareto, some, st.sampled_from((2.0, 1.1, 0.5))),
    )


def compute_laws() -> st.SearchStrategy[ComputeLaw]:
    """Laws of a computation: a delay law, or a worker that is slow or suspended for a while."""
    return delay_laws(zero=True) | _phased_laws((2.0, 10.0, 200.0))


def short_compute_laws() -> st.SearchStrategy[ComputeLaw]:
    """Laws of a computation of about a second, slow or suspended phases included."""
    return st.sampled_from((Constant(1.0), Exponential(1.0))) | _phased_laws((2.0, 10.0))


def phases() -> st.SearchStrategy[AbstractDelayLaw]:
    """Lengths of phases, a few seconds."""
    return st.sampled_from((Constant(1.0), Exponential(1.0), Constant(10.0), Exponential(10.0)))


def _phased_laws(factors: tuple[float, ...]) -> st.SearchStrategy[ComputeLaw]:
    # Heavy tails would cross millions of phases; one second of work crosses few.
    work = st.sampled_from((Constant(1.0), Exponential(1.0), Constant(0.0)))
    slow = st.builds(TransientStraggler, work, st.sampled_from(factors), phases(), phases())
    return slow | st.builds(Preemption, work, phases(), phases())

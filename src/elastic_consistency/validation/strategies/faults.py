"""Strategies for what goes wrong; they shrink to what goes wrong least."""

from hypothesis import strategies as st

from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.faults.fault_script import (
    Crash,
    Fault,
    FaultScript,
    LateStart,
    Partition,
    RandomCrashes,
)
from elastic_consistency.simulator.network.losses import GilbertElliott, Loss
from elastic_consistency.simulator.protocols import BroadcastCrash

_MOMENTS = (1.0, 0.5, 3.0, 10.0)


def losses() -> st.SearchStrategy[Loss]:
    """Probabilities of a loss, and channels that lose in bursts."""
    some = st.sampled_from((0.1, 0.5))
    return some | st.builds(GilbertElliott, some, st.sampled_from((0.5, 1.0)))


def partitions(n_workers: int) -> st.SearchStrategy[Partition]:
    """Some of `n_workers` workers, or all of them, are cut off from the server for a while."""
    members = st.lists(st.integers(0, n_workers - 1), min_size=1, unique=True)
    return st.builds(
        lambda who, start, length: Partition(tuple(sorted(who)), start, start + length),
        members,
        st.sampled_from((0.0, *_MOMENTS)),
        st.sampled_from(_MOMENTS),
    )


@st.composite
def fault_scripts(draw: st.DrawFn, n_workers: int) -> FaultScript:
    """Crashes, late starts, partitions and lost acknowledgements; worker 0 never crashes."""
    faults = [
        fault for worker in range(1, n_workers) for fault in draw(_faults_of_a_worker(worker))
    ]
    faults += draw(st.lists(partitions(n_workers), max_size=1))
    lost = draw(st.sampled_from((0.0, 0.1, 0.5)))
    resend_s = 1.0 if lost else None
    return FaultScript(tuple(faults), lost_acknowledgements=lost, resend_s=resend_s)


def _faults_of_a_worker(worker: int) -> st.SearchStrategy[tuple[Fault, ...]]:
    this, moments = st.just(worker), st.sampled_from(_MOMENTS)
    crash = st.builds(Crash, this, moments) | st.builds(Crash, this, moments, moments)
    laws = st.sampled_from((Constant(3.0), Exponential(3.0)))
    often = st.builds(RandomCrashes, this, laws, st.sampled_from((Constant(1.0), Exponential(1.0))))
    late = st.builds(LateStart, this, moments)
    return st.one_of(
        st.just(()), st.tuples(crash), st.tuples(late), st.tuples(often), st.tuples(late, crash)
    )


@st.composite
def broadcast_crashes(
    draw: st.DrawFn, n_workers: int, *, max_round: int = 3
) -> tuple[BroadcastCrash, ...]:
    """Some workers, never all, die in the middle of a broadcast that reaches any others."""
    dying = draw(st.lists(st.integers(0, n_workers - 1), max_size=n_workers - 1, unique=True))
    crashes = []
    for worker in dying:
        others = [k for k in range(n_workers) if k != worker]
        reached = draw(st.lists(st.sampled_from(others), unique=True)) if others else []
        round = draw(st.integers(0, max_round))
        crashes.append(BroadcastCrash(worker, round, tuple(sorted(reached))))
    return tuple(crashes)

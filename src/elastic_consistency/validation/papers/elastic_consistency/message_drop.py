"""Losses without retransmission: the stated f M / p holds only while f is bounded for ever."""

import numpy as np

from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import LossyBroadcast
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.curve import Curve
from elastic_consistency.validation.papers.finding import (
    Feature,
    Finding,
    at_most,
    over_seeds,
    reproduced,
)

_P, _LOSS, _RESYNC = 4, 0.05, 50
_LENGTHS = (500, 1000, 2000, 4000)


def _received(rounds: int, resync: int | None, seed: int) -> np.ndarray:
    """(rounds, p) updates that each node got in each round."""
    protocol = LossyBroadcast(_LOSS, resync=resync)
    cluster = Cluster.alike(_P, Constant(1.0))
    schedule = simulate(protocol, cluster, until=Until(jobs=_P * rounds), seed=seed)
    added = np.flatnonzero(schedule.rows.op == Op.ADD)
    place = schedule.jobs.round[schedule.rows.job[added]] * _P + schedule.rows.replica[added]
    return np.bincount(place, minlength=rounds * _P).reshape(rounds, _P)


def drop_messages(effort: Effort, _value: PaperValue) -> Finding:
    """The gap without and with resynchronisation, after runs of four lengths."""
    seeds = range(effort.pick(4, 16))
    missing = np.array([np.cumsum(_P - _received(_LENGTHS[-1], None, s), axis=0) for s in seeds])
    # Aligned gradients of norm 1: a view lacks 1/p of the norm for every missing update.
    gaps = missing.max(axis=-1)[:, [n - 1 for n in _LENGTHS]] / _P
    bounded = np.array([_gap_with_averages(s) for s in seeds])
    rate = gaps[:, -1] / _LENGTHS[-1]
    stays = Feature(
        "the gap of i.i.d. losses does not grow with the length of the run",
        bool(np.median(gaps[:, -1] / gaps[:, 0]) < 1.5),
        f"{gaps[:, 0].mean():.4g} after {_LENGTHS[0]} rounds, {gaps[:, -1].mean():.4g} after "
        f"{_LENGTHS[-1]}; loss rate (p - 1) / p = {_LOSS * (_P - 1) / _P:.4g} a round",
    )
    return reproduced(
        (
            over_seeds(f"B after {_LENGTHS[0]} rounds", gaps[:, 0]),
            over_seeds(f"B after {_LENGTHS[-1]} rounds", gaps[:, -1]),
            over_seeds("growth of B a round", rate),
            over_seeds(f"B, models averaged every {_RESYNC} rounds", bounded),
        ),
        (stays, at_most("averages bound it", float(bounded.max()), (_P - 1) * _RESYNC / _P)),
        scale=f"p = {_P}, loss {_LOSS:g}, aligned gradients with M = 1, {len(seeds)} schedules",
        why="each lost update stays missing for ever, so no f bounds their number; the constant "
        "is right only while losses are repaired (retransmission, or averages of the models)",
        curves=(_curve(_LENGTHS, gaps),),
    )


def _gap_with_averages(seed: int) -> float:
    """Largest gap to the mean of the replicas, which are made equal every few rounds."""
    received = _received(_LENGTHS[0], _RESYNC, seed).reshape(-1, _RESYNC, _P)
    total = np.cumsum(received, axis=1)
    return float(np.abs(total - total.mean(axis=-1, keepdims=True)).max() / _P)


def _curve(lengths: tuple[int, ...], gaps: np.ndarray) -> Curve:
    mean = tuple(gaps.mean(axis=0).tolist())
    return Curve("no resynchronisation", lengths, mean, ("rounds", "largest gap / M"))


CLAIMS = (
    PaperClaim(
        "message-drop",
        Paper.ELASTIC,
        "Message drops keep elastic consistency, with B = f M / p.",
        PaperValue("B = f M / p", "table of constants", Status.RECALLED),
        drop_messages,
        seconds=8.0,
    ),
)

"""Real asynchronous runs on real processes, recorded as schedules."""

import multiprocessing
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from elastic_consistency.hardware_backend.live.hogwild import Hogwild, SharedModel
from elastic_consistency.hardware_backend.live.log import Log
from elastic_consistency.hardware_backend.live.merge import Merged, merge
from elastic_consistency.hardware_backend.live.protocol import AbstractLiveProtocol, LiveOrder
from elastic_consistency.hardware_backend.processes.ranks import run_ranks
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Schedule

_LONG = 1000  # steps; a rule that weighs staleness does so by then


@final
@dataclass(frozen=True, slots=True, eq=False)
class LiveRun:
    """A run that nobody scheduled, and the schedule that it turned out to be.

    Attributes:
        schedule: What happened; executing it gives the same models.
        models: Final (1, d) float64 model of each replica.
        masses: (m,) final push-sum masses.
        seed: Seed of the samples.
        clock_error: Bound on the error of times between ranks, s.
        shift: Largest change of a time, s, that kept causes before effects.
    """

    schedule: Schedule
    models: tuple[np.ndarray, ...]
    masses: np.ndarray
    seed: int
    clock_error: float
    shift: float


def run_live(
    protocol: AbstractLiveProtocol,
    oracle: AbstractOracle,
    rule: AbstractRule,
    *,
    n_workers: int,
    jobs: int,
    seed: int,
    codec: AbstractCodec | None = None,
    pauses: tuple[float, ...] = (),
    block_sizes: tuple[int, ...] = (),
    timeout: float = 60.0,
    clock_skews: tuple[float, ...] = (),
    folder: Path | None = None,
) -> LiveRun:
    """Run a protocol on processes of this machine and record what happens.

    All arithmetic is double precision on CPU, by the same executor that executes schedules.

    Args:
        protocol: Who does what.
        oracle: The problem; it must pickle.
        rule: The update rule.
        n_workers: Number of workers.
        jobs: Gradients of each worker; of all workers together at a parameter server.
        seed: Seed of samples, pauses and peers; the timing itself is the machine's.
        codec: Compression of updates; none by default.
        pauses: Mean seconds that each worker adds to each gradient, times a uniform number
            between 0.5 and 1.5; () for none.
        block_sizes: Parameters in each block, where the protocol has blocks.
        timeout: Seconds without progress after which a rank is said to hang.
        clock_skews: Seconds that each rank's clock is wrong on purpose, to try the alignment.
        folder: Where each rank writes `rank<number>.jsonl`, one line an operation as it happens,
            so that a run that fails leaves its record; None keeps nothing.

    Raises:
        ValueError: If an argument makes no sense, or if the rule weighs staleness and the
            protocol cannot know it.
        RanksError: If a rank fails, is killed or hangs; no process is left behind.
    """
    order = LiveOrder(
        protocol,
        oracle,
        rule,
        codec,
        n_workers,
        jobs,
        seed,
        pauses,
        block_sizes,
        clock_skews,
        "" if folder is None else str(folder),
    )
    _refuse(order)
    with tempfile.TemporaryDirectory() as memory:
        shared = _share(order, Path(memory) / "model") if isinstance(protocol, Hogwild) else None
        orders = [replace(order, shared=shared)] * protocol.n_ranks(n_workers)
        parts = run_ranks(_live_part, orders, timeout=timeout)
        models, masses = _final_models(order, parts, shared)
    merged = _merge(order, [part.log for part in parts])
    error = max(part.log.error for part in parts)
    return LiveRun(merged.schedule, models, masses, seed, error, merged.shift)


def _refuse(order: LiveOrder) -> None:
    n_workers, pauses, rule = order.n_workers, order.pauses, order.rule
    if order.jobs < 1:
        raise ValueError(f"run_live.jobs must be a number >= 1, got {order.jobs}.")
    if pauses and len(pauses) != n_workers:
        raise ValueError(f"run_live.pauses must name {n_workers} workers, got {len(pauses)}.")
    weighs = any(rule.scale(staleness) != rule.scale(0) for staleness in range(1, _LONG))
    if weighs and not order.protocol.weighs_staleness:
        name = type(order.protocol).__name__
        raise ValueError(f"{name} does not know the staleness that {rule!r} weighs.")


def _merge(order: LiveOrder, logs: list[Log]) -> Merged:
    told = {"live": repr(order.protocol), "jobs": order.jobs, "pauses": list(order.pauses)}
    return merge(
        logs,
        n_workers=order.n_workers,
        hosts=order.protocol.hosts(order.n_workers),
        block_sizes=order.block_sizes,
        seed=order.seed,
        provenance=told,
    )


def _share(order: LiveOrder, path: Path) -> SharedModel:
    start, n_blocks = order.start()[0], max(1, len(order.block_sizes))
    path.write_bytes(start.tobytes() + np.zeros(n_blocks, np.int64).tobytes())
    context = multiprocessing.get_context("forkserver")
    return SharedModel(str(path), tuple(context.Lock() for _ in range(n_blocks)))


def _final_models(
    order: LiveOrder, parts: list[Any], shared: SharedModel | None
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    if shared is not None:
        d = order.oracle.dimension
        return (np.fromfile(shared.path, np.float64, d)[None],), np.ones(1)
    models = {replica: model for part in parts for replica, model in part.models.items()}
    masses = {replica: mass for part in parts for replica, mass in part.masses.items()}
    numbers = sorted(models)
    return tuple(models[r] for r in numbers), np.array([masses[r] for r in numbers])


def _live_part(rank: Any, order: LiveOrder) -> Any:
    from elastic_consistency.hardware_backend.live.rank_live import live_rank

    return live_rank(rank, order)

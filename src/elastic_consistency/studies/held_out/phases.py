"""How long each phase of a recorded run took, as its counterpart in the simulator counts it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.studies.held_out.job_times import JobTimes, job_times


@final
@dataclass(frozen=True, slots=True, eq=False)
class Phases:
    """Seconds, one entry an occurrence.

    Attributes:
        compute: For each worker, from the moment at which it could begin to the end of its
            computation; what a worker does between two jobs is part of it.
        shared: By name, phases that are alike for all workers: "pull", "push" and "service" of
            a server, "collective" of an all-reduce, "exchange" of two peers, "read" and "write"
            of one block of a shared memory.
    """

    compute: tuple[np.ndarray, ...]
    shared: dict[str, np.ndarray]

    def means(self) -> dict[str, float]:
        """Mean seconds by name, as "compute of worker 0"; NaN where there are none."""
        own = {f"compute of worker {w}": seconds for w, seconds in enumerate(self.compute)}
        every = own | self.shared
        return {name: _mean(seconds) for name, seconds in every.items()}


def phases_of(schedule: Schedule, protocol: str) -> Phases:
    """The phases of a recorded schedule.

    Args:
        schedule: As `elastic live` records it.
        protocol: "server", "all-reduce", "pairwise" or "hogwild".
    """
    return _PHASES[protocol](schedule, job_times(schedule))


def _server(schedule: Schedule, times: JobTimes) -> Phases:
    workers = [times.of(w) for w in range(schedule.metadata.n_workers)]
    compute = tuple((times.encode - times.begin)[jobs] for jobs in workers)
    pull = np.concatenate([(times.begin - times.read)[jobs] for jobs in workers])
    arrived, served = _exchanges(times, workers)
    # A push that met a busy server holds a wait, too, which the simulator computes by itself.
    before = np.concatenate(([-np.inf], served[arrived[:-1]]))
    idle = arrived[times.encode[arrived] >= before]
    push = (times.add - times.encode)[idle]
    service = (served - times.add)[np.isfinite(served)]
    return Phases(compute, {"pull": pull, "push": push, "service": service})


def _exchanges(times: JobTimes, workers: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Jobs in the order of arrival, and when the server had handed the next model out (or NaN)."""
    served = np.full(len(times.worker), np.nan)
    for jobs in workers:
        served[jobs[:-1]] = times.read[jobs[1:]]
    arrived = np.flatnonzero(np.isfinite(times.add))
    arrived = arrived[np.argsort(times.add[arrived], kind="stable")]
    return arrived, np.where(np.isfinite(served), served, np.nan)


def _all_reduce(schedule: Schedule, times: JobTimes) -> Phases:
    rows, n = schedule.rows, schedule.metadata.n_workers
    add, put = rows.op == Op.ADD, rows.op == Op.PUT
    rounds = len(times.worker) // n
    received = np.stack([rows.time[add & (rows.replica == w)][:rounds] for w in range(n)])
    sent = np.stack([rows.time[put & (rows.worker == w)][:rounds] for w in range(n)])
    compute = tuple(
        np.diff(
            np.stack([np.append(times.read[times.of(w)][0], received[w][:-1]), sent[w]]), axis=0
        )[0]
        for w in range(n)
    )
    collective = np.maximum(received.mean(axis=0) - sent.max(axis=0), 0.0)
    return Phases(compute, {"collective": collective})


def _pairwise(schedule: Schedule, times: JobTimes) -> Phases:
    compute, exchange = [], []
    for worker in range(schedule.metadata.n_workers):
        jobs = times.of(worker)
        free = np.append(times.read[jobs][0], times.drop[jobs][:-1])
        asks = worker % 2 == 0
        # Who does not ask has finished only when its step is made.
        done = times.encode[jobs] if asks else times.drop[jobs]
        compute.append(done - free)
        exchange += [times.drop[jobs] - times.encode[jobs]] if asks else []
    return Phases(tuple(compute), {"exchange": np.concatenate(exchange)})


def _hogwild(schedule: Schedule, times: JobTimes) -> Phases:
    rows, blocks = schedule.rows, schedule.metadata.n_blocks
    compute, reads, writes = [], [], []
    for worker in range(schedule.metadata.n_workers):
        jobs = times.of(worker)
        read = _by_block(schedule, rows.op == Op.READ, jobs, blocks)
        step = _by_block(schedule, rows.op == Op.ADD, jobs, blocks)
        free = np.append(read[0, 0], step[:-1, -1])
        reads.append(np.diff(np.column_stack([free, read])))
        writes.append(np.diff(np.column_stack([times.encode[jobs], step])))
        compute.append(times.encode[jobs] - read[:, -1])
        reads[-1] = reads[-1][1:]  # nobody knows when the first read began
    flat = {name: np.concatenate([part.ravel() for part in parts])
            for name, parts in (("read", reads), ("write", writes))}  # fmt: skip
    return Phases(tuple(compute), flat)


def _by_block(schedule: Schedule, chosen: np.ndarray, jobs: np.ndarray, blocks: int) -> np.ndarray:
    """(jobs, blocks) times of the chosen rows."""
    rows = np.flatnonzero(chosen)
    table = np.full((len(schedule.jobs), blocks), np.nan)
    table[schedule.rows.job[rows], schedule.rows.block[rows]] = schedule.rows.time[rows]
    return table[jobs]


def _mean(seconds: np.ndarray) -> float:
    return float(seconds.mean()) if len(seconds) else float("nan")


_PHASES: dict[str, Callable[[Schedule, JobTimes], Phases]] = {
    "server": _server,
    "all-reduce": _all_reduce,
    "pairwise": _pairwise,
    "hogwild": _hogwild,
}

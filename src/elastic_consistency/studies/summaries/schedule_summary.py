"""A schedule in figures: staleness, jobs in flight, and where every worker's time goes."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency.schedule import ABSENT, Op, Schedule
from elastic_consistency.schedule.staleness import first_reads, last_uses
from elastic_consistency.studies.summaries.inert import inert_in

_ROUNDING = 1e-12  # of the duration: what a difference of sums leaves of nothing


@final
@dataclass(frozen=True, slots=True)
class WorkerSummary:
    """Where one worker's time went.

    Attributes:
        worker: Its number.
        jobs: Jobs that it computed to the end.
        pull_s: Seconds in which the model travelled to it.
        compute_s: Seconds in which it computed.
        wait_s: Seconds from the end of a computation to the use of its update: transfer, and
            in synchronous protocols the wait for the slowest.
        idle_s: The rest of the run, s.
        mean_compute_s: Mean seconds of one computation; NaN without one.
        slowest_compute_s: Longest computation, s; NaN without one.
        mean_staleness: Mean staleness of its updates, steps; NaN without one.
        largest_staleness: Steps.
    """

    worker: int
    jobs: int
    pull_s: float
    compute_s: float
    wait_s: float
    idle_s: float
    mean_compute_s: float
    slowest_compute_s: float
    mean_staleness: float
    largest_staleness: int

    @property
    def utilisation(self) -> float:
        """Share of the run in which the worker computed."""
        whole = self.pull_s + self.compute_s + self.wait_s + self.idle_s
        return self.compute_s / whole if whole else 0.0


@final
@dataclass(frozen=True, slots=True)
class ScheduleSummary:
    """A schedule at a glance.

    Attributes:
        protocol: Name of the protocol, "" when the schedule does not say.
        seed: Seed of its timing.
        digest: Its digest.
        n_workers: Number of workers.
        rows: Number of rows.
        jobs: Number of jobs.
        discarded_jobs: Jobs that were thrown away.
        steps: Number of STEP rows.
        duration_s: Time of its last row, s.
        mean_staleness: Over all updates that were added, steps.
        p99_staleness: 99th percentile, steps.
        largest_staleness: Steps.
        largest_in_flight: c_jobs, most other jobs read and not yet applied at a read.
        workers: One summary each worker.
        inert: Parts of cluster and payload that were set and changed nothing.
    """

    protocol: str
    seed: int
    digest: str
    n_workers: int
    rows: int
    jobs: int
    discarded_jobs: int
    steps: int
    duration_s: float
    mean_staleness: float
    p99_staleness: float
    largest_staleness: int
    largest_in_flight: int
    workers: tuple[WorkerSummary, ...]
    inert: tuple[str, ...] = ()


def summarise(schedule: Schedule) -> ScheduleSummary:
    """The summary of `schedule`."""
    stale = schedule.staleness()
    steps = stale.steps if len(stale.steps) else np.zeros(1, np.int64)
    metadata = schedule.metadata
    return ScheduleSummary(
        protocol=protocol_name(schedule),
        seed=metadata.seed,
        digest=schedule.digest(),
        n_workers=metadata.n_workers,
        rows=len(schedule.rows),
        jobs=len(schedule.jobs),
        discarded_jobs=int((schedule.jobs.share == 0).sum()),
        steps=int((schedule.rows.op == Op.STEP).sum()),
        duration_s=float(schedule.rows.time[-1]) if len(schedule.rows) else 0.0,
        mean_staleness=float(steps.mean()),
        p99_staleness=float(np.quantile(steps, 0.99)),
        largest_staleness=int(steps.max()),
        largest_in_flight=int(schedule.in_flight().max(initial=0)),
        workers=_workers(schedule),
        inert=inert_in(schedule),
    )


def protocol_name(schedule: Schedule) -> str:
    """Name of the protocol that made the schedule, "" when the schedule does not say."""
    told = schedule.metadata.provenance
    protocol = told.get("protocol", str(told.get("live", "")).partition("(")[0])
    return str(protocol.get("type", "") if isinstance(protocol, dict) else protocol)


def staleness_by_worker(schedule: Schedule) -> tuple[np.ndarray, ...]:
    """Staleness in steps of the updates of each worker, one array each worker."""
    stale = schedule.staleness()
    known = stale.job != ABSENT
    owner = schedule.jobs.worker[stale.job[known]]
    steps = stale.steps[known]
    return tuple(steps[owner == w] for w in range(schedule.metadata.n_workers))


def _workers(schedule: Schedule) -> tuple[WorkerSummary, ...]:
    """Phases of every job: pull from READ to begin, computation to ENCODE, wait to its use."""
    rows, jobs = schedule.rows, schedule.jobs
    encoded = np.flatnonzero(rows.op == Op.ENCODE)
    end = np.full(len(jobs), np.nan)
    end[rows.job[encoded]] = rows.time[encoded]  # the last block of a job wins
    read, used = _times(schedule, first_reads(schedule)), _times(schedule, last_uses(schedule))
    done = np.isfinite(end) & np.isfinite(jobs.begin)
    phases = np.stack([jobs.begin - read, end - jobs.begin, used - end])
    duration = float(rows.time[-1]) if len(rows) else 0.0
    stale = staleness_by_worker(schedule)
    return tuple(
        _worker(worker, phases[:, done & (jobs.worker == worker)], stale[worker], duration)
        for worker in range(schedule.metadata.n_workers)
    )


def _worker(
    worker: int, phases: np.ndarray, staleness: np.ndarray, duration: float
) -> WorkerSummary:
    pull, compute, wait = (float(np.nansum(phase)) for phase in phases)
    any_job = phases.shape[1] > 0
    idle = duration - pull - compute - wait
    return WorkerSummary(
        worker=worker,
        jobs=phases.shape[1],
        pull_s=pull,
        compute_s=compute,
        wait_s=wait,
        idle_s=idle if idle > _ROUNDING * duration else 0.0,
        mean_compute_s=float(phases[1].mean()) if any_job else float("nan"),
        slowest_compute_s=float(phases[1].max()) if any_job else float("nan"),
        mean_staleness=float(staleness.mean()) if len(staleness) else float("nan"),
        largest_staleness=int(staleness.max(initial=0)),
    )


def _times(schedule: Schedule, row: np.ndarray) -> np.ndarray:
    """Time of each row number, s; NaN where there is no such row."""
    time = np.full(len(row), np.nan)
    exists = row < len(schedule.rows)
    time[exists] = schedule.rows.time[row[exists]]
    return time

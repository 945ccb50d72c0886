"""A pool of workers that meet only at the server: running ahead without an event for each job.

While nothing else can happen (links cost nothing, nobody crashes, a computation takes what it
takes whenever it begins), the arrivals of one worker are running sums of its own draws, and the
order at the server is one sort. The schedule is that of the event-by-event run, bit for bit:
sums run in the same order, and where two arrivals meet at the same instant, so that the order of
events would decide, the pool steps back.
"""

from math import inf

import numpy as np

from elastic_consistency.random_streams import Cause, uniform_table, uniforms
from elastic_consistency.schedule import SERVER
from elastic_consistency.simulator.cluster import ComputeLaw, Worker
from elastic_consistency.simulator.delays.exponential import Exponential
from elastic_consistency.simulator.delays.gamma import Gamma
from elastic_consistency.simulator.delays.log_normal import LogNormal
from elastic_consistency.simulator.delays.pareto import Pareto
from elastic_consistency.simulator.delays.shifted_exponential import ShiftedExponential
from elastic_consistency.simulator.faults.fault_script import FaultScript
from elastic_consistency.simulator.row_patterns import PatternLog
from elastic_consistency.simulator.simulation import Simulation

# Arrivals of other laws coincide so often that trying would be in vain.
_WITHOUT_ATOMS = (Exponential, Gamma, LogNormal, Pareto, ShiftedExponential)


def run_ahead(
    simulation: Simulation, log: PatternLog, *, first: int, exchange: int, last: int
) -> bool:
    """Write the whole run of an asynchronous server, if the workers form such a pool.

    Args:
        simulation: A run that has not begun.
        log: Its log; entries are (time, pattern, job that arrives, job that begins).
        first: Pattern of the first READ of a worker.
        exchange: Pattern of an arrival after which the worker begins another job.
        last: Pattern of an arrival after which it does not.

    Returns:
        False, with nothing written, if events have to decide.
    """
    n, until = simulation.cluster.n_workers, simulation.until
    limited = until.time_s == inf and until.drain and until.jobs is not None and until.jobs >= n
    if not limited or not _is_pool(simulation):
        return False
    found = _arrivals(simulation, int(until.jobs or 0) - n)
    if found is None:
        return False
    time, worker = found
    order = np.argsort(time)  # no two are equal
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    # A worker's arrivals stand together: each brings the job that began at the one before.
    brought = n + np.roll(rank, 1)
    brought[np.searchsorted(worker, np.arange(n))] = np.arange(n)
    time, worker, brought = time[order], worker[order], brought[order]
    begun = n + np.arange(len(time) - n)
    entries = np.empty((n + len(time), 4))
    entries[:n] = np.stack([np.zeros(n), np.full(n, first), np.full(n, -1), np.arange(n)], axis=1)
    entries[n:, 0], entries[n:, 2] = time, brought
    entries[n:-n, 1], entries[n:-n, 3] = exchange, begun
    entries[-n:, 1], entries[-n:, 3] = last, -1
    begins = np.concatenate([np.zeros(n), time[:-n]])
    log.note_all(entries, np.concatenate([np.arange(n), worker[:-n]]), begins)
    simulation.n_jobs, simulation.refused = len(begins), True
    return True


def _is_pool(simulation: Simulation) -> bool:
    """Whether nothing but computations takes time, and each one the same whenever it begins."""
    cluster, down, up = simulation.cluster, simulation.model_bytes, simulation.update_bytes
    if cluster.faults != FaultScript():
        return False
    simulation.transfer(SERVER, 0, down)  # the links have been asked
    return all(
        isinstance(machine.compute, _WITHOUT_ATOMS)
        and machine.uplink.is_free(up)
        and machine.downlink.is_free(down)
        for machine in {id(machine): machine for machine in cluster.workers}.values()
    )


def _arrivals(simulation: Simulation, exchanges: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Times and workers of the first `exchanges` arrivals and of the next one of each worker.

    The arrivals of a worker stand together and in order. None if two coincide.
    """
    machines = simulation.cluster.workers
    n, mean = len(machines), exchanges / len(machines)
    first = int(mean + 4 * mean**0.5) + 2
    table = _first_arrivals(simulation, first)
    times, workers = [table.reshape(-1)], [np.repeat(np.arange(n), first)]
    latest, drawn = table[:, -1].copy(), np.full(n, first)
    while True:
        time = np.concatenate(times)
        # Arrivals that are still to be drawn can only bring this forward.
        end = np.partition(time, exchanges - 1)[exchanges - 1] if exchanges else 0.0
        short = np.flatnonzero(latest <= end).tolist()
        if not short:
            break
        for k in short:
            count = int(drawn[k])
            more = _later(simulation, k, machines[k], latest[k], count, count)
            if not more[-1] > latest[k]:  # delays are lost in rounding: it would never catch up
                return None
            times.append(more)
            workers.append(np.full(count, k))
            latest[k], drawn[k] = more[-1], 2 * count
    return _until(end, time, np.concatenate(workers))


def _until(
    end: float, time: np.ndarray, worker: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """The arrivals up to `end` and the next one of each worker, together by worker."""
    if (worker[1:] < worker[:-1]).any():
        order = np.argsort(worker, kind="stable")
        time, worker = time[order], worker[order]
    before = np.zeros_like(time)  # a worker's previous arrival, or the beginning
    before[1:] = np.where(worker[1:] == worker[:-1], time[:-1], 0.0)
    if not (time > before).all():
        return None
    kept = before <= end
    time, worker = time[kept], worker[kept]
    ordered = np.sort(time)
    apart = bool((ordered[1:] > ordered[:-1]).all()) and ordered[-1] < inf
    return (time, worker) if apart else None


def _first_arrivals(simulation: Simulation, count: int) -> np.ndarray:
    """(n, count) first arrivals of each worker, s; all begin at time 0."""
    machines, seed = simulation.cluster.workers, simulation.metadata.seed
    seconds = uniform_table(seed, Cause.COMPUTE, np.arange(len(machines)), 0, count)
    for (law, slowdown), workers in _kinds(machines).items():
        assert isinstance(law, _WITHOUT_ATOMS)  # see _is_pool
        delays = law.quantile(seconds[workers].reshape(-1)).reshape(-1, count)
        seconds[workers] = slowdown * simulation.payload.encode_s + slowdown * delays
    return np.add.accumulate(seconds, axis=1, out=seconds)


def _kinds(machines: tuple[Worker, ...]) -> dict[tuple[ComputeLaw, float], list[int] | slice]:
    """Workers of each law and slowdown; a slice where all are of one kind."""
    different = {id(machine): machine for machine in machines}
    kind_of = {name: (machine.compute, machine.slowdown) for name, machine in different.items()}
    if len(set(kind_of.values())) == 1:
        return dict.fromkeys(kind_of.values(), slice(None))
    kinds: dict[tuple[ComputeLaw, float], list[int] | slice] = {}
    for worker, machine in enumerate(machines):
        kinds.setdefault(kind_of[id(machine)], []).append(worker)  # type: ignore[union-attr]
    return kinds


def _later(
    simulation: Simulation, worker: int, machine: Worker, now: float, drawn: int, count: int
) -> np.ndarray:
    """The next `count` arrivals of a worker that begins `now`, after `drawn` computations."""
    assert isinstance(machine.compute, _WITHOUT_ATOMS)  # see _is_pool
    u = uniforms(simulation.metadata.seed, Cause.COMPUTE, worker, drawn, count)
    offset = machine.slowdown * simulation.payload.encode_s
    seconds = offset + machine.slowdown * machine.compute.quantile(u)
    return np.add.accumulate(np.concatenate([[now], seconds]))[1:]

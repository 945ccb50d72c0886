"""Replay on 2 gloo ranks against a hand-written torch.distributed loop with the same sends.

    python benchmarks/replay_speed.py [--json FILE]

The loop by hand knows one problem and one protocol: it keeps models and gradients in
dictionaries, sends without waiting, receives where it needs the number, and measures nothing.
Both walk the same schedule in the same two processes, alternating, and must end with the same
model. The figure is hand / replay in processor time of both ranks; 1 means as fast as by hand.
By the clock it is told, too, but on a machine with other load that measures the load.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from figures import Figure, ratios, report

from elastic_consistency.hardware_backend.lowering.placement import Placement
from elastic_consistency.hardware_backend.order import Order
from elastic_consistency.hardware_backend.processes.rank_process import Rank
from elastic_consistency.hardware_backend.processes.ranks import run_ranks
from elastic_consistency.hardware_backend.rank_replay import RankReplay
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
from elastic_consistency.simulator.protocols.base import AbstractProtocol

WORKERS, PAIRS, STEP_SIZE = 8, 11, 0.01
CASES = ((10, 600), (10_000, 400), (1_000_000, 32))  # parameters, jobs
Models = dict[int, torch.Tensor]


def server_by_hand(rank: int, schedule: Schedule, spectrum: torch.Tensor) -> Models:
    """The server on rank 0, worker w on rank (w + 1) mod 2; returns the model of the server."""
    rows, x = schedule.rows, torch.ones_like(spectrum)
    views, gradients, sends = {}, {}, []
    for op, worker, job in zip(
        rows.op.tolist(), schedule.jobs.worker[rows.job].tolist(), rows.job.tolist(), strict=True
    ):
        of_job = (worker + 1) % 2
        if op == Op.READ:
            if rank != 0 and of_job == rank:
                dist.recv(x := torch.empty_like(x), 0)
            if rank == 0 and of_job != rank:
                sends.append((dist.isend(x, of_job), x))
            elif of_job == rank:
                views[job] = x
        elif op == Op.GRADIENT and of_job == rank:
            gradients[job] = spectrum * views.pop(job)
        elif op == Op.ADD and rank == 0:
            if of_job == rank:
                update = gradients.pop(job)
            else:
                dist.recv(update := torch.empty_like(x), of_job)
            x = x - STEP_SIZE * update
        elif op == Op.ADD and of_job == rank:
            update = gradients.pop(job)
            sends.append((dist.isend(update, 0), update))
        while len(sends) > 64:
            sends.pop(0)[0].wait()
    for work, _ in sends:
        work.wait()
    return {0: x} if rank == 0 else {}


def all_reduce_by_hand(rank: int, schedule: Schedule, spectrum: torch.Tensor) -> Models:
    """A model a worker, worker w on rank (w + 1) mod 2, one all-reduce a round."""
    mine = [w for w in range(WORKERS) if (w + 1) % 2 == rank]
    models = {w: torch.ones_like(spectrum) for w in mine}
    for _ in range(len(schedule.jobs) // WORKERS):
        total = sum(spectrum * models[w] / WORKERS for w in mine)
        dist.all_reduce(total)
        for w in mine:
            models[w] = models[w] - STEP_SIZE * total
    return models


BY_HAND: dict[str, tuple[AbstractProtocol, Callable[..., Models]]] = {
    "asynchronous server": (AsynchronousServer(), server_by_hand),
    "all-reduce": (AllReduce(), all_reduce_by_hand),
}


def alternate(rank: Rank, order: tuple[str, Order]) -> np.ndarray:
    """What a rank does: (pairs, 3, 2) seconds by hand, of the replay, of its lowering."""
    name, replayed = order
    loop = BY_HAND[name][1]
    spectrum = torch.from_numpy(replayed.oracle.spectrum.copy())  # type: ignore[attr-defined]
    found = []
    for pair in range(PAIRS + 1):
        by_hand, models = seconds_of(lambda: loop(rank.number, replayed.schedule, spectrum))
        store = dist.PrefixStore(f"pair {pair}", rank.store)
        stand_in = Rank(rank.number, rank.size, store, rank.progress)
        lowering, task = seconds_of(lambda: RankReplay(stand_in, replayed))  # noqa: B023
        replay, part = seconds_of(task.run)
        for replica, model in models.items():
            np.testing.assert_allclose(part.models[replica][0], model.numpy(), rtol=1e-12)
        found.append((by_hand, replay, lowering))
    return np.array(found[1:])  # the first warms up


def seconds_of(task: Callable[[], Any]) -> tuple[np.ndarray, Any]:
    """Seconds of the clock until all ranks have done, those of this rank's processor, result."""
    dist.barrier()
    begin = time.perf_counter(), time.process_time()
    result = task()
    dist.barrier()
    return np.array([time.perf_counter() - begin[0], time.process_time() - begin[1]]), result


def compare(name: str, d: int, jobs: int) -> Iterator[Figure]:
    """Ratios of alternating runs."""
    cluster = Cluster.alike(WORKERS, Exponential(1.0))
    schedule = simulate(BY_HAND[name][0], cluster, until=Until(jobs=jobs), seed=0)
    oracle, rule = Quadratic(np.linspace(0.1, 1.0, d)), SGD(STEP_SIZE)
    order = Order(schedule, oracle, rule, None, (0,), Placement(2), "cpu", "float64", ordered=False)
    ranks = run_ranks(alternate, [(name, order)] * 2, timeout=60.0)
    hand, replay, lowering = np.sum(ranks, axis=0).transpose(1, 2, 0)
    case = f"{name}, d = {d:,}"
    yield Figure(f"by hand / replay, {case}", ratios(hand[1], replay[1]), "≥ 0.7")
    yield Figure(f"  with lowering, {case}", ratios(hand[1], replay[1] + lowering[1]))
    yield Figure(f"  by the clock, {case}", ratios(hand[0], replay[0]))
    yield Figure(f"  by hand, us a job, {case}", tuple(hand[1] / jobs * 1e6))


def measure() -> Iterator[Figure]:
    """Both protocols, all sizes."""
    for name in BY_HAND:
        for d, jobs in CASES:
            yield from compare(name, d, jobs)


if __name__ == "__main__":
    report(measure, __doc__)

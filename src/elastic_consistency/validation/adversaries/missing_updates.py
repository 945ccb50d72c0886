"""Nodes that crash in mid-broadcast, with and without a stand-in for what they did not send."""

from elastic_consistency.schedule import Recorder, Schedule


def crashed_broadcasts(n_nodes: int, n_crashes: int, *, substitute: bool = False) -> Schedule:
    """Round 0: the last f of p nodes crash after reaching every survivor but node 0.

    Node 0 lacks f updates of weight 1/p for ever; with `substitute` it adds its own in their
    place. Round 1 shows the views.

    Args:
        n_nodes: p.
        n_crashes: f, < p.
        substitute: Whether node 0 lets its own gradient stand in.
    """
    clock = [0.0]
    record = Recorder(lambda: clock[0], n_workers=n_nodes, hosts=tuple(range(n_nodes)))
    survivors = range(n_nodes - n_crashes)
    jobs = [_read(record, node, 0) for node in range(n_nodes)]
    clock[0] = 1.0
    for job in jobs:
        record.encode(job)
    for node in survivors:
        reached = jobs[: len(survivors)] if node == 0 else jobs
        for job in reached:
            stand_in = n_crashes if substitute and node == 0 and job == jobs[0] else 0
            record.add(node, job=job, weight=(1 + stand_in) / n_nodes)
        record.step(node)
    for job in jobs:
        record.drop(job=job, share=1 / n_nodes)
    for node in range(len(survivors), n_nodes):
        record.crash(node)
    _finish_round(record, clock, [_read(record, node, 1) for node in survivors], n_nodes)
    return record.finish()


def stand_ins(n_nodes: int) -> Schedule:
    """Variance-bounded elastic scheduler whose all-reduce is late as a whole.

    Every node lets its own update stand in with weight 1, computes the next gradient on that
    view, and replaces the stand-in by the average when it arrives.

    Args:
        n_nodes: p.
    """
    clock = [0.0]
    record = Recorder(lambda: clock[0], n_workers=n_nodes, hosts=tuple(range(n_nodes)))
    message = record.message()
    jobs = [_read(record, node, 0) for node in range(n_nodes)]
    clock[0] = 1.0
    for node, job in enumerate(jobs):
        record.encode(job)
        record.put(message, job=job, weight=1 / n_nodes)
        record.add(node, job=job)
        record.step(node)
    later = [_read(record, node, 1) for node in range(n_nodes)]
    for node, job in enumerate(jobs):
        record.add(node, job=job, weight=-1.0)
        record.add(node, message=message)
        record.step(node)
    record.drop(message=message)
    for job in jobs:
        record.drop(job=job, share=1 / n_nodes)
    _finish_round(record, clock, later, n_nodes)
    return record.finish()


def _read(record: Recorder, node: int, step: int) -> int:
    job = record.job(node, round=step)
    record.read(job, node)
    record.gradient(job)
    record.begin(job)
    return job


def _finish_round(record: Recorder, clock: list[float], jobs: list[int], n_nodes: int) -> None:
    """Everybody adds everything and drops it."""
    clock[0] += 1
    for job in jobs:
        record.encode(job)
    for node in range(len(jobs)):
        for job in jobs:
            record.add(node, job=job, weight=1 / n_nodes)
        record.step(node)
    for job in jobs:
        record.drop(job=job, share=1 / n_nodes)

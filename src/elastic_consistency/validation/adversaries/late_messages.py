"""Message passing in rounds: every node adds its own update at once and the others' late."""

from collections.abc import Callable

from elastic_consistency.schedule import Recorder, Schedule

Lateness = Callable[[int, int, int], int]


def late_messages(n_nodes: int, n_rounds: int, lateness: Lateness) -> Schedule:
    """p nodes; update of node j of round s is added by node i before round s + 1 + lateness.

    Every contribution weighs 1/p. What is still on its way after the last round is added
    then, so that nothing is lost.

    Args:
        n_nodes: p.
        n_rounds: Rounds with gradients.
        lateness: lateness(i, j, s) >= 0 rounds, for i != j.
    """
    clock = [0.0]
    record = Recorder(lambda: clock[0], n_workers=n_nodes, hosts=tuple(range(n_nodes)))
    due: dict[tuple[int, int], list[int]] = {}
    jobs: list[int] = []
    for step in range(n_rounds):
        clock[0] = float(step)
        new = [_read(record, node, step) for node in range(n_nodes)]
        clock[0] = step + 0.5
        for sender, job in enumerate(new):
            record.encode(job)
            for node in range(n_nodes):
                late = 0 if node == sender else lateness(node, sender, step)
                # What never arrives in time arrives when there is nothing left to compute.
                due.setdefault((min(step + late, n_rounds), node), []).append(job)
        jobs += new
        _deliver(record, due, step, n_nodes)
    clock[0] = float(n_rounds)
    _deliver(record, due, n_rounds, n_nodes)
    for job in jobs:
        record.drop(job=job, share=1 / n_nodes)
    return record.finish()


def _read(record: Recorder, node: int, step: int) -> int:
    job = record.job(node, round=step)
    record.read(job, node)
    record.gradient(job)
    record.begin(job)
    return job


def _deliver(
    record: Recorder, due: dict[tuple[int, int], list[int]], step: int, n_nodes: int
) -> None:
    for node in range(n_nodes):
        arrived = due.pop((step, node), [])
        for job in arrived:
            record.add(node, job=job, weight=1 / n_nodes)
        if arrived:
            record.step(node)

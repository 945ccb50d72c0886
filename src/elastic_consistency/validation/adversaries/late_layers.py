"""A forward pass that starts before the last layers are synchronised, and torn updates."""

from elastic_consistency.schedule import SERVER, Recorder, Schedule


def late_layer(n_nodes: int) -> Schedule:
    """Norm-bounded elastic scheduler: block 0 is synchronised in time, block 1 a step late.

    Every node applies its own update at once. With gradients whose block 0 has the share beta
    of the norm, every sender passes its test and every receiver lacks the rest.

    Args:
        n_nodes: p.
    """
    clock = [0.0]
    hosts = tuple(range(n_nodes))
    record = Recorder(lambda: clock[0], n_workers=n_nodes, hosts=hosts, block_sizes=(1, 1))
    first = [_read(record, node, 0) for node in range(n_nodes)]
    clock[0] = 1.0
    for job in first:
        record.encode(job)
    for node in range(n_nodes):
        for sender, job in enumerate(first):
            record.add(node, job=job, block=0, weight=1 / n_nodes)
            if sender == node:
                record.add(node, job=job, block=1, weight=1 / n_nodes)
        record.step(node)
    second = [_read(record, node, 1) for node in range(n_nodes)]
    for node in range(n_nodes):
        for sender, job in enumerate(first):
            if sender != node:
                record.add(node, job=job, block=1, weight=1 / n_nodes)
        record.step(node, block=1)
    _finish(record, clock, first, second, n_nodes)
    return record.finish()


def _read(record: Recorder, node: int, step: int) -> int:
    job = record.job(node, round=step)
    record.read(job, node)
    record.gradient(job)
    record.begin(job)
    return job


def _finish(
    record: Recorder, clock: list[float], first: list[int], second: list[int], n_nodes: int
) -> None:
    for job in first:
        record.drop(job=job, share=1 / n_nodes)
    clock[0] = 2.0
    for job in second:
        record.encode(job)
    for node in range(n_nodes):
        for job in second:
            record.add(node, job=job, weight=1 / n_nodes)
        record.step(node)
    for job in second:
        record.drop(job=job, share=1 / n_nodes)


def torn_updates(n_workers: int) -> Schedule:
    """Shared memory of two blocks: all read, all write block 0, all write block 1, again.

    A view of the second wave is read between the two writes of everybody.

    Args:
        n_workers: n.
    """
    clock = [0.0]
    record = Recorder(lambda: clock[0], n_workers=n_workers, hosts=(SERVER,), block_sizes=(1, 1))
    for wave in range(2):
        clock[0] = float(wave)
        jobs = []
        for worker in range(n_workers):
            job = record.job(worker)
            record.read(job, 0)
            record.gradient(job)
            record.begin(job)
            jobs.append(job)
        clock[0] += 1
        for job in jobs:
            record.encode(job)
        for block in (0, 1):
            for job in jobs:
                record.add(0, job=job, block=block)
                record.step(0, block=block)
        for job in jobs:
            record.drop(job=job, share=1.0)
    return record.finish()

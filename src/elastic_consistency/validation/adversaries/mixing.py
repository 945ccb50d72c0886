"""Gossip: every node steps on its own gradient, then the nodes mix their models."""

from collections.abc import Callable, Sequence

from elastic_consistency.schedule import Recorder, Schedule

Peers = Callable[[int, int], Sequence[int]]


def ring_peers(n_nodes: int) -> Peers:
    """Both neighbours on a ring of n nodes, in every round."""
    return lambda node, _step: ((node - 1) % n_nodes, (node + 1) % n_nodes)


def one_peer_exponential(n_nodes: int) -> Peers:
    """Round t: the node 2^(t mod k) places ahead, n = 2^k."""
    k = n_nodes.bit_length() - 1
    if n_nodes != 2**k or k == 0:
        raise ValueError(f"n_nodes must be a power of 2, at least 2, got {n_nodes!r}.")
    return lambda node, step: ((node + 2 ** (step % k)) % n_nodes,)


def mixing_rounds(
    n_nodes: int, n_rounds: int, peers: Peers, *, combine_first: bool = False
) -> Schedule:
    """X <- W_t (X - G): each node keeps and sends equal parts of its model.

    The last round does not mix, so that its views are those after all mixing.

    Args:
        n_nodes: n.
        n_rounds: Rounds with gradients.
        peers: peers(node, round) are the recipients; the mixing matrices are doubly
            stochastic when everybody also receives as often.
        combine_first: Whether to do X <- W_t X - G instead.
    """
    clock = [0.0]
    record = Recorder(lambda: clock[0], n_workers=n_nodes, hosts=tuple(range(n_nodes)))
    for step in range(n_rounds):
        clock[0] = float(step)
        jobs = [record.job(node, round=step) for node in range(n_nodes)]
        for node, job in enumerate(jobs):
            record.read(job, node)
            record.gradient(job)
            record.begin(job)
        clock[0] = step + 0.5
        recipients = [peers(node, step) for node in range(n_nodes)]
        if combine_first:
            _mix(record, n_nodes, recipients)
        for node, job in enumerate(jobs):
            _step_alone(record, node, job, n_nodes)
        if not combine_first and step < n_rounds - 1:
            _mix(record, n_nodes, recipients)
    return record.finish()


def _step_alone(record: Recorder, node: int, job: int, n_nodes: int) -> None:
    record.encode(job)
    record.add(node, job=job)
    record.step(node)
    record.drop(job=job, share=1 / n_nodes)


def _mix(record: Recorder, n_nodes: int, recipients: list[Sequence[int]]) -> None:
    messages = [record.message(moves=True) for _ in range(n_nodes)]
    for node, message in enumerate(messages):
        part = 1 / (1 + len(recipients[node]))
        record.put(message, replica=node, weight=part, keep=part)
    for node, message in enumerate(messages):
        for recipient in recipients[node]:
            record.mix(recipient, message, keep=1.0)
    for message in messages:
        record.drop(message=message)


def local_steps(n_nodes: int, period: int, n_periods: int) -> Schedule:
    """Local SGD: `period` own steps, then all models are replaced by their average.

    Args:
        n_nodes: n.
        period: H, own steps from one averaging to the next.
        n_periods: Averagings.
    """
    clock = [0.0]
    record = Recorder(lambda: clock[0], n_workers=n_nodes, hosts=tuple(range(n_nodes)))
    for step in range(period * n_periods):
        clock[0] = float(step)
        jobs = [record.job(node, round=step) for node in range(n_nodes)]
        for node, job in enumerate(jobs):
            record.read(job, node)
            record.gradient(job)
            record.begin(job)
        clock[0] = step + 0.5
        for node, job in enumerate(jobs):
            _step_alone(record, node, job, n_nodes)
        if (step + 1) % period == 0:
            _average(record, n_nodes)
    return record.finish()


def _average(record: Recorder, n_nodes: int) -> None:
    message = record.message()
    for node in range(n_nodes):
        record.put(message, replica=node, weight=1 / n_nodes)
    for node in range(n_nodes):
        record.mix(node, message, keep=0.0)
    record.drop(message=message)

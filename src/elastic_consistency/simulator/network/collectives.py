"""Cost models of an all-reduce: how long p workers need to sum their vectors."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import final

from elastic_consistency.simulator.network.links import Link
from elastic_consistency.simulator.network.transfers import PeerNetwork


class AbstractCollective(ABC):
    """An algorithm of an all-reduce, from the moment at which all workers are ready."""

    __slots__ = ()

    @abstractmethod
    def closed_form(
        self, n_workers: int, link: Link, n_bytes: float, *, shared_bytes_per_s: float = inf
    ) -> float:
        """Seconds over equal links without jitter, and then through a fabric that all share.

        Args:
            n_workers: p.
            link: Each of the links.
            n_bytes: Size of the vector.
            shared_bytes_per_s: What all transfers share; each of n at a time gets 1/n of it.
        """

    @abstractmethod
    def messages(self, network: PeerNetwork, n_bytes: float) -> float:
        """Seconds until the last worker has the sum, message by message."""


def collective_seconds(
    collective: AbstractCollective, network: PeerNetwork, n_bytes: float
) -> float:
    """Seconds of the next all-reduce of `n_bytes`; the closed form where it is exact.

    Raises:
        ValueError: If transfers share their bandwidth over links that are not all alike.
    """
    if network.is_uniform:
        rate = network.shared_bytes_per_s()
        return collective.closed_form(
            network.n_workers, network.steady_link(), n_bytes, shared_bytes_per_s=rate
        )
    return collective.messages(network, n_bytes)


def copies_seconds(
    network: PeerNetwork, donor: int, receivers: Sequence[int], n_bytes: float
) -> float:
    """Seconds until all `receivers` have a copy from `donor`, which sends to all at once."""
    if network.is_uniform:
        together = len(receivers) * n_bytes / network.shared_bytes_per_s()
        return network.steady_link().fixed_seconds(n_bytes) + together
    return max(network.seconds(donor, receiver, n_bytes) for receiver in receivers)


@final
@dataclass(frozen=True, slots=True)
class Ring(AbstractCollective):
    """2 (p - 1) steps, in each of which every worker sends 1/p of the vector to the next.

    Source: Patarasuk, Yuan (2009), Bandwidth Optimal All-reduce Algorithms, JPDC 69(2).
    """

    def closed_form(self, n_workers, link, n_bytes, *, shared_bytes_per_s=inf):
        part = n_bytes / n_workers
        # In every step all workers send a part at once.
        step = link.fixed_seconds(part) + n_workers * part / shared_bytes_per_s
        return 2 * (n_workers - 1) * step

    def messages(self, network, n_bytes):
        p, part = network.n_workers, n_bytes / network.n_workers
        ready = [0.0] * p
        for _ in range(2 * (p - 1)):
            sent = [
                begin + network.seconds(i, (i + 1) % p, part, after=begin)
                for i, begin in enumerate(ready)
            ]
            # A worker goes on when its own part has left and its neighbour's has arrived.
            ready = [max(sent[i], sent[i - 1]) for i in range(p)]
        return max(ready)


@final
@dataclass(frozen=True, slots=True)
class Tree(AbstractCollective):
    """A binomial tree: ceil(log2 p) steps to worker 0, the same number back.

    Source: Thakur, Rabenseifner, Gropp (2005), Optimization of Collective Communication
    Operations in MPICH, IJHPCA 19(1).
    """

    def closed_form(self, n_workers, link, n_bytes, *, shared_bytes_per_s=inf):
        steps = (n_workers - 1).bit_length()
        # Whoever takes part in a step does so at once; over all steps each worker sends once.
        waiting = (n_workers - 1) * n_bytes / shared_bytes_per_s
        return 2 * (steps * link.fixed_seconds(n_bytes) + waiting)

    def messages(self, network, n_bytes):
        p = network.n_workers
        hops = [1 << k for k in range((p - 1).bit_length())]
        ready = [0.0] * p
        for hop in hops:
            for i in range(0, p - hop, 2 * hop):
                # A worker takes one message at a time, in the order of the steps.
                start = max(ready[i], ready[i + hop])
                ready[i] = start + network.seconds(i + hop, i, n_bytes, after=start)
        for hop in reversed(hops):
            for i in range(0, p - hop, 2 * hop):
                arrival = ready[i] + network.seconds(i, i + hop, n_bytes, after=ready[i])
                # The parent is busy until its message has left.
                ready[i] = ready[i + hop] = arrival
        return max(ready)


@final
@dataclass(frozen=True, slots=True)
class Flat(AbstractCollective):
    """Everybody sends to worker 0, which sends the sum back; its link serves one at a time."""

    def closed_form(self, n_workers, link, n_bytes, *, shared_bytes_per_s=inf):
        if n_workers == 1:
            return 0.0
        bandwidth, through = link.bandwidth_bytes_per_s, n_bytes / shared_bytes_per_s
        # They enter the fabric one by one; the slower of the two stages sets the pace.
        link_first = (n_workers - 1) * n_bytes / bandwidth + through
        fabric_first = n_bytes / bandwidth + (n_workers - 1) * through
        return 2 * (link.latency_s + max(link_first, fabric_first))

    def messages(self, network, n_bytes):
        others = range(1, network.n_workers)
        gathered = _one_by_one(network, n_bytes, [(i, 0) for i in others], 0.0)
        return gathered + _one_by_one(network, n_bytes, [(0, i) for i in others], gathered)


def _one_by_one(
    network: PeerNetwork, n_bytes: float, pairs: list[tuple[int, int]], begin: float
) -> float:
    """Seconds until the last arrives, when the link of worker 0 carries one after another."""
    queue, last = 0.0, 0.0
    for sender, receiver in pairs:
        last = max(last, queue + network.seconds(sender, receiver, n_bytes, after=begin + queue))
        queue += n_bytes / network.link(sender, receiver).bandwidth_bytes_per_s
    return last

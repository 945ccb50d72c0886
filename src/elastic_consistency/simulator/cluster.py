"""The cluster: workers with their speeds, and the links between them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.schedule import SERVER
from elastic_consistency.simulator.clocks import Clock
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.preemption import Preemption
from elastic_consistency.simulator.delays.transient_straggler import TransientStraggler
from elastic_consistency.simulator.faults.fault_script import FaultScript
from elastic_consistency.simulator.network.links import Link

ComputeLaw = AbstractDelayLaw | TransientStraggler | Preemption


@final
@dataclass(frozen=True, slots=True)
class Worker:
    """One worker.

    Attributes:
        compute: Law of the time that one stochastic gradient takes.
        slowdown: Every computation takes this many times longer, > 0: a persistent straggler.
        uplink: From the worker to the server.
        downlink: From the server to the worker.
        clock: What it would write into its own log; it changes no event.
    """

    compute: ComputeLaw
    slowdown: float = 1.0
    uplink: Link = field(default_factory=Link)
    downlink: Link = field(default_factory=Link)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        check(isinstance(self.compute, ComputeLaw), self, "compute", "a delay law")
        sound = 0 < self.slowdown and isfinite(self.slowdown)
        check(sound, self, "slowdown", "a finite number > 0")

    def mean_seconds(self) -> float:
        """Long-run mean time of one stochastic gradient, s."""
        return self.slowdown * self.compute.mean()


@final
@dataclass(frozen=True, slots=True)
class PeerLink:
    """A link between two workers that differs from the others.

    Attributes:
        sender: Worker that sends.
        receiver: Worker that receives.
        link: The link, in this direction only.
    """

    sender: int
    receiver: int
    link: Link


@final
@dataclass(frozen=True, slots=True)
class SharedHost:
    """Workers of one machine, who slow each other down while they compute.

    With n of them computing at a time each one runs at speed 1 / (1 + contention * (n - 1)): 0
    is no contention, 1 is a memory bus that one worker alone can fill.

    Attributes:
        workers: Who is on it.
        contention: Slowdown by each further worker, >= 0.
    """

    workers: tuple[int, ...]
    contention: float

    def __post_init__(self) -> None:
        alone = len(set(self.workers)) == len(self.workers) > 0
        check(alone, self, "workers", "different workers, at least one")
        check(self.contention >= 0, self, "contention", "a number >= 0")

    def speed(self, n_computing: int) -> float:
        """Speed of each worker when so many compute at a time."""
        return 1 / (1 + self.contention * (n_computing - 1))


@final
@dataclass(frozen=True, slots=True)
class Cluster:
    """Workers, a server and what connects them.

    Attributes:
        workers: The workers, at least one; worker k is workers[k].
        fabric: Link between any two workers.
        exceptions: Links between workers that are not like `fabric`; one each pair.
        server_bandwidth_bytes_per_s: What all transfers from the server share, and all to it,
            > 0: each of n at a time gets 1/n of it, after its link.
        shared_hosts: Machines that several workers share; a worker is on at most one.
        faults: What goes wrong.
        fabric_bandwidth_bytes_per_s: What all transfers between workers share, > 0: each of n
            at a time gets 1/n of it, after its link.
    """

    workers: tuple[Worker, ...]
    fabric: Link = field(default_factory=Link)
    exceptions: tuple[PeerLink, ...] = ()
    server_bandwidth_bytes_per_s: float = inf
    shared_hosts: tuple[SharedHost, ...] = ()
    faults: FaultScript = field(default_factory=FaultScript)
    fabric_bandwidth_bytes_per_s: float = inf

    def __post_init__(self) -> None:
        workers = isinstance(self.workers, tuple) and len(self.workers) > 0
        sound = workers and all(isinstance(worker, Worker) for worker in self.workers)
        check(sound, self, "workers", "a tuple of at least one Worker")
        n = len(self.workers)
        pairs = [(peer.sender, peer.receiver) for peer in self.exceptions]
        known = all(0 <= s < n and 0 <= r < n and s != r for s, r in pairs)
        allowed = f"PeerLinks between two different workers of 0..{n - 1}, one each pair"
        check(known and len(set(pairs)) == len(pairs), self, "exceptions", allowed)
        for name in ("server_bandwidth_bytes_per_s", "fabric_bandwidth_bytes_per_s"):
            check(getattr(self, name) > 0, self, name, "a number of bytes a second > 0")
        placed = [worker for host in self.shared_hosts for worker in host.workers]
        sound = len(set(placed)) == len(placed) and set(placed) <= set(range(n))
        check(sound, self, "shared_hosts", f"about workers 0..{n - 1}, each on one host")
        named = self.faults.workers() <= set(range(n))
        check(named, self, "faults", f"about workers 0..{n - 1}")

    @staticmethod
    def alike(n_workers: int, compute: ComputeLaw, *, link: Link | None = None) -> "Cluster":
        """`n_workers` equal workers; `link` connects them to the server and to each other."""
        link = link or Link()
        return Cluster((Worker(compute, uplink=link, downlink=link),) * n_workers, fabric=link)

    @staticmethod
    def of_laws(laws: Iterable[ComputeLaw], *, link: Link | None = None) -> "Cluster":
        """One worker each law; `link` connects them to the server and to each other."""
        link = link or Link()
        workers = tuple(Worker(law, uplink=link, downlink=link) for law in laws)
        return Cluster(workers, fabric=link)

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return len(self.workers)

    def link(self, sender: int, receiver: int) -> Link:
        """The link from `sender` to `receiver`, each a worker or -1 for the server."""
        if receiver == SERVER:
            return self.workers[sender].uplink
        if sender == SERVER:
            return self.workers[receiver].downlink
        for peer in self.exceptions:
            if (peer.sender, peer.receiver) == (sender, receiver):
                return peer.link
        return self.fabric

    def limits_bandwidth(self) -> bool:
        """Whether any link has a finite bandwidth, so that sizes matter."""
        links = [link for worker in self.workers for link in (worker.uplink, worker.downlink)]
        links += [self.fabric, *(peer.link for peer in self.exceptions)]
        shared = min(self.server_bandwidth_bytes_per_s, self.fabric_bandwidth_bytes_per_s)
        return shared < inf or any(link.bandwidth_bytes_per_s < inf for link in links)

    @property
    def is_unreliable(self) -> bool:
        """Whether workers come and go, acknowledgements get lost or the server's port is shared."""
        shared = self.server_bandwidth_bytes_per_s < inf
        return self.faults.moves_workers or self.faults.lost_acknowledgements > 0 or shared

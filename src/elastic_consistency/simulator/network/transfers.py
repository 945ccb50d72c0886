"""The network between workers: the next transfer from one to another."""

from collections.abc import Callable
from math import inf
from typing import final

import numpy as np
import simpy

from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.constant import Constant
from elastic_consistency.simulator.delays.draws import LINK_LANES, Draw, independent_draws
from elastic_consistency.simulator.network.channel import Arrival, Transfer
from elastic_consistency.simulator.network.link_troubles import LinkTroubles
from elastic_consistency.simulator.network.links import Link
from elastic_consistency.simulator.processors.processor_sharing import ProcessorSharing

_PEER_LANE = 2


@final
class PeerNetwork:
    """Transfer times between workers; each sender draws its jitter in the order of sending.

    Args:
        cluster: The machines.
        seed: Seed of the run.
        env: Where time passes.
        used: Where to note the names of the parts of the cluster that have been used.

    Attributes:
        n_workers: Workers that are connected.
    """

    __slots__ = ("_draws", "_env", "_fabric", "_links", "_members", "_rate", "_script", "_seed",
                 "_shared", "_steady", "_troubles", "_used", "n_workers")  # fmt: skip

    def __init__(
        self,
        cluster: Cluster,
        seed: int,
        *,
        env: simpy.Environment | None = None,
        used: set[str] | None = None,
    ) -> None:
        self._fabric, self._seed, self._script = cluster.fabric, seed, cluster.faults
        self._env = env or simpy.Environment()
        self._used = set() if used is None else used
        rate = cluster.fabric_bandwidth_bytes_per_s
        self._rate = rate
        self._shared = ProcessorSharing(self._env, lambda n: rate / n) if rate < inf else None
        self._troubles: dict[tuple[int, int], LinkTroubles | None] = {}
        self._members: tuple[int, ...] | None = None
        self._links = {(peer.sender, peer.receiver): peer.link for peer in cluster.exceptions}
        self._draws: dict[int, Draw | Stream] = {}
        self._steady: dict[float, float] = {}  # seconds by size, where all links are alike
        self.n_workers = cluster.n_workers

    def among(self, members: tuple[int, ...]) -> "PeerNetwork":
        """The same network for some workers only, who are called 0, 1, ... in this order."""
        part = object.__new__(PeerNetwork)
        for name in PeerNetwork.__slots__:
            setattr(part, name, getattr(self, name))
        part._members, part.n_workers = members, len(members)
        return part

    @property
    def is_uniform(self) -> bool:
        """Whether every transfer of the same size takes the same time."""
        steady = self._fabric.is_calm and isinstance(self._fabric.jitter, Constant)
        return steady and not self._links and not self._script.has_partitions

    def steady_link(self) -> Link:
        """Every link of a uniform network, with its constant jitter in the latency."""
        link = self.link(0, 0)
        return Link(link.mean_seconds(0.0), bandwidth_bytes_per_s=link.bandwidth_bytes_per_s)

    def shared_bytes_per_s(self) -> float:
        """What all transfers share; who asks minds it."""
        self._used.add("shared bandwidth between workers")
        return self._rate

    @property
    def is_shared(self) -> bool:
        """Whether transfers share a finite bandwidth."""
        return self._shared is not None

    def link(self, sender: int, receiver: int) -> Link:
        """The link from one worker to another."""
        sender, receiver = self._named(sender, receiver)
        self._used.add("links between workers")
        return self._links.get((sender, receiver), self._fabric)

    def _named(self, *places: int) -> tuple[int, ...]:
        return places if self._members is None else tuple(self._members[k] for k in places)

    def seconds(self, sender: int, receiver: int, n_bytes: float, *, after: float = 0.0) -> float:
        """Seconds of the next transfer of `n_bytes`, which leaves `after` seconds from now.

        Raises:
            ValueError: If transfers share their bandwidth, so that the seconds are not known.
        """
        if self._shared is not None:
            raise ValueError(
                "This protocol must know how long a transfer takes as it begins: give it a "
                "cluster without Cluster.fabric_bandwidth_bytes_per_s. Collectives need not over "
                "equal links without jitter, losses, other traffic and partitions."
            )
        return self._seconds(sender, receiver, n_bytes, after)

    def send(
        self,
        sender: int,
        receiver: int,
        n_bytes: float,
        done: Callable[[], None],
        *,
        later: float = 0.0,
    ) -> Transfer | Arrival:
        """Send `n_bytes` now; `done` is called when they arrive, `later` seconds late."""
        steady = self._steady.get(n_bytes)
        if steady is None:
            self._used.add("shared bandwidth between workers")
            steady = self._seconds(sender, receiver, n_bytes, 0.0)
            if self.is_uniform:
                self._steady[n_bytes] = steady
        if self._shared is None:
            return Arrival(self._env, steady + later, done)
        return Transfer(self._env, steady + later, n_bytes, self._shared, done)

    def _seconds(self, sender: int, receiver: int, n_bytes: float, after: float) -> float:
        link = self.link(sender, receiver)
        sender, receiver = self._named(sender, receiver)
        calm = link.fixed_seconds(n_bytes) + self._jitter(sender, link.jitter)
        troubles = self._troubles_of(sender, receiver, link)
        return calm if troubles is None else troubles.seconds(self._env.now + after, calm, n_bytes)

    def _troubles_of(self, sender: int, receiver: int, link: Link) -> LinkTroubles | None:
        pair = (sender, receiver)
        if pair not in self._troubles:
            divided = self._script.separates(sender, receiver)
            if divided:
                self._used.add("partitions")
            needed = divided or not link.is_calm
            made = LinkTroubles(link, self._script, self._seed, *pair) if needed else None
            self._troubles[pair] = made
        return self._troubles[pair]

    def _jitter(self, sender: int, law: AbstractDelayLaw) -> float:
        if isinstance(law, Constant):
            return law.seconds
        if sender not in self._draws:
            self._draws[sender] = self._start(sender)
        draw = self._draws[sender]
        if isinstance(draw, Stream):
            for _ in range(_PEER_LANE):
                draw.draw()
            u = draw.draw()
            return float(law.quantile(np.array([u]))[0])
        return draw(0.0)

    def _start(self, sender: int) -> Draw | Stream:
        own = [link.jitter for (worker, _), link in self._links.items() if worker == sender]
        if all(law is self._fabric.jitter for law in own):  # the same draws, made ahead
            return independent_draws(
                self._fabric.jitter, self._seed, Cause.LINK, sender,
                lane=_PEER_LANE, lanes=LINK_LANES,
            )  # fmt: skip
        return Stream(self._seed, Cause.LINK, sender)

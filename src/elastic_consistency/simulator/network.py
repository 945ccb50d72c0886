"""The network between workers: the next transfer from one to another."""

from typing import final

import numpy as np

from elastic_consistency.random_streams import Cause, Stream
from elastic_consistency.simulator.cluster import Cluster
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.constant import Constant
from elastic_consistency.simulator.delays.draws import LINK_LANES, Draw, independent_draws
from elastic_consistency.simulator.links import Link

_PEER_LANE = 2


@final
class PeerNetwork:
    """Transfer times between workers; each sender draws its jitter in the order of sending.

    Args:
        cluster: The machines.
        seed: Seed of the run.
    """

    __slots__ = ("_draws", "_fabric", "_links", "_seed", "is_used", "n_workers")

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self._fabric, self._seed = cluster.fabric, seed
        self._links = {(peer.sender, peer.receiver): peer.link for peer in cluster.exceptions}
        self._draws: dict[int, Draw | Stream] = {}
        self.n_workers = cluster.n_workers
        #: Whether anybody has asked for a link between workers.
        self.is_used = False

    @property
    def is_uniform(self) -> bool:
        """Whether every transfer of the same size takes the same time."""
        return not self._links and isinstance(self._fabric.jitter, Constant)

    def link(self, sender: int, receiver: int) -> Link:
        """The link from one worker to another."""
        self.is_used = True
        return self._links.get((sender, receiver), self._fabric)

    def seconds(self, sender: int, receiver: int, n_bytes: float) -> float:
        """Seconds of the next transfer of `n_bytes` from `sender` to `receiver`."""
        link = self.link(sender, receiver)
        return link.fixed_seconds(n_bytes) + self._jitter(sender, link.jitter)

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
        laws = {link.jitter for (worker, _), link in self._links.items() if worker == sender}
        if laws <= {self._fabric.jitter}:
            return independent_draws(
                self._fabric.jitter, self._seed, Cause.LINK, sender,
                lane=_PEER_LANE, lanes=LINK_LANES,
            )  # fmt: skip
        return Stream(self._seed, Cause.LINK, sender)

"""What makes a transfer take longer than its link alone: losses, other traffic, partitions."""

from typing import final

from elastic_consistency.random_streams import Cause
from elastic_consistency.simulator.delays.draws import independent_draws
from elastic_consistency.simulator.faults.fault_script import FaultScript
from elastic_consistency.simulator.network.links import Link
from elastic_consistency.simulator.network.losses import Attempts
from elastic_consistency.simulator.phase_log import PhaseLog

_WORKERS = 1 << 24  # more than any cluster has


def pair_address(sender: int, receiver: int) -> int:
    """Number of the streams of a pair, beyond those of all workers; -1 is the server."""
    return _WORKERS * (receiver + 2) + sender + 1


@final
class LinkTroubles:
    """The troubles of the transfers from one end of a link to the other.

    A lost transmission is repeated after `Link.resend_s`, so that loss is nothing but delay.

    Args:
        link: The link.
        script: Partitions.
        seed: Seed of the run.
        sender: One end, -1 for the server.
        receiver: The other end.
    """

    __slots__ = ("_attempts", "_background", "_bandwidth", "_ends", "_resend_s", "_script")

    def __init__(
        self, link: Link, script: FaultScript, seed: int, sender: int, receiver: int
    ) -> None:
        self._script, self._ends = script, (sender, receiver)
        address = pair_address(sender, receiver)
        self._attempts = Attempts(link.loss, seed, address) if link.loss != 0 else None
        self._resend_s, self._bandwidth = link.resend_s or 0.0, link.bandwidth_bytes_per_s
        self._background = None
        if link.background is not None:
            phases = (link.background.idle, link.background.busy)
            idle, busy = (
                independent_draws(law, seed, Cause.PHASE, address, lane=lane, lanes=2)
                for lane, law in enumerate(phases)
            )
            self._background = PhaseLog((idle, busy), (1.0, 1 - link.background.share))

    def seconds(self, now: float, calm: float, n_bytes: float) -> float:
        """Seconds of a transfer that leaves `now`, s, and takes `calm` seconds without them."""
        taken = calm
        if self._background is not None:
            work = n_bytes / self._bandwidth
            taken += self._background.elapsed(now, work) - work
        if self._attempts is not None:
            taken += (self._attempts.next() - 1) * self._resend_s
        arrival = now + taken
        healed = self._script.heals(*self._ends, arrival)
        return taken if healed == arrival else healed - now

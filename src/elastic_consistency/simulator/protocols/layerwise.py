"""Layer-wise data parallelism: layers are sent as they are ready, and waited for or not."""

from dataclasses import dataclass, field
from enum import Enum
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.simulator.layer_profile import LayerProfile
from elastic_consistency.simulator.network.collectives import AbstractCollective, Ring
from elastic_consistency.simulator.protocols.base import AbstractBlockProtocol
from elastic_consistency.simulator.protocols.layerwise_restatement import require_layerwise
from elastic_consistency.simulator.protocols.layerwise_rounds import LayerwiseRounds


class Scheduler(Enum):
    """What the forward pass of a layer waits for."""

    #: All layers of the last step.
    BARRIER = "barrier"
    #: The same layer of the last step.
    CROSS_BARRIER = "cross-barrier"
    #: The same layer of the step before the last; the worker's own gradient stands in.
    VARIANCE_BOUNDED = "variance-bounded"

    @property
    def lag(self) -> int:
        """Steps by which a layer may be late."""
        return 1 if self is Scheduler.VARIANCE_BOUNDED else 0


@final
@dataclass(frozen=True, slots=True)
class Layerwise(AbstractBlockProtocol):
    """Forward layer by layer, backward layer by layer, an all-reduce for each layer.

    The law of a worker's computation is the time of a whole step; the profile spreads it over
    the layers. One all-reduce is on the links at a time: with a barrier the one that was ready
    first, else the one that the next forward pass needs first. `simulate` spreads
    `Payload.update_bytes` over the layers by their parameters.

    Attributes:
        profile: The layers.
        scheduler: What a forward pass waits for.
        collective: Algorithm of the all-reduce, which sets its time.

    Source: Peng et al. (2019), A Generic Communication Scheduler for Distributed DNN Training
    Acceleration, SOSP; Nadiradze et al. (2021), elastic scheduling, variance-bounded.
    """

    profile: LayerProfile
    scheduler: Scheduler = Scheduler.BARRIER
    collective: AbstractCollective = field(default_factory=Ring)

    def __post_init__(self) -> None:
        check(isinstance(self.scheduler, Scheduler), self, "scheduler", "a Scheduler")

    def block_sizes(self):
        return self.profile.sizes()

    def hosts(self, cluster):
        return tuple(range(cluster.n_workers))

    def start(self, simulation):
        LayerwiseRounds(
            simulation,
            self.profile,
            self.collective,
            lag=self.scheduler.lag,
            barrier=self.scheduler is Scheduler.BARRIER,
        ).begin()

    def restate(self, schedule):
        require_layerwise(
            schedule,
            len(self.profile.layers),
            lag=self.scheduler.lag,
            barrier=self.scheduler is Scheduler.BARRIER,
            stand_in=1.0,
            rule=f"layer-wise, {self.scheduler.value}",
        )

"""The norm-bounded elastic scheduler: go on when enough of every gradient has arrived."""

from dataclasses import dataclass, field
from typing import ClassVar, final

from elastic_consistency._checks import check
from elastic_consistency.schedule import Op
from elastic_consistency.simulator.layer_profile import LayerProfile
from elastic_consistency.simulator.network.collectives import AbstractCollective, Ring
from elastic_consistency.simulator.protocols.base import AbstractBlockProtocol
from elastic_consistency.simulator.protocols.layerwise_restatement import require_layerwise
from elastic_consistency.simulator.protocols.layerwise_rounds import LayerwiseRounds
from elastic_consistency.simulator.protocols.restatement import refuse_unless


@final
@dataclass(frozen=True, slots=True)
class NormBounded(AbstractBlockProtocol):
    """A layer's forward pass starts when the layer is in, or when little is missing.

    Little is missing when at every worker the layers that are in hold at least `threshold` of
    the norm of its gradient. The worker's own piece, with weight 1/p, is then applied at once
    and the rest when it arrives, before the next step but one. The gap is at most
    sqrt(1 - threshold^2) M (p - 1) / p, because the test is made at every sender. It needs
    gradients, so it runs by `lock_step`, which records every answer.

    Attributes:
        profile: The layers.
        threshold: beta, part of the norm that must be in, in (0, 1].
        collective: Algorithm of the all-reduce, which sets its time.

    Source: Nadiradze et al. (2021), AAAI 35(10):9037-9045, elastic scheduling, norm-bounded.
    """

    asks: ClassVar[bool] = True

    profile: LayerProfile
    threshold: float
    collective: AbstractCollective = field(default_factory=Ring)

    def __post_init__(self) -> None:
        check(0 < self.threshold <= 1, self, "threshold", "a number in (0, 1]")

    def block_sizes(self):
        return self.profile.sizes()

    def hosts(self, cluster):
        return tuple(range(cluster.n_workers))

    def start(self, simulation):
        LayerwiseRounds(
            simulation,
            self.profile,
            self.collective,
            lag=1,
            barrier=False,
            stand_in=1 / simulation.cluster.n_workers,
            threshold=self.threshold,
        ).begin()

    def restate(self, schedule):
        rule = "norm-bounded"
        p, layers = schedule.metadata.n_workers, len(self.profile.layers)
        require_layerwise(schedule, layers, lag=1, barrier=False, stand_in=1 / p, rule=rule)
        passed: set[int] = set()
        for decision in schedule.metadata.decisions:
            jobs = decision.operands[1 : 1 + decision.operands[0]]
            steps = {int(schedule.jobs.round[job]) for job in jobs}
            whole = len(jobs) == p and len(steps) == 1
            refuse_unless(whole, rule, "a question is about all gradients of one step")
            if decision.answer >= self.threshold:
                passed |= steps
        rows = schedule.rows
        for row in range(len(rows)):
            alone = rows.op[row] == Op.ADD and rows.job[row] >= 0 and rows.weight[row] > 0
            step = int(schedule.jobs.round[rows.job[row]])
            fits = not alone or step in passed
            refuse_unless(fits, rule, "nothing stands in before the test is passed", row=row)

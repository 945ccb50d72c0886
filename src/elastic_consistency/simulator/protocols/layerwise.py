"""Layer-wise data parallelism: layers are sent as they are ready, and waited for or not."""

from dataclasses import dataclass, field
from enum import Enum
from typing import final

import numpy as np

from elastic_consistency._checks import check
from elastic_consistency.schedule import Op, Schedule
from elastic_consistency.simulator.collectives import AbstractCollective, Ring
from elastic_consistency.simulator.layer_profile import LayerProfile
from elastic_consistency.simulator.protocols.base import AbstractBlockProtocol
from elastic_consistency.simulator.protocols.layerwise_rounds import LayerwiseRounds
from elastic_consistency.simulator.protocols.restatement import (
    refuse_unless,
    require_everywhere,
    require_only,
)


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
        rule, rows, jobs = "layer-wise", schedule.rows, schedule.jobs
        p, layers = schedule.metadata.n_workers, len(self.profile.layers)
        ops = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.PUT, Op.ADD, Op.STEP, Op.DROP)
        require_only(schedule, ops, rule)
        share = jobs.share[~np.isnan(jobs.share)]
        refuse_unless(bool((share == 1 / p).all()), rule, "a share is 1/p")
        read, encode = (np.flatnonzero(rows.op == op) for op in (Op.READ, Op.ENCODE))
        own = rows.replica[read] == rows.worker[read]
        require_everywhere(own, read, rule, "a worker reads its own replica")
        upward = np.lexsort((read, rows.job[read]))
        in_order = rows.block[read[upward]] == np.arange(len(read)) % layers
        require_everywhere(in_order, read[upward], rule, "forward runs from the first layer")
        downward = np.lexsort((encode, rows.job[encode]))
        in_order = rows.block[encode[downward]] == layers - 1 - np.arange(len(encode)) % layers
        require_everywhere(in_order, encode[downward], rule, "backward runs from the last layer")
        put = np.flatnonzero(rows.op == Op.PUT)
        weighed = (rows.weight[put] == 1 / p) & (rows.op[put - 1] == Op.ENCODE)
        require_everywhere(weighed, put, rule, "a layer is sent as it is ready, with weight 1/p")
        refuse_unless(len(put) == len(encode), rule, "every layer is sent")
        self._require_waits(schedule, rule)

    def _require_waits(self, schedule: Schedule, rule: str) -> None:
        """A forward pass has waited for what the scheduler says; stand-ins come and go."""
        rows, jobs = schedule.rows, schedule.jobs
        p, layers = schedule.metadata.n_workers, len(self.profile.layers)
        content = {}
        for row in np.flatnonzero(rows.op == Op.PUT).tolist():
            key = (int(jobs.round[rows.job[row]]), int(rows.block[row]))
            known = content.setdefault(int(rows.message[row]), (key, set()))
            known[1].add(int(jobs.worker[rows.job[row]]))
            refuse_unless(known[0] == key, rule, "a message is one layer of one step", row=row)
        done = np.full((p, layers), -1)  # last step that each replica has of each layer
        stood_in: set[tuple[int, int, int]] = set()
        for row in range(len(rows)):
            op, node, layer = rows.op[row], int(rows.replica[row]), int(rows.block[row])
            if op == Op.READ:
                step = int(jobs.round[rows.job[row]])
                self._require_layer(done[node], layer, step, rule, row)
                late = done[node, layer] < step - 1
                there = (node, step - 1, layer) in stood_in
                refuse_unless(late == there, rule, "a stand-in for what is late", row=row)
            elif op == Op.ADD and rows.job[row] >= 0:
                key = (node, int(jobs.round[rows.job[row]]), layer)
                own = jobs.worker[rows.job[row]] == node
                sign = -1.0 if key in stood_in else 1.0
                fits = bool(own) and rows.weight[row] == sign and self.scheduler.lag == 1
                refuse_unless(fits, rule, "one's own layer stands in", row=row)
                stood_in ^= {key}
            elif op == Op.ADD:
                key, senders = content[int(rows.message[row])]
                fits = key == (done[node, layer] + 1, layer) and len(senders) == p
                fits = fits and rows.weight[row] == 1 and (node, *key) not in stood_in
                refuse_unless(fits, rule, "steps of a layer come in order", row=row)
                done[node, layer] += 1
        steps = np.flatnonzero(rows.op == Op.STEP)
        after = rows.op[steps - 1] == Op.ADD
        refuse_unless(bool(after.all()), rule, "a step follows what it takes")
        refuse_unless(not stood_in, rule, "every stand-in is taken back")

    def _require_layer(self, done: np.ndarray, layer: int, step: int, rule: str, row: int) -> None:
        needed = done if self.scheduler is Scheduler.BARRIER else done[layer : layer + 1]
        waited = bool((needed >= step - 1 - self.scheduler.lag).all())
        refuse_unless(waited, rule, f"forward waits: {self.scheduler.value}", row=row)

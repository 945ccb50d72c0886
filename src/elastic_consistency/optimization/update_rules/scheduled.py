"""Any rule, with a step size that varies from step to step."""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, cast, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule
from elastic_consistency.optimization.update_rules.step_size_schedules import (
    AbstractStepSizeSchedule,
)


@final
@dataclass(frozen=True, slots=True)
class Scheduled(AbstractRule):
    """Step k is the step of `rule` with step_size * schedule.factor(k).

    The counter k belongs to the replica: its state is (k, state of the rule). Auxiliary
    sequence: a job has the step size of the STEP that uses it, `step_factor` of its number,
    times its share and scale; a momentum that spans several step sizes has none of constant
    weights, and theorems for a constant step size do not apply. A step size of 0 is allowed at
    single steps.

    Attributes:
        rule: The rule, with a step_size of its own (put `Clipped` around, not inside); one
            whose workers use the step size themselves is refused, since they cannot know the
            counter of the replica.
        schedule: Factors in [0, 1].
    """

    additive: ClassVar[bool] = False
    constant_step: ClassVar[bool] = False

    rule: AbstractRule
    schedule: AbstractStepSizeSchedule

    def __post_init__(self) -> None:
        own = any(field.name == "step_size" for field in fields(cast(Any, self.rule)))
        allowed = "a rule with a step_size of its own that does not read views"
        check(own and not self.rule.needs_view, self, "rule", allowed)

    @property
    def auxiliary_step_size(self):
        return self.rule.auxiliary_step_size

    def replica_state(self, x):
        return 0, self.rule.replica_state(x)

    def worker_state(self, x):
        return self.rule.worker_state(x)

    def encode(self, state, gradient, view, latest):
        return self.rule.encode(state, gradient, view, latest)

    def scale(self, staleness):
        return self.rule.scale(staleness)

    def step_factor(self, step):
        return self.schedule.factor(step)

    def step(self, x, buffer, state):
        count, inner = state
        factor = self.step_factor(count)
        if factor == 0:  # no rule has a step size of 0, but its state must move on
            _, inner = self.rule.step(x, buffer, inner)
            return x, (count + 1, inner)
        base = cast(Any, self.rule)  # a dataclass with a step size, as the constructor checked
        rule = replace(base, step_size=base.step_size * factor)
        moved, inner = rule.step(x, buffer, inner)
        return moved, (count + 1, inner)

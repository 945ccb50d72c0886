"""Step-size schedules: factors on a rule's step size, by number of the step."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import cos, pi
from typing import final

from elastic_consistency._checks import check


class AbstractStepSizeSchedule(ABC):
    """A factor in [0, 1] for every step; the largest step size is the rule's own."""

    @abstractmethod
    def factor(self, step: int) -> float:
        """Factor at step 0, 1, 2, ..."""


@final
@dataclass(frozen=True, slots=True)
class WarmUp(AbstractStepSizeSchedule):
    """min(1, (step + 1) / steps), times the factor of what follows, counted from its end.

    Attributes:
        steps: Steps of the warm-up, >= 1.
        then: Schedule afterwards; None keeps the factor at 1.

    Source: Goyal et al. (2017), arXiv:1706.02677, gradual warm-up.
    """

    steps: int
    then: AbstractStepSizeSchedule | None = None

    def __post_init__(self) -> None:
        check(self.steps >= 1, self, "steps", "a number of steps >= 1")

    def factor(self, step):
        if step < self.steps:
            return (step + 1) / self.steps
        return 1.0 if self.then is None else self.then.factor(step - self.steps)


@final
@dataclass(frozen=True, slots=True)
class StepDecay(AbstractStepSizeSchedule):
    """decay to the power of the number of milestones reached.

    Attributes:
        milestones: Steps at which the factor falls, increasing.
        decay: In (0, 1].
    """

    milestones: tuple[int, ...]
    decay: float = 0.1

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.milestones, self.milestones[1:], strict=False))
        check(rising, self, "milestones", "increasing step numbers")
        check(0 < self.decay <= 1, self, "decay", "a number in (0, 1]")

    def factor(self, step):
        return self.decay ** sum(milestone <= step for milestone in self.milestones)


@final
@dataclass(frozen=True, slots=True)
class Cosine(AbstractStepSizeSchedule):
    """floor + (1 - floor) (1 + cos(pi step / steps)) / 2, and `floor` after the last step.

    Attributes:
        steps: Steps until the floor, >= 1.
        floor: Last factor, in [0, 1].

    Source: Loshchilov, Hutter (2017), arXiv:1608.03983, without restarts.
    """

    steps: int
    floor: float = 0.0

    def __post_init__(self) -> None:
        check(self.steps >= 1, self, "steps", "a number of steps >= 1")
        check(0 <= self.floor <= 1, self, "floor", "a number in [0, 1]")

    def factor(self, step):
        progress = min(step, self.steps) / self.steps
        return self.floor + (1 - self.floor) * (1 + cos(pi * progress)) / 2

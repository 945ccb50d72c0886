"""When the forward pass may use a layer whose all-reduce is still under way."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, final

from elastic_consistency._checks import check


class AbstractPolicy(ABC):
    """A frozen dataclass that answers for one layer at a time.

    Attributes:
        waits_for_all: Whether the first layer waits for the messages of all layers.
    """

    waits_for_all: ClassVar[bool] = False

    @abstractmethod
    def proceeds(self, arrived: float, total: float) -> bool:
        """Whether a layer may be used although its message is missing.

        Args:
            arrived: Squared norm of the own gradient in the layers that have arrived.
            total: Squared norm of the whole own gradient.
        """

    @abstractmethod
    def stand_in(self, n_ranks: int) -> float:
        """Weight of the own gradient where the mean of all is missing."""


@final
@dataclass(frozen=True, slots=True)
class Barrier(AbstractPolicy):
    """The next forward pass begins when all layers have arrived, as without a scheduler."""

    waits_for_all: ClassVar[bool] = True

    def proceeds(self, arrived, total):
        return False

    def stand_in(self, n_ranks):
        return 0.0


@final
@dataclass(frozen=True, slots=True)
class CrossBarrier(AbstractPolicy):
    """A layer waits for its own message only; the numbers are those of the barrier.

    Source: Peng et al. (2019), A Generic Communication Scheduler, doi:10.1145/3341301.3359642.
    """

    def proceeds(self, arrived, total):
        return False

    def stand_in(self, n_ranks):
        return 0.0


@final
@dataclass(frozen=True, slots=True)
class NormBounded(AbstractPolicy):
    """Go on once the layers that arrived hold a share `beta` of the own gradient's norm.

    The own piece is applied in the meantime with its weight 1 / p. The test is each rank's own,
    as published; B <= sqrt(1 - beta^2) M (p - 1) / p needs it to hold at every sender.

    Attributes:
        beta: Share of the norm, in [0, 1]; 1 is the cross-barrier.

    Source: Nadiradze, Markov, Chatterjee, Kungurtsev, Alistarh (2021), arXiv:2001.05918.
    """

    beta: float

    def __post_init__(self) -> None:
        check(0 <= self.beta <= 1, self, "beta", "a share in [0, 1]")

    def proceeds(self, arrived, total):
        return self.beta < 1 and sqrt(arrived) >= self.beta * sqrt(total)

    def stand_in(self, n_ranks):
        return 1 / n_ranks


@final
@dataclass(frozen=True, slots=True)
class VarianceBounded(AbstractPolicy):
    """Go on at once; the own gradient stands in for the whole mean until that arrives.

    B = sigma sqrt((p - 1) / p) up to O(step size).

    Source: Nadiradze, Markov, Chatterjee, Kungurtsev, Alistarh (2021), arXiv:2001.05918.
    """

    def proceeds(self, arrived, total):
        return True

    def stand_in(self, n_ranks):
        return 1.0

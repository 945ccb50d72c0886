"""Elastic averaging: workers explore, tied to a centre by springs."""

from dataclasses import dataclass
from typing import ClassVar, final

from elastic_consistency._checks import check
from elastic_consistency.optimization.update_rules.base import AbstractRule


@final
@dataclass(frozen=True, slots=True)
class EASGD(AbstractRule):
    """x_w <- x_w - step_size * g - a (x_w - centre);  centre <- centre + a (x_w - centre).

    a = `exchange_weight` = step_size * exploration. The springs are exchanges of models, in
    operations, for worker w and the centre c: READ(job, w), GRADIENT, ENCODE; PUT(w -> m, 1),
    PUT(c -> n, 1), MIX(n -> w, a, keep 1 - a), MIX(m -> c, a, keep 1 - a); ADD(job -> w),
    STEP(w). The gradient is that of the point before the exchange. With several workers that
    exchange at once, the centre's keep is 1 - n a. With `window` > 1 a worker exchanges only
    before every window-th step, which is called AEASGD. A replica is never reset to the centre.
    Auxiliary sequence: the mean of all replicas and the centre moves by SGD, in which every job
    has weight step_size / (n + 1).

    Attributes:
        step_size: eta, > 0.
        exploration: rho, > 0, stiffness of the springs.
        window: lambda, >= 1, steps between two exchanges of a worker.

    Source: Zhang, Choromanska, LeCun (2015), arXiv:1412.6651, equations 5 and 6.
    """

    additive: ClassVar[bool] = True

    step_size: float
    exploration: float
    window: int = 1

    def __post_init__(self) -> None:
        check(0 < self.step_size < float("inf"), self, "step_size", "a finite number > 0")
        check(0 < self.exploration < float("inf"), self, "exploration", "a finite number > 0")
        check(self.window >= 1, self, "window", "a number of steps >= 1")

    @property
    def auxiliary_step_size(self):
        return self.step_size

    @property
    def exchange_weight(self) -> float:
        """a, the share of the difference that one exchange moves."""
        return self.step_size * self.exploration

    def step(self, x, buffer, state):
        return x - self.step_size * buffer, state


def largest_stable_exchange_weight(rate: float) -> float:
    """(4 - 2 rate) / (4 - rate), where one worker on a quadratic becomes unstable.

    The two models follow [[1 - rate - a, a], [a, 1 - a]], whose eigenvalues are real; the
    smaller one reaches -1 where (2 - rate - a)(2 - a) = a^2, which is this a.

    Args:
        rate: step_size times curvature, in [0, 2].

    Raises:
        ValueError: If `rate` lies outside [0, 2], where no exchange weight is stable.
    """
    if not 0 <= rate <= 2:
        raise ValueError(f"largest_stable_exchange_weight.rate must be in [0, 2], got {rate!r}.")
    return (4 - 2 * rate) / (4 - rate)


def largest_stable_weight_step_first(rate: float) -> float:
    """Where one worker on a quadratic becomes unstable when the step precedes the exchange.

    The order of Hermans' thesis: the two models follow
    [[(1 - a)(1 - rate), a], [a (1 - rate), 1 - a]], of trace (1 - a)(2 - rate) and
    determinant (1 - rate)(1 - 2 a). Stable where 1 - trace + det = a rate > 0,
    1 + trace + det > 0, that is a < (4 - 2 rate) / (4 - 3 rate) as long as rate < 4 / 3, and
    det < 1, that is a < rate / (2 (rate - 1)) where rate > 1. The second is the smaller one
    from rate = 4 - sqrt(8) = 1.1716 on.

    Args:
        rate: step_size times curvature, in (0, 2].

    Raises:
        ValueError: If `rate` lies outside (0, 2].
    """
    if not 0 < rate <= 2:
        raise ValueError(f"largest_stable_weight_step_first.rate must be in (0, 2], got {rate!r}.")
    flip = (4 - 2 * rate) / (4 - 3 * rate) if rate < 4 / 3 else float("inf")
    turn = rate / (2 * (rate - 1)) if rate > 1 else float("inf")
    return min(flip, turn)

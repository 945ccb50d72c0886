"""Gradient clipping, by norm and by value, in front of any rule."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.arrays import norms
from elastic_consistency.optimization.update_rules.base import AbstractRule

Array = Any


class AbstractClip(ABC):
    """A map that bounds gradients."""

    @abstractmethod
    def __call__(self, gradient: Array) -> Array:
        """(R, d) clipped rows of an (R, d) gradient."""


@final
@dataclass(frozen=True, slots=True)
class NormClip(AbstractClip):
    """g * min(1, limit / ||g||).

    Rows that are not finite come out as NaN in every coordinate, so that divergence stays
    visible. Per block where the model is cut into blocks.

    Attributes:
        limit: Largest norm, > 0; it is then M.

    Source: Pascanu, Mikolov, Bengio (2013), arXiv:1211.5063.
    """

    limit: float

    def __post_init__(self) -> None:
        check(0 < self.limit < float("inf"), self, "limit", "a finite number > 0")

    def __call__(self, gradient):
        xp = array_namespace(gradient)
        length = norms(gradient)[..., None]
        # An infinite norm gives factor 0, and 0 times infinity would warn.
        safe = xp.where(xp.isfinite(length), gradient, xp.full_like(gradient, xp.nan))
        return safe * xp.clip(self.limit / xp.clip(length, self.limit, None), None, 1.0)


@final
@dataclass(frozen=True, slots=True)
class ValueClip(AbstractClip):
    """Every coordinate cut to [-limit, limit].

    NaN stays NaN; an infinite coordinate becomes +-limit.

    Attributes:
        limit: Largest absolute value, > 0; M is then at most sqrt(d) limit.
    """

    limit: float

    def __post_init__(self) -> None:
        check(0 < self.limit < float("inf"), self, "limit", "a finite number > 0")

    def __call__(self, gradient):
        return array_namespace(gradient).clip(gradient, -self.limit, self.limit)


@final
@dataclass(frozen=True, slots=True)
class Clipped(AbstractRule):
    """`rule`, on clipped gradients.

    Auxiliary sequence: that of the rule, with clipped gradients. Where the clip is active their
    mean is not the gradient of f, so theorems that assume unbiased gradients do not apply.

    Attributes:
        rule: What happens after clipping.
        clip: `NormClip` or `ValueClip`.
    """

    constant_step: ClassVar[bool] = False

    rule: AbstractRule
    clip: AbstractClip

    # The flags of a rule are class variables; here they are known only with the rule inside.
    @property
    def needs_view(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As the rule's."""
        return self.rule.needs_view

    @property
    def additive(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As the rule's."""
        return self.rule.additive

    @property
    def auxiliary_step_size(self):
        return self.rule.auxiliary_step_size

    def replica_state(self, x):
        return self.rule.replica_state(x)

    def worker_state(self, x):
        return self.rule.worker_state(x)

    def encode(self, state, gradient, view, latest):
        return self.rule.encode(state, self.clip(gradient), view, latest)

    def scale(self, staleness):
        return self.rule.scale(staleness)

    def step_factor(self, step):
        return self.rule.step_factor(step)

    def step(self, x, buffer, state):
        return self.rule.step(x, buffer, state)

"""Which runs a bound speaks of: a bound says it itself, and studies find it by that."""

from dataclasses import dataclass
from enum import Enum
from typing import final


@final
class System(Enum):
    """The shape of a schedule; the value says it in words."""

    SERVER = "one model at a server, to which every gradient is applied as a whole and in full"
    ROUNDS = "replicas, in rounds of which every gradient counts one part in p"


@final
@dataclass(frozen=True, slots=True)
class Scope:
    """The runs of which a bound speaks, in the words of study files.

    A part of a run has a kind, such as `gossip`. Words behind it are kinds, choices and switches
    of its fields: `gossip graph`, `layerwise variance_bounded`, `error_feedback top_k`. What
    else must hold is among the requirements and assumptions of the bound.

    Attributes:
        system: Shape of the schedule; None for any.
        protocols: Those of which it speaks; none given means all.
        rules: Likewise.
        codecs: Likewise.
        over_nodes: Whether a gap is the root mean square over the nodes of a round; else it is
            that of the worst view.
    """

    system: System | None = None
    protocols: tuple[str, ...] = ()
    rules: tuple[str, ...] = ("sgd",)
    codecs: tuple[str, ...] = ("identity",)
    over_nodes: bool = False

    def refusal(
        self,
        system: System | None,
        *,
        protocol: tuple[str, ...],
        rule: tuple[str, ...],
        codec: tuple[str, ...],
    ) -> str:
        """Why the bound does not speak of a run; "" if it does.

        Args:
            system: Shape of the schedule; None if it has neither.
            protocol: Kind of the protocol, then the words of its fields.
            rule: Likewise.
            codec: Likewise.
        """
        if self.system not in (None, system):
            return f"it speaks of {self.system.value}"
        parts = ((self.protocols, protocol), (self.rules, rule), (self.codecs, codec))
        for allowed, given in parts:
            if allowed and not any(_names(entry, given) for entry in allowed):
                return f"it speaks of {' or '.join(allowed)}, not of {given[0]}"
        return ""


def _names(entry: str, given: tuple[str, ...]) -> bool:
    kind, *more = entry.split()
    return kind == given[0] and set(more) <= set(given)


_MOMENTUM = ("sgd", "heavy_ball", "nesterov")
_EXACT = ("identity", "error_feedback")

SINGLE_STEPS = Scope(System.SERVER, rules=_MOMENTUM, codecs=_EXACT)
"""Runs in which some auxiliary sequence takes a step of SGD with every gradient."""

PARALLEL_STEPS = Scope(System.ROUNDS, rules=_MOMENTUM, codecs=_EXACT)
"""Runs in which some auxiliary sequence takes a step of SGD with the gradients of a round."""

"""A contender on its schedule: all that bounds ask about it, read off once."""

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import Any, final

import numpy as np

from elastic_consistency.bounds import Scope, System
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.schedule import ABSENT, SERVER, Schedule
from elastic_consistency.studies.files.kinds import kind_name
from elastic_consistency.studies.judging.limits import Limits
from elastic_consistency.studies.study import Contender
from elastic_consistency.validation.gaps import view_difference

# Of the order of the system: rounds have one, else it is that of the reads.
_OWN_ORDER = {Sequence.STARTED: "started", Sequence.APPLIED: "applied", Sequence.NONE: ""}


@final
@dataclass(frozen=True, eq=False)
class Situation:
    """What a figure may depend on.

    Attributes:
        contender: Protocol, rule and codec.
        schedule: Of the contender.
        limits: Constants of the problem on a ball.
        dimension: Of the problem.
        step_size: At which gradients enter the auxiliary sequence.
    """

    contender: Contender
    schedule: Schedule
    limits: Limits
    dimension: int
    step_size: float

    @cached_property
    def system(self) -> System | None:
        """The shape of the schedule; None if it has none of those that bounds speak of."""
        meta, share = self.schedule.metadata, self.schedule.jobs.share
        if meta.hosts == (SERVER,):
            whole = not meta.block_sizes and bool((share == 1).all())
            return System.SERVER if whole else None
        equal = bool((share == 1 / meta.n_workers).all())
        return System.ROUNDS if equal and self.has_rounds else None

    @property
    def heaviest(self) -> float:
        """Largest weight with which all applications of one job together count."""
        return float(np.nanmax(self.schedule.jobs.share, initial=0.0))

    @property
    def has_rounds(self) -> bool:
        """Whether every job belongs to a round."""
        return bool((self.schedule.jobs.round != ABSENT).all())

    def refusal(self, scope: Scope) -> str:
        """Why a bound of that scope does not speak of this; "" if it does."""
        parts = self.contender
        return scope.refusal(
            self.system,
            protocol=words(parts.protocol),
            rule=words(parts.rule),
            codec=words(parts.codec),
        )

    def order(self, sequence: Sequence) -> str:
        """The order of jobs in which a sequence is measured; "" if it cannot be."""
        found = _OWN_ORDER.get(sequence, "aggregate" if self.has_rounds else "started")
        at_server = self.schedule.metadata.hosts == (SERVER,)
        return "" if found == "applied" and not at_server else found

    @cached_property
    def members(self) -> np.ndarray:
        """(rounds,) jobs of each round."""
        return np.bincount(self.schedule.jobs.round)

    @property
    def steps(self) -> int:
        """T: steps of the auxiliary sequence."""
        rounds = self.system is System.ROUNDS
        return len(self.members) if rounds else len(self.schedule.jobs)

    @cached_property
    def aggregate_difference(self) -> np.ndarray:
        """(J, blocks, J) coefficients of the aggregate of earlier rounds minus each view."""
        return view_difference(self.schedule, Sequence.AGGREGATE)

    @cached_property
    def started_difference(self) -> np.ndarray:
        """(J, blocks, J) coefficients of the started sequence minus each view."""
        return view_difference(self.schedule, Sequence.STARTED)

    def difference(self, order: str) -> np.ndarray:
        """(J, blocks, J) coefficients of the sequence in that order minus each view."""
        if order == "applied":
            return view_difference(self.schedule, Sequence.APPLIED)
        return self.aggregate_difference if order == "aggregate" else self.started_difference


def words(part: Any) -> tuple[str, ...]:
    """The kind of a part, then the kinds, choices and switches of its fields."""
    found = [kind_name(type(part))]
    for field in fields(part) if is_dataclass(part) else ():
        value = getattr(part, field.name)
        if isinstance(value, Enum):
            found.append(value.name.lower())
        elif value is True:
            found.append(field.name)
        elif is_dataclass(value):
            found += words(value)
    return tuple(found)

"""A concrete system: oracle, schedule, parameters, and the quantity that it reaches."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from elastic_consistency.bounds.requirements import Requirement


@final
@dataclass(frozen=True, slots=True)
class System:
    """Parameters and the exact value of the bounded quantity for one oracle and schedule.

    Attributes:
        description: Oracle and schedule in words.
        values: Number for each symbol by its name.
        measured: The quantity that the system reaches.
        lacks: Requirements that it does not satisfy; empty for a legal system.
    """

    description: str
    values: Mapping[str, float]
    measured: float
    lacks: frozenset[Requirement] = frozenset()

"""Check of the whole catalogue: certificates, units, relations, mutants."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from elastic_consistency.bounds.bound import Bound
from elastic_consistency.bounds.catalogue import list_bounds
from elastic_consistency.bounds.claims import DerivationError
from elastic_consistency.bounds.dimension import DimensionError, check_dimensions
from elastic_consistency.bounds.mutants import Verdict, count_verdicts, judge_mutants
from elastic_consistency.bounds.relation_catalogue import list_relations


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What the check of one bound found.

    Attributes:
        name: The bound.
        steps: Number of proof steps checked; 0 without a certificate.
        rejected: Mutants that a concrete system violates.
        sharper: Mutants that a certificate proves all the same.
        equivalent: Mutants that admit no new system.
        undecided: The other mutants; their share measures how loose the bound may be.
        tight: Whether the bound is called tight.
        status: Verification status of its source.
        failure: Why the check failed, or empty.
    """

    name: str
    steps: int
    rejected: int
    sharper: int
    equivalent: int
    undecided: int
    tight: bool
    status: str
    failure: str

    @property
    def decided_share(self) -> float:
        """Share of the mutants that are rejected or sharper; 1 where there is none."""
        decided = self.rejected + self.sharper
        return decided / (decided + self.undecided) if decided + self.undecided else 1.0


@final
@dataclass(frozen=True, slots=True)
class Report:
    """The check of the catalogue.

    Attributes:
        rows: One row a bound.
        relations: Number of relations between bounds that hold.
        failures: What does not hold, empty if all is well.
    """

    rows: tuple[Row, ...]
    relations: int
    failures: tuple[str, ...]

    def text(self) -> str:
        """Return the table as plain text."""
        head = ("bound", "steps", "rejected", "sharper", "undecided", "status")
        lines = [head] + [
            (r.name, r.steps, r.rejected, r.sharper, r.undecided, r.failure or r.status)
            for r in self.rows
        ]
        width = max(len(str(line[0])) for line in lines)
        table = [
            f"{a!s:{width}} {b!s:>6} {c!s:>9} {d!s:>8} {e!s:>10}  {f}" for a, b, c, d, e, f in lines
        ]
        return "\n".join([*table, "", self._summary()])

    def _summary(self) -> str:
        steps = sum(row.steps for row in self.rows)
        rejected = sum(row.rejected for row in self.rows)
        undecided = sum(row.undecided for row in self.rows)
        return (
            f"{len(self.rows)} bounds, {steps} steps checked, {self.relations} relations, "
            f"{rejected} mutants rejected, {undecided} undecided, {len(self.failures)} failures"
        )


def verify_all(*, bounds: Iterable[Bound] | None = None, mutants: bool = True) -> Report:
    """Check certificates, units and mutants of every bound, and every relation.

    Args:
        bounds: The bounds; None for the catalogue.
        mutants: Whether mutants are made and judged, which takes most of the time.
    """
    rows = tuple(
        _row(bound, mutants=mutants) for bound in (list_bounds() if bounds is None else bounds)
    )
    broken = []
    relations = list_relations()
    for relation in relations:
        try:
            relation.check()
        except DerivationError as error:
            broken.append(str(error))
    failures = [f"{row.name}: {row.failure}" for row in rows if row.failure]
    return Report(rows, len(relations) - len(broken), tuple(failures + broken))


def _row(bound: Bound, *, mutants: bool) -> Row:
    steps, failure = 0, ""
    try:
        steps = bound.verify()
        check_dimensions(bound)
    except (DerivationError, DimensionError) as error:
        failure = str(error)
    counts = count_verdicts(judge_mutants(bound) if mutants else ())
    return Row(
        bound.name,
        steps,
        counts[Verdict.REJECTED],
        counts[Verdict.SHARPER],
        counts[Verdict.EQUIVALENT],
        counts[Verdict.UNDECIDED],
        bound.tight,
        bound.status.value,
        failure,
    )

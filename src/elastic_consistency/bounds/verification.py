"""Check of the whole catalogue: certificates, units, relations, mutants."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

from elastic_consistency.bounds.bound import Bound, Status
from elastic_consistency.bounds.catalogue import list_bounds
from elastic_consistency.bounds.proofs.claims import DerivationError
from elastic_consistency.bounds.proofs.dimension import DimensionError, check_dimensions
from elastic_consistency.bounds.proofs.mutants import Judged, Verdict, judge_mutants
from elastic_consistency.bounds.relation_catalogue import list_relations

_STRIDE = 9  # of the catalogue, between two bounds that are checked one after the other


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What the check of one bound found.

    Attributes:
        name: The bound.
        steps: Number of proof steps checked; 0 without a certificate.
        mutants: The mutants, each with its verdict.
        tight: Whether the bound is called tight.
        status: Verification status of its source.
        failure: Why the check failed, or empty.
    """

    name: str
    steps: int
    mutants: tuple[Judged, ...]
    tight: bool
    status: Status
    failure: str

    def count(self, verdict: Verdict) -> int:
        """Return the number of mutants with this verdict."""
        return sum(judged.verdict is verdict for judged in self.mutants)

    @property
    def counted(self) -> int:
        """Number of mutants, without those that admit no new system."""
        return len(self.mutants) - self.count(Verdict.EQUIVALENT)

    @property
    def undecided_share(self) -> float:
        """Share of the mutants that nothing decides: how loose the bound may be; 0 without any."""
        return self.count(Verdict.UNDECIDED) / self.counted if self.counted else 0.0


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

    def summary(self) -> str:
        """Return the sums of the table in one sentence."""
        steps = sum(row.steps for row in self.rows)
        rejected, sharper, undecided = (
            sum(row.count(verdict) for row in self.rows)
            for verdict in (Verdict.REJECTED, Verdict.SHARPER, Verdict.UNDECIDED)
        )
        return (
            f"{len(self.rows)} bounds, {steps} steps and {self.relations} relations checked; "
            f"{rejected} mutants rejected, {sharper} sharper, {undecided} undecided; "
            f"{len(self.failures)} failures"
        )


def looseness_table(report: Report) -> str:
    """Return, for each bound with undecided mutants, their number and share, as Markdown."""
    rows = [
        f"| [{row.name}](bounds/{row.name}.md) | {row.counted} | {row.count(Verdict.UNDECIDED)} "
        f"| {row.undecided_share:.0%} |"
        for row in report.rows
        if row.count(Verdict.UNDECIDED)
    ]
    return "\n".join(["| bound | mutants | undecided | share |", "|---|---|---|---|", *rows])


def verify_all(
    *,
    bounds: Iterable[Bound] | None = None,
    mutants: bool = True,
    listener: Callable[[str, float], None] = lambda _what, _done: None,
) -> Report:
    """Check certificates, units and mutants of every bound, and every relation.

    Args:
        bounds: The bounds; None for the catalogue.
        mutants: Whether mutants are made and judged, which takes most of the time.
        listener: Told what is being checked, and which share of all is done.
    """
    chosen = list_bounds() if bounds is None else tuple(bounds)
    # Neighbours in the catalogue are alike: taken apart, the first ones stand for the rest.
    order = sorted(range(len(chosen)), key=lambda position: (position % _STRIDE, position))
    found = {}
    for count, position in enumerate(order):
        listener(chosen[position].name, count / (len(chosen) + 1))
        found[position] = _row(chosen[position], mutants=mutants)
    rows = [found[position] for position in range(len(chosen))]
    listener("relations", len(chosen) / (len(chosen) + 1))
    broken = _broken_relations()
    failures = [f"{row.name}: {row.failure}" for row in rows if row.failure]
    return Report(tuple(rows), len(list_relations()) - len(broken), (*failures, *broken))


def _broken_relations() -> tuple[str, ...]:
    broken = []
    for relation in list_relations():
        try:
            relation.check()
        except DerivationError as error:
            broken.append(str(error))
    return tuple(broken)


def _row(bound: Bound, *, mutants: bool) -> Row:
    steps, failure = 0, ""
    try:
        steps = bound.verify()
        check_dimensions(bound)
    except (DerivationError, DimensionError) as error:
        failure = str(error)
    judged = judge_mutants(bound) if mutants else ()
    return Row(bound.name, steps, judged, bound.tight, bound.status, failure)

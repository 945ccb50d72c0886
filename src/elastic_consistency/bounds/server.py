"""Gaps of an asynchronous parameter server, in the started and in the applied order."""

import sympy as sp

from elastic_consistency.bounds import lemmas
from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.derivation import Derivation
from elastic_consistency.bounds.lemmas import JOBS_BETWEEN, Premise
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.steps import Combination, Recursion
from elastic_consistency.bounds.symbols import M, alpha, c_jobs, n, tau_max
from elastic_consistency.bounds.vectors import norm, vector
from elastic_consistency.execution.quantities import Quantity, Sequence

_GAP = norm(vector("x - v"))
_PAGE = "docs/theory/gap_of_a_sum.md"


def gap_of_a_sum(count: Premise, *, identity: Premise, limit: sp.Expr) -> Derivation:
    """Return the proof that a gap of at most `limit` updates is at most limit * M.

    Args:
        count: Premise N <= limit for the number of updates between view and iterate.
        identity: Premise that the gap is the sum of those updates.
        limit: The limit.
    """
    total, update = vector("sum"), vector("G")
    one_more = Combination(
        "one more update",
        goal=(norm(total + alpha * update), norm(total) + alpha * M),
        terms=(
            (sp.S.One, lemmas.minkowski(total, alpha * update)),
            (alpha, lemmas.second_moment(update)),
        ),
    )
    summed = Recursion("N updates", one_more, norm(total), lemmas.SUM_BETWEEN, JOBS_BETWEEN)
    gap = Combination(
        "gap",
        goal=(_GAP / alpha, limit * M),
        terms=(
            (1 / alpha, summed),
            (1 / alpha, lemmas.starts_at_zero(norm(total))),
            (1 / alpha, identity),
            (M, count),
        ),
    )
    return Derivation(_GAP / alpha, (one_more, summed, gap))


server_started_gap = Bound(
    name="server_started_gap",
    title="parameter server with n workers, started order, any delays",
    quantity=Quantity.GAP,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=(n - 1) * M,
    assumptions=(sp.Ge(n, 1, evaluate=False),),
    requirements=frozenset(
        {Requirement.SECOND_MOMENT, Requirement.STARTED_ORDER, Requirement.ONE_UNAPPLIED_JOB}
    ),
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.one_job_per_worker(JOBS_BETWEEN), identity=lemmas.started_gap(), limit=n - 1
    ),
    tight=True,
)

server_in_flight_gap = Bound(
    name="server_in_flight_gap",
    title="parameter server, started order, at most c_jobs other unapplied jobs at a read",
    quantity=Quantity.GAP,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=c_jobs * M,
    assumptions=(),
    requirements=frozenset({Requirement.SECOND_MOMENT, Requirement.STARTED_ORDER}),
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.jobs_in_flight(JOBS_BETWEEN), identity=lemmas.started_gap(), limit=c_jobs
    ),
    tight=True,
    note="The schedule gives c_jobs; it is n - 1 when no worker reads ahead.",
)

server_applied_gap = Bound(
    name="server_applied_gap",
    title="parameter server, applied order, staleness at most tau_max",
    quantity=Quantity.GAP,
    sequence=Sequence.APPLIED,
    side=Side.UPPER,
    expression=tau_max * M,
    assumptions=(),
    requirements=frozenset(
        {Requirement.SECOND_MOMENT, Requirement.APPLIED_ORDER, Requirement.BOUNDED_STALENESS}
    ),
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.bounded_staleness(JOBS_BETWEEN), identity=lemmas.applied_gap(), limit=tau_max
    ),
    tight=True,
    note="With stragglers tau_max is unbounded while the started order keeps (n - 1) M.",
)

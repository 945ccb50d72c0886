"""Gaps of an asynchronous parameter server, in the started and in the applied order."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.constants.error_feedback import residual_steps
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.gap_sums import GAP, PAGE, gap_of_a_sum
from elastic_consistency.bounds.proofs.lemmas import JOBS_BETWEEN, SUM_BETWEEN
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import M, alpha, c_jobs, gamma, n, tau_max
from elastic_consistency.execution.quantities import Quantity, Sequence

_UPDATES = frozenset({Requirement.SECOND_MOMENT, Requirement.UNIT_WEIGHT})
_STARTED = _UPDATES | {Requirement.STARTED_ORDER}

server_started_gap = Bound(
    name="server_started_gap",
    title="parameter server with n workers, started order, any delays",
    quantity=Quantity.GAP,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=(n - 1) * M,
    assumptions=(sp.Ge(n, 1, evaluate=False),),
    requirements=_STARTED | {Requirement.ONE_UNAPPLIED_JOB},
    source=Source(PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.one_job_per_worker(JOBS_BETWEEN), identity=lemmas.started_gap()
    ),
    tight=True,
    scope=Scope(System.SERVER),
)

server_in_flight_gap = Bound(
    name="server_in_flight_gap",
    title="parameter server, started order, at most c_jobs other unapplied jobs at a read",
    quantity=Quantity.GAP,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=c_jobs * M,
    assumptions=(),
    requirements=_STARTED,
    source=Source(PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(lemmas.jobs_in_flight(JOBS_BETWEEN), identity=lemmas.started_gap()),
    tight=True,
    note="The schedule gives c_jobs; it is n - 1 when no worker reads ahead.",
    scope=Scope(System.SERVER),
)

server_applied_gap = Bound(
    name="server_applied_gap",
    title="parameter server, applied order, staleness at most tau_max",
    quantity=Quantity.GAP,
    sequence=Sequence.APPLIED,
    side=Side.UPPER,
    expression=tau_max * M,
    assumptions=(),
    requirements=_UPDATES | {Requirement.APPLIED_ORDER, Requirement.BOUNDED_STALENESS},
    source=Source(PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.bounded_staleness(JOBS_BETWEEN), identity=lemmas.applied_gap()
    ),
    tight=True,
    note="With stragglers tau_max is unbounded while the started order keeps (n - 1) M.",
    scope=Scope(System.SERVER),
)


def prove_server_with_residuals() -> Derivation:
    """Return the proof: updates in flight, plus the residuals of all n workers."""
    total, update = vector("sum"), vector("G")
    one_more = Combination(
        "one more update",
        goal=(norm(total + alpha * update), norm(total) + alpha * M),
        terms=(
            (sp.S.One, lemmas.minkowski(total, alpha * update)),
            (alpha, lemmas.second_moment(update)),
        ),
    )
    summed = Recursion("N updates", one_more, norm(total), SUM_BETWEEN, JOBS_BETWEEN)
    grows, stays, residual = residual_steps()
    gap = Combination(
        "gap",
        goal=(GAP / alpha, (n - 1) * M + n * sp.sqrt(gamma) / (1 - sp.sqrt(gamma)) * M),
        terms=(
            (1 / alpha, summed),
            (1 / alpha, lemmas.starts_at_zero(norm(total))),
            (M, lemmas.one_job_per_worker(JOBS_BETWEEN)),
            (n / alpha, residual),
            (1 / alpha, lemmas.server_with_residuals(vector("e_t"))),
        ),
    )
    return Derivation(GAP / alpha, (one_more, summed, grows, stays, residual, gap))


server_error_feedback_gap = Bound(
    name="server_error_feedback_gap",
    title="parameter server with n workers, each with its own error feedback, started order",
    quantity=Quantity.GAP,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=(n - 1) * M + n * sp.sqrt(gamma) / (1 - sp.sqrt(gamma)) * M,
    assumptions=(sp.Ge(n, 1, evaluate=False), sp.Lt(gamma, 1)),
    requirements=_STARTED
    | {Requirement.ONE_UNAPPLIED_JOB, Requirement.ERROR_FEEDBACK, Requirement.CONTRACTION},
    source=Source(PAGE, Status.DERIVED),
    proof=prove_server_with_residuals,
    tight=True,
    note="On a server residuals enter with weight n; on p averaging nodes with weight 1.",
    scope=Scope(System.SERVER, codecs=("error_feedback",)),
)

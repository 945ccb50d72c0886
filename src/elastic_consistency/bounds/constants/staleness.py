"""Identities of staleness on an asynchronous server."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.symbols import R, T, alpha, n
from elastic_consistency.execution.quantities import Quantity, Sequence

_PAGE = "docs/theory/staleness.md"
_SERVER = frozenset({Requirement.ONE_UNAPPLIED_JOB, Requirement.ZERO_LATENCY, Requirement.DRAINED})

total_staleness = Bound(
    name="total_staleness",
    title="sum of the staleness of T jobs on a server with n workers, any computing times",
    quantity=Quantity.STALENESS,
    sequence=Sequence.NONE,
    side=Side.EQUAL,
    expression=(n - 1) * T - n * (n - 1) / 2,
    assumptions=(sp.Ge(n, 1, evaluate=False), sp.Ge(T, n - 1, evaluate=False)),
    requirements=_SERVER,
    source=Source(_PAGE, Status.ARGUED),
    tight=True,
    note="With latency it is the sum over steps of the other jobs in flight.",
)
discarded_staleness = Bound(
    name="discarded_staleness",
    title="sum of the staleness of T applied jobs, where those of R steps or more are discarded",
    quantity=Quantity.STALENESS,
    sequence=Sequence.NONE,
    side=Side.UPPER,
    expression=(R - 1) * T,
    assumptions=(sp.Ge(R, 1, evaluate=False),),
    requirements=frozenset({Requirement.BOUNDED_STALENESS}),
    source=Source(_PAGE, Status.ARGUED),
    tight=True,
    note="Attained in the long run by n = R equal workers, none of whose jobs is discarded.",
)
mean_staleness_scaled_step = Bound(
    name="mean_staleness_scaled_step",
    title="mean step size alpha E[1 / (1 + staleness)] of staleness-scaled SGD",
    quantity=Quantity.STEP_SIZE,
    sequence=Sequence.NONE,
    side=Side.EQUAL,
    expression=alpha * sp.log(n) / (n - 1),
    assumptions=(sp.Gt(n, 1, evaluate=False),),
    requirements=frozenset(
        {Requirement.ONE_UNAPPLIED_JOB, Requirement.ZERO_LATENCY, Requirement.HOMOGENEOUS_SPEEDS}
    ),
    source=Source(_PAGE, Status.ARGUED),
    tight=True,
    note="In the long run; neither alpha / n = alpha / (1 + E[staleness]) nor alpha / (n - 1).",
)

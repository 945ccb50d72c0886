"""Gaps of the elastic schedulers: forward passes that start before all gradients arrived."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.constants.crashes import STAND_IN_REQUIREMENTS, prove_stand_in
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.gap_sums import PAGE, gap_of_a_sum
from elastic_consistency.bounds.proofs.lemmas import JOBS_BETWEEN
from elastic_consistency.bounds.proofs.vectors import vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import L, M, alpha, beta, p, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence

_NODES = sp.Ge(p, 2, evaluate=False)
_REQUIRED = frozenset({Requirement.SECOND_MOMENT, Requirement.CATCH_UP})

_AT_ONCE = Scope(System.ROUNDS, ("layerwise variance_bounded",))
_TESTED = Scope(System.ROUNDS, ("norm_bounded",))

elastic_variance_gap = Bound(
    name="elastic_variance_gap",
    title="variance-bounded scheduler: the own gradient stands in for what is late",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=sigma * sp.sqrt((p - 1) / p) / (1 - 2 * alpha * L * (p - 1) / p),
    assumptions=(sp.Lt(alpha, p / (2 * L * (p - 1))), _NODES),
    requirements=STAND_IN_REQUIREMENTS,
    source=Source("docs/theory/stand_in.md", Status.DERIVED),
    proof=lambda: prove_stand_in(p - 1),
    note="Attained in the limit of small steps.",
    scope=_AT_ONCE,
)
published_elastic_variance_gap = Bound(
    name="published_elastic_variance_gap",
    title="variance-bounded scheduler, the constant of the elastic consistency paper",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=3 * sigma,
    assumptions=(sp.Le(alpha, 1 / (3 * L)), _NODES),
    requirements=STAND_IN_REQUIREMENTS,
    source=Source(
        "Nadiradze, Markov, Chatterjee, Kungurtsev, Alistarh (2021), table of constants",
        Status.IMPLIED,
    ),
    note="The condition on the step size is ours; under it the sharp constant implies this one.",
    scope=_AT_ONCE,
)
elastic_norm_gap = Bound(
    name="elastic_norm_gap",
    title="norm-bounded scheduler, the test with beta holds at every sender",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=sp.sqrt(1 - beta**2) * M * (p - 1) / p,
    assumptions=(sp.Le(beta, 1), _NODES),
    requirements=_REQUIRED | {Requirement.NORM_TEST},
    source=Source(PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.other_nodes(JOBS_BETWEEN),
        identity=lemmas.missing_gap(),
        size=lemmas.norm_test(vector("part"), vector("G")),
        weight=1 / p,
    ),
    tight=True,
    note="A test at the receiver alone does not give the factor sqrt(1 - beta^2).",
    scope=_TESTED,
)
elastic_norm_any_gap = Bound(
    name="elastic_norm_any_gap",
    title="norm-bounded scheduler, whatever the test",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=M * (p - 1) / p,
    assumptions=(_NODES,),
    requirements=_REQUIRED,
    source=Source(PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.other_nodes(JOBS_BETWEEN),
        identity=lemmas.missing_gap(),
        size=lemmas.part(vector("part"), vector("G")),
        weight=1 / p,
    ),
    tight=True,
    scope=_TESTED,
)

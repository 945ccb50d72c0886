"""Gaps of lock-free shared memory, where reads and writes may be torn by component."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.gap_sums import PAGE, gap_of_a_sum
from elastic_consistency.bounds.proofs.lemmas import JOBS_BETWEEN
from elastic_consistency.bounds.proofs.vectors import vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope
from elastic_consistency.bounds.symbols import M, d, tau_max
from elastic_consistency.execution.quantities import Quantity, Sequence

_REQUIRED = frozenset(
    {Requirement.SECOND_MOMENT, Requirement.BOUNDED_STALENESS, Requirement.UNIT_WEIGHT}
)

shared_memory_gap = Bound(
    name="shared_memory_gap",
    title="shared memory, torn reads and writes, window tau_max",
    quantity=Quantity.GAP,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=tau_max * M,
    assumptions=(),
    requirements=_REQUIRED,
    source=Source(PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.bounded_staleness(JOBS_BETWEEN),
        identity=lemmas.torn_gap(),
        size=lemmas.part(vector("part"), vector("G")),
    ),
    tight=True,
    note="No factor sqrt(d): a part of a gradient is never longer than the gradient.",
    scope=Scope(protocols=("shared_memory",)),
)
published_shared_memory_gap = Bound(
    name="published_shared_memory_gap",
    title="shared memory, the constant of the elastic consistency paper",
    quantity=Quantity.GAP,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=sp.sqrt(d) * tau_max * M,
    assumptions=(sp.Ge(d, 1, evaluate=False),),
    requirements=_REQUIRED,
    source=Source(
        "Nadiradze, Markov, Chatterjee, Kungurtsev, Alistarh (2021), table of constants",
        Status.IMPLIED,
    ),
    note="Loose by sqrt(d).",
    scope=Scope(protocols=("shared_memory",)),
)

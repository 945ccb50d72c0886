"""How the constants of several relaxations combine: they add."""

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.gap_sums import GAP, PAGE
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import B_1, B_2, alpha
from elastic_consistency.execution.quantities import Quantity, Sequence


def prove() -> Derivation:
    """Return the proof: Minkowski's inequality."""
    first, second = vector("first part"), vector("second part")
    gap = Combination(
        "gap",
        goal=(GAP / alpha, B_1 + B_2),
        terms=(
            (1 / alpha, lemmas.gap_of_two_parts(first + second)),
            (1 / alpha, lemmas.minkowski(first, second)),
            (1 / alpha, lemmas.elastic_part(first, B_1)),
            (1 / alpha, lemmas.elastic_part(second, B_2)),
        ),
    )
    return Derivation(GAP / alpha, (gap,))


combined_gap = Bound(
    name="combined_gap",
    title="two relaxations at once: the constants add, each with the weight of its error",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=B_1 + B_2,
    assumptions=(),
    requirements=frozenset({Requirement.ELASTIC}),
    source=Source(PAGE, Status.DERIVED),
    proof=prove,
    tight=True,
    note=(
        "Weights matter: error feedback adds its constant once on p averaging nodes, n times on "
        "a server with n workers (see server_error_feedback_gap). It adds any number by turns."
    ),
    scope=Scope(System.SERVER, rules=("heavy_ball", "nesterov")),
)

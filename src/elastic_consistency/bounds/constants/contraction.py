"""What a codec may leave out of a vector."""

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.symbols import gamma
from elastic_consistency.execution.quantities import Quantity, Sequence

codec_contraction = Bound(
    name="codec_contraction",
    title="E|Q(w) - w|^2 / |w|^2 of a codec on any vector w",
    quantity=Quantity.CONTRACTION,
    sequence=Sequence.NONE,
    side=Side.UPPER,
    expression=gamma,
    assumptions=(),
    requirements=frozenset(),
    source=Source("docs/theory/error_feedback.md", Status.ARGUED),
    tight=True,
    note=(
        "gamma is what each codec states: 1 - K/d for TopK and the biased RandomK, 1 - 1/d for "
        "one bit with a scale, d/K - 1 for the unbiased RandomK, gamma for the scaling codec."
    ),
)

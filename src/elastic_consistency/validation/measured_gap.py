"""B as it was measured in an execution, with an honest interval of its supremum."""

import math
from dataclasses import replace

from elastic_consistency.execution import Trace
from elastic_consistency.execution.quantities import Quantity
from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.intervals import supremum_of_means


def measured_gap(
    trace: Trace,
    *,
    largest: float,
    confidence: float,
    method: Method = Method.EMPIRICAL_BERNSTEIN,
    seed: int | None = None,
) -> Estimate:
    """Largest sqrt(E||x - v||^2) / step size over the steps of a schedule.

    It speaks of the gradients that were drawn; `gaps.gap_of` speaks of all that a constant M
    allows, and needs no replicates. Where a trace has let observations go, the upper end is
    `largest`: nothing is known of the steps in between.

    Args:
        trace: Of a gap, R >= 2 replicates.
        largest: No gap can be larger, in units of the trace: `aligned_gap` times the largest
            norm that one gradient can have.
        confidence: In (0, 1), for all steps together.
        method: As for `supremum_of_means`.
        seed: Seed of the first replicate.
    """
    if trace.quantity is not Quantity.GAP:
        raise ValueError(f"trace must be of a gap, got one of {trace.quantity}.")
    squared = supremum_of_means(
        trace.values**2, low=0.0, high=largest**2, confidence=confidence, method=method, seed=seed
    )
    root = squared.increasing(math.sqrt)
    whole = trace.count == len(trace.values)
    return replace(
        root,
        upper=root.upper if whole else max(largest, root.value),
        quantity=trace.quantity,
        sequence=trace.sequence,
    )

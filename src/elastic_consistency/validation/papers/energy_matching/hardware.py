"""AlexNet on ImageNet, which no simulation can stand in for."""

from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.finding import Finding, needs_hardware


def alexnet(_effort: Effort, _value: PaperValue) -> Finding:
    """24 hours of AlexNet with 8 and 16 workers."""
    return needs_hardware(
        "the schedule of EnergyMatchingServer(ahead=True) for 8 and 16 workers, replayed by "
        "`elastic replay --ranks 16` with AlexNet as the oracle, batch 1024 / n, 24 h",
        "a day of 16 workers; its shape, scaled down, is row gem-halved-batches",
    )


CLAIMS = (
    PaperClaim(
        "gem-alexnet",
        Paper.ENERGY,
        "AlexNet trains further with 16 workers of half the batch than with 8.",
        PaperValue("loss 5.75 against 6.07 at 1800-2000 steps", "figure on ImageNet", Status.READ),
        alexnet,
        whole=True,
        seconds=0.1,
    ),
)

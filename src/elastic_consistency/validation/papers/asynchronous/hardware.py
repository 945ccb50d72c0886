"""Claims that only the hardware can decide; a row says what to run on it."""

from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.finding import Finding, needs_hardware


def resnet_accuracy(_effort: Effort, _value: PaperValue) -> Finding:
    """ResNet-50 on ImageNet at 256 GPUs."""
    return needs_hardware(
        "the schedule of Gossip(OnePeerExponential(32), lag=1), saved by `elastic simulate` and "
        "replayed by `elastic replay --ranks 32` with ResNet-50 as the oracle, on 32 nodes of 8 "
        "GPUs and 10 Gbit/s",
        "a simulation knows the time axis (rows iteration-time, training-hours), not the accuracy",
    )


CLAIMS = (
    PaperClaim(
        "resnet-accuracy",
        Paper.SURVEY,
        "After 90 epochs on 256 GPUs SGP is within 1.2 % of AllReduce's accuracy.",
        PaperValue("within 1.2 %", "SGP, first version's abstract", Status.READ),
        resnet_accuracy,
        whole=True,
        seconds=0.1,
    ),
)

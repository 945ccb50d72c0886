"""What overlapping communication with computation could gain at most, before any is tried."""

from dataclasses import dataclass
from typing import final

from elastic_consistency.simulator.layer_profile import LayerProfile
from elastic_consistency.simulator.network.collectives import AbstractCollective
from elastic_consistency.simulator.network.links import Link


@final
@dataclass(frozen=True, slots=True)
class OverlapGain:
    """Times of one step of equal workers without chance.

    Attributes:
        compute_s: Forward and backward pass, s.
        communication_s: All layers, one after another, s.
        barrier_s: With a barrier before the next forward pass; the backward pass overlaps, s.
        ideal_s: The longer of the two: in the long run no scheduler needs less, since workers
            and links must do all of their work, s.
    """

    compute_s: float
    communication_s: float
    barrier_s: float
    ideal_s: float

    @property
    def largest_gain(self) -> float:
        """Part of a barrier's time that any scheduler can save, in [0, 1)."""
        return 1 - self.ideal_s / self.barrier_s

    def __str__(self) -> str:
        return (
            f"compute {self.compute_s:.4g} s, communicate {self.communication_s:.4g} s; with a "
            f"barrier {self.barrier_s:.4g} s a step, ideally {self.ideal_s:.4g} s: overlapping "
            f"saves at most {100 * self.largest_gain:.1f} %"
        )


def ideal_overlap(
    profile: LayerProfile,
    collective: AbstractCollective,
    *,
    n_workers: int,
    compute_s: float,
    link: Link,
    update_bytes: float,
) -> OverlapGain:
    """The gain that is at stake between a barrier and perfect overlap.

    Args:
        profile: The model.
        collective: Algorithm of the all-reduce of each layer.
        n_workers: Workers, equal and without chance.
        compute_s: Forward and backward pass, s.
        link: Link between workers; its jitter counts with its mean.
        update_bytes: Bytes of a whole update.
    """
    sizes = profile.sizes()
    mean = Link(link.mean_seconds(0.0), bandwidth_bytes_per_s=link.bandwidth_bytes_per_s)
    transfers = [
        collective.closed_form(n_workers, mean, update_bytes * size / sum(sizes)) for size in sizes
    ]
    forward, backward = profile.parts()
    now, free = compute_s * sum(forward), 0.0
    for layer in reversed(range(len(sizes))):
        now += compute_s * backward[layer]
        free = max(now, free) + transfers[layer]
    total = sum(transfers)
    return OverlapGain(compute_s, total, max(now, free), max(compute_s, total))

"""Links: how long a message travels."""

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.constant import Constant


@final
@dataclass(frozen=True, slots=True)
class Link:
    """transfer time = latency + jitter + bytes / bandwidth.

    Attributes:
        latency_s: Fixed part, s, >= 0; it is paid by every message, however small.
        jitter: Law of the random part, s.
        bandwidth_bytes_per_s: Bytes a second, > 0; infinite when size does not matter.
    """

    latency_s: float = 0.0
    jitter: AbstractDelayLaw = field(default_factory=lambda: Constant(0.0))
    bandwidth_bytes_per_s: float = inf

    def __post_init__(self) -> None:
        sound = 0 <= self.latency_s and isfinite(self.latency_s)
        check(sound, self, "latency_s", "a finite number of seconds >= 0")
        check(isinstance(self.jitter, AbstractDelayLaw), self, "jitter", "a delay law")
        bandwidth = self.bandwidth_bytes_per_s
        check(bandwidth > 0, self, "bandwidth_bytes_per_s", "a number of bytes a second > 0")

    def fixed_seconds(self, n_bytes: float) -> float:
        """Transfer time of `n_bytes` without the jitter, s."""
        return self.latency_s + n_bytes / self.bandwidth_bytes_per_s

    def mean_seconds(self, n_bytes: float) -> float:
        """Expected transfer time of `n_bytes`, s."""
        return self.fixed_seconds(n_bytes) + self.jitter.mean()

    def is_free(self, n_bytes: float) -> bool:
        """Whether every transfer of `n_bytes` takes no time at all."""
        return self.mean_seconds(n_bytes) == 0

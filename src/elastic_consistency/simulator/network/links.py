"""Links: how long a message travels."""

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.simulator.delays.base import AbstractDelayLaw
from elastic_consistency.simulator.delays.constant import Constant
from elastic_consistency.simulator.network.background import BackgroundTraffic
from elastic_consistency.simulator.network.losses import (
    GilbertElliott,
    Loss,
    check_resend,
    is_loss,
)


@final
@dataclass(frozen=True, slots=True)
class Link:
    """transfer time = latency + jitter + bytes / bandwidth, and what goes wrong.

    Attributes:
        latency_s: Fixed part, s, >= 0; it is paid by every message, however small.
        jitter: Law of the random part, s.
        bandwidth_bytes_per_s: Bytes a second, > 0; infinite when size does not matter.
        loss: Probability that a transmission is lost, in [0, 1), or a channel with bursts; a
            lost one is repeated until it arrives.
        resend_s: Time until a lost transmission is repeated, s, > 0; must be given when any
            can be lost.
        background: Others who use the link; it must then have a finite bandwidth.
    """

    latency_s: float = 0.0
    jitter: AbstractDelayLaw = field(default_factory=lambda: Constant(0.0))
    bandwidth_bytes_per_s: float = inf
    loss: Loss = 0.0
    resend_s: float | None = None
    background: BackgroundTraffic | None = None

    def __post_init__(self) -> None:
        sound = 0 <= self.latency_s and isfinite(self.latency_s)
        check(sound, self, "latency_s", "a finite number of seconds >= 0")
        check(isinstance(self.jitter, AbstractDelayLaw), self, "jitter", "a delay law")
        bandwidth = self.bandwidth_bytes_per_s
        check(bandwidth > 0, self, "bandwidth_bytes_per_s", "a number of bytes a second > 0")
        check(is_loss(self.loss), self, "loss", "a channel or a probability in [0, 1)")
        check_resend(self, self.resend_s, needed=self.loss != 0)
        sound = self.background is None or isfinite(bandwidth)
        allowed = "given only when bandwidth_bytes_per_s is finite"
        check(sound, self, "background", allowed)

    def fixed_seconds(self, n_bytes: float) -> float:
        """Transfer time of `n_bytes` without the jitter and without troubles, s."""
        return self.latency_s + n_bytes / self.bandwidth_bytes_per_s

    def mean_seconds(self, n_bytes: float) -> float:
        """Transfer time of `n_bytes`, s, in the long-run mean of jitter, losses and others."""
        seconds = self.fixed_seconds(n_bytes) + self.jitter.mean()
        if self.background is not None:
            seconds += (1 / self.background.speed() - 1) * n_bytes / self.bandwidth_bytes_per_s
        part = self.loss.mean() if isinstance(self.loss, GilbertElliott) else self.loss
        # One transmission in 1 / (1 - part) arrives.
        return seconds + (self.resend_s or 0.0) * part / (1 - part)

    @property
    def is_calm(self) -> bool:
        """Whether nothing is ever lost on it, and nobody else uses it."""
        return self.loss == 0 and self.background is None

    def is_free(self, n_bytes: float) -> bool:
        """Whether every transfer of `n_bytes` takes no time at all."""
        return self.mean_seconds(n_bytes) == 0

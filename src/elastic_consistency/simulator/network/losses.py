"""Losses: whether a transmission is lost, and how often a message must be sent."""

from dataclasses import dataclass
from math import floor, isfinite, log
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.random_streams import Cause, Stream


def check_resend(owner: object, seconds: float | None, *, needed: bool) -> None:
    """Refuse a time until something lost is sent again that is not one, or is missing."""
    if seconds is None:
        allowed = "given, in seconds > 0, when something can get lost"
        check(not needed, owner, "resend_s", allowed)
    else:
        sound = 0 < seconds and isfinite(seconds)
        check(sound, owner, "resend_s", "a finite number of seconds > 0")


@final
@dataclass(frozen=True, slots=True)
class GilbertElliott:
    """Losses that come in bursts: a channel that is good or bad for a while.

    Before each transmission the channel changes its state with the probabilities below; it is
    good at first.

    Attributes:
        good_to_bad: Probability of turning bad, in (0, 1].
        bad_to_good: Probability of turning good, in (0, 1]; bursts last 1 / this on average.
        loss_good: Probability that a transmission is lost while good, in [0, 1).
        loss_bad: The same while bad, in [0, 1].

    Source: Gilbert (1960), Capacity of a Burst-Noise Channel; Elliott (1963), both BSTJ.
    """

    good_to_bad: float
    bad_to_good: float
    loss_good: float = 0.0
    loss_bad: float = 1.0

    def __post_init__(self) -> None:
        for name in ("good_to_bad", "bad_to_good"):
            check(0 < getattr(self, name) <= 1, self, name, "a probability in (0, 1]")
        check(0 <= self.loss_good < 1, self, "loss_good", "a probability in [0, 1)")
        check(0 <= self.loss_bad <= 1, self, "loss_bad", "a probability in [0, 1]")

    def mean(self) -> float:
        """Long-run part of the transmissions that is lost."""
        bad = self.good_to_bad / (self.good_to_bad + self.bad_to_good)
        return bad * self.loss_bad + (1 - bad) * self.loss_good


Loss = float | GilbertElliott


def is_loss(loss: Loss) -> bool:
    """Whether `loss` is a channel or a probability in [0, 1)."""
    return isinstance(loss, GilbertElliott) or 0 <= loss < 1


@final
class Attempts:
    """Numbers of transmissions until a message arrives.

    Args:
        loss: Probability that one transmission is lost, each on its own; or a bursty channel.
        seed: Seed of the run.
        sender: Who sends; its losses have a stream of their own.
    """

    __slots__ = ("_channel", "_is_bad", "_log_loss", "_stream")

    def __init__(self, loss: Loss, seed: int, sender: int) -> None:
        self._stream = Stream(seed, Cause.FAULT, sender)
        self._channel = loss if isinstance(loss, GilbertElliott) else None
        self._log_loss = log(loss) if isinstance(loss, float | int) and loss > 0 else None
        self._is_bad = False

    def next(self) -> int:
        """Transmissions that the next message needs, >= 1."""
        if self._channel is not None:
            return self._next_on(self._channel)
        u = self._stream.draw()
        # P(more than k attempts) = loss ** k = P(u < loss ** k): geometric, from one uniform.
        return 1 if self._log_loss is None else 1 + floor(log(u) / self._log_loss)

    def _next_on(self, channel: GilbertElliott) -> int:
        needed = 0
        while True:
            change = channel.bad_to_good if self._is_bad else channel.good_to_bad
            self._is_bad ^= self._stream.draw() < change
            needed += 1
            if self._stream.draw() >= (channel.loss_bad if self._is_bad else channel.loss_good):
                return needed

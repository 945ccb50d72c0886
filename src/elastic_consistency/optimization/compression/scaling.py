"""The extremal contraction: every coordinate shrinks alike."""

from dataclasses import dataclass
from typing import final

from elastic_consistency._checks import check
from elastic_consistency.optimization.compression.base import AbstractCodec


@final
@dataclass(frozen=True, slots=True)
class Scaling(AbstractCodec):
    """Q(w) = (1 - sqrt(gamma)) w.

    ||Q(w) - w||^2 = gamma ||w||^2 for every w: it saves no byte and attains the worst case of
    error feedback, sqrt(gamma) / (1 - sqrt(gamma)) M under a constant gradient.

    Attributes:
        gamma: In [0, 1).
    """

    gamma: float

    def __post_init__(self) -> None:
        check(0 <= self.gamma < 1, self, "gamma", "a number in [0, 1)")

    @property
    def linear(self):
        return True

    def encode(self, state, vector, draws):
        return (1 - self.gamma**0.5) * vector, state

    def contraction(self, d):
        return self.gamma

    def wire_bytes(self, d, itemsize):
        return float(d * itemsize)

    def encode_operations(self, d):
        return float(d)

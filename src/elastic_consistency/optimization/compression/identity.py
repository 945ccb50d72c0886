"""No compression."""

from dataclasses import dataclass
from typing import final

from elastic_consistency.optimization.compression.base import AbstractCodec


@final
@dataclass(frozen=True, slots=True)
class Identity(AbstractCodec):
    """Q(w) = w."""

    @property
    def linear(self):
        return True

    def encode(self, state, vector, draws):
        return vector, state

    def contraction(self, d):
        return 0.0

    def wire_bytes(self, d, itemsize):
        return float(d * itemsize)

"""TopK: only the largest coordinates are sent."""

from dataclasses import dataclass
from math import ceil, log2
from typing import final

from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.compression.base import AbstractCodec
from elastic_consistency.optimization.compression.selection import largest_entries


@final
@dataclass(frozen=True, slots=True)
class TopK(AbstractCodec):
    """Q(w) keeps the K coordinates of largest absolute value.

    ||Q(w) - w||^2 <= (1 - K / d) ||w||^2. Among equal absolute values the lowest index is
    kept; K >= d keeps all; NaN and infinities count as the largest values, so that a diverged
    vector never looks healthy at the receiver.

    Attributes:
        k: Coordinates sent, K >= 1.

    Source: Alistarh et al. (2018), arXiv:1809.10505, lemma 1.
    """

    k: int

    def __post_init__(self) -> None:
        check(self.k >= 1, self, "k", "a number of coordinates >= 1")

    @property
    def linear(self):
        return False

    def encode(self, state, vector, draws):
        xp = array_namespace(vector)
        chosen = largest_entries(xp.abs(vector), min(self.k, vector.shape[-1]))
        return xp.where(chosen, vector, xp.zeros_like(vector)), state

    def contraction(self, d):
        return 1 - min(self.k, d) / d

    def wire_bytes(self, d, itemsize):
        return sparse_bytes(min(self.k, d), d, itemsize)

    def encode_operations(self, d):
        return d * (3 + ceil(log2(max(d, 2))))  # it sorts


def sparse_bytes(count: int, d: int, itemsize: int) -> float:
    """Bytes of `count` values with their positions among d, whichever form is shorter."""
    positions = ceil(count * ceil(log2(max(d, 2))) / 8)
    bitmap = ceil(d / 8)
    return float(min(d * itemsize, count * itemsize + min(positions, bitmap)))

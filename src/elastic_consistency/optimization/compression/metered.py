"""A codec that measures its own contraction on the vectors that really occur."""

from dataclasses import dataclass
from typing import Any, final

from array_api_compat import array_namespace

from elastic_consistency.optimization.arrays import norms
from elastic_consistency.optimization.compression.base import AbstractCodec

Array = Any


@final
@dataclass(frozen=True, slots=True, eq=False)
class Contraction:
    """||Q(w) - w||^2 / ||w||^2 over the vectors that one worker encoded.

    Zero vectors have no ratio and are not counted.

    Attributes:
        largest: (R,) largest ratio so far; 0 before the first.
        total: (R,) sum of the ratios.
        count: (R,) number of ratios.
    """

    largest: Array
    total: Array
    count: Array

    def mean(self) -> Array:
        """(R,) mean ratio; 0 before the first."""
        xp = array_namespace(self.count)
        return self.total / xp.clip(self.count, 1.0, None)

    def updated(self, ratio: Array, counts: Array) -> "Contraction":
        """With one more (R,) ratio in the replicates where (R,) `counts` is true."""
        xp = array_namespace(ratio)
        one = xp.astype(counts, ratio.dtype)
        return Contraction(xp.maximum(self.largest, ratio), self.total + ratio, self.count + one)


@final
@dataclass(frozen=True, slots=True)
class Metered(AbstractCodec):
    """`codec`, with the contraction that it achieves as part of the worker's state.

    The state is (state of the codec, `Contraction`). Inside error feedback, as in
    ErrorFeedback(Metered(TopK(8))), it measures what the codec does to the corrected vectors.

    Attributes:
        codec: The codec that is measured.
    """

    codec: AbstractCodec

    @property
    def linear(self):
        return self.codec.linear

    def initial(self, x):
        zeros = array_namespace(x).zeros_like(x[..., 0])
        return self.codec.initial(x), Contraction(zeros, zeros, zeros)

    def encode(self, state, vector, draws):
        inner, record = state
        sent, inner = self.codec.encode(inner, vector, draws)
        ratio, counts = contraction_ratio(vector, sent)
        return sent, (inner, record.updated(ratio, counts))

    def contraction(self, d):
        return self.codec.contraction(d)

    def wire_bytes(self, d, itemsize):
        return self.codec.wire_bytes(d, itemsize)

    def encode_operations(self, d):
        return self.codec.encode_operations(d)


def contraction_ratio(vector: Array, sent: Array) -> tuple[Array, Array]:
    """(R,) ratios ||sent - vector||^2 / ||vector||^2, and (R,) whether the vector is not 0.

    Args:
        vector: (R, d) input of a codec.
        sent: (R, d) its output.
    """
    xp = array_namespace(vector)
    size = norms(vector)
    counts = size > 0
    ratio = norms(sent - vector) / xp.where(counts, size, xp.ones_like(size))
    return ratio * ratio, counts

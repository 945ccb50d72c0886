"""Error feedback: what a codec leaves out is sent later."""

from dataclasses import dataclass
from typing import final

from array_api_compat import array_namespace

from elastic_consistency.optimization.compression.base import AbstractCodec


@final
@dataclass(frozen=True, slots=True)
class ErrorFeedback(AbstractCodec):
    """u = Q(e + w);  e <- (e + w) - u.

    The state is (state of the codec, residual e). u + e equals the old e + w exactly wherever
    some floating-point e makes it so: always for codecs that select coordinates. Elsewhere e is
    the number nearest to the difference. A gamma-contraction keeps
    ||e|| <= sqrt(gamma) / (1 - sqrt(gamma)) M. The residual is in units of gradients: where step
    sizes vary, old gradients enter with the new step size. Where a coordinate is not finite,
    its residual is not either.

    Attributes:
        codec: What Q is.

    Source: Seide, Fu, Droppo, Li, Yu (2014), Interspeech; Karimireddy, Rebjock, Stich, Jaggi
        (2019), arXiv:1901.09847, algorithm 2.
    """

    codec: AbstractCodec

    @property
    def linear(self):
        return self.codec.linear

    def initial(self, x):
        return self.codec.initial(x), array_namespace(x).zeros_like(x)

    def encode(self, state, vector, draws):
        inner, residual = state
        corrected = residual + vector
        sent, inner = self.codec.encode(inner, corrected, draws)
        return sent, (inner, corrected - sent)

    def contraction(self, d):
        return self.codec.contraction(d)

    def wire_bytes(self, d, itemsize):
        return self.codec.wire_bytes(d, itemsize)

    def encode_operations(self, d):
        return self.codec.encode_operations(d) + 2 * d

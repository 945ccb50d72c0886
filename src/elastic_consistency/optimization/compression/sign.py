"""One bit a coordinate: signs, and one scale for all of them."""

from dataclasses import dataclass
from math import ceil
from typing import final

from array_api_compat import array_namespace

from elastic_consistency.optimization.compression.base import AbstractCodec


@final
@dataclass(frozen=True, slots=True)
class ScaledSign(AbstractCodec):
    """Q(w) = (||w||_1 / d) sign(w), where the sign of 0 is +.

    ||Q(w) - w||^2 = ||w||^2 - ||w||_1^2 / d, zeros included, which is at most
    (1 - 1 / d) ||w||^2 and (1 - 2 / pi) ||w||^2 on average for normal coordinates. The zero
    vector stays zero; an infinity makes every coordinate infinite and a NaN all of them NaN.

    Source: Karimireddy, Rebjock, Stich, Jaggi (2019), arXiv:1901.09847, section 4; one bit
        from Seide, Fu, Droppo, Li, Yu (2014), Interspeech.
    """

    @property
    def linear(self):
        return False

    def encode(self, state, vector, draws):
        xp = array_namespace(vector)
        scale = xp.mean(xp.abs(vector), axis=-1, keepdims=True)
        return xp.where(vector < 0, -scale, scale), state

    def contraction(self, d):
        return 1 - 1 / d

    def wire_bytes(self, d, itemsize):
        return float(itemsize + ceil(d / 8))

    def encode_operations(self, d):
        return 3.0 * d

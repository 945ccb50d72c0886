"""QSGD: coordinates are rounded at random to a few levels, without bias."""

from dataclasses import dataclass
from math import ceil, log2, sqrt
from typing import final

from array_api_compat import array_namespace

from elastic_consistency._checks import check
from elastic_consistency.optimization.arrays import like, norms
from elastic_consistency.optimization.compression.base import AbstractCodec


@final
@dataclass(frozen=True, slots=True)
class QSGD(AbstractCodec):
    """Q(w)_i = ||w|| sign(w_i) round_i / s, with s |w_i| / ||w|| rounded up or down at random.

    E Q(w) = w and E||Q(w) - w||^2 <= min(d / (4 s^2), sqrt(d) / s) ||w||^2: rounding a number
    with fraction p has variance p (1 - p) <= min(1/4, p), and the sum of the s |w_i| / ||w|| is
    at most s sqrt(d). (The paper has d / s^2 in the first place.) It is unbiased, so it needs no
    error feedback. The zero vector stays zero; a vector that is not finite comes out as NaN in
    every coordinate.

    Attributes:
        levels: s >= 1, levels above zero.

    Source: Alistarh, Grubic, Li, Tomioka, Vojnovic (2017), arXiv:1610.02132, lemma 3.1.
    """

    levels: int

    def __post_init__(self) -> None:
        check(self.levels >= 1, self, "levels", "a number of levels >= 1")

    @property
    def linear(self):
        return False

    def encode(self, state, vector, draws):
        xp = array_namespace(vector)
        norm = norms(vector)[..., None]
        healthy = xp.isfinite(norm)
        clean = xp.where(healthy, vector, xp.zeros_like(vector))
        norm = xp.where(healthy & (norm > 0), norm, xp.ones_like(norm))
        height = xp.abs(clean) / norm * self.levels
        below = xp.floor(height)
        up = like(vector, draws(vector.shape[-1])) < height - below
        rounded = xp.where(up, below + 1, below) / self.levels
        decoded = norm * xp.sign(clean) * rounded
        return xp.where(healthy, decoded, xp.full_like(vector, xp.nan)), state

    def contraction(self, d):
        return min(d / (4 * self.levels**2), sqrt(d) / self.levels)

    def wire_bytes(self, d, itemsize):
        """Without entropy coding: one norm, then a sign and a level for every coordinate."""
        return float(itemsize + ceil(d * log2(2 * self.levels + 1) / 8))

    def encode_operations(self, d):
        return 8.0 * d

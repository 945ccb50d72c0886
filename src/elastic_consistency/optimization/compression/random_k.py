"""Random-K: a random subset of the coordinates is sent."""

from dataclasses import dataclass
from typing import final

from array_api_compat import array_namespace, device

from elastic_consistency._checks import check
from elastic_consistency.optimization.compression.base import AbstractCodec
from elastic_consistency.optimization.compression.selection import largest_entries


@final
@dataclass(frozen=True, slots=True)
class RandomK(AbstractCodec):
    """Q(w) keeps K coordinates drawn without replacement.

    E||Q(w) - w||^2 = (1 - K / d) ||w||^2. With `unbiased` they are multiplied by d / K: then
    E Q(w) = w, and E||Q(w) - w||^2 = (d / K - 1) ||w||^2, which needs no error feedback and is
    no contraction for K < d / 2. The seed is shared, so positions are not sent. K >= d keeps
    all; coordinates that are not finite are sent when they are drawn.

    Attributes:
        k: Coordinates sent, K >= 1.
        unbiased: Whether to multiply by d / K.

    Source: Stich, Cordonnier, Jaggi (2018), arXiv:1809.07599, definition 2.2.
    """

    k: int
    unbiased: bool = False

    def __post_init__(self) -> None:
        check(self.k >= 1, self, "k", "a number of coordinates >= 1")

    @property
    def linear(self):
        return False

    def encode(self, state, vector, draws):
        xp, d = array_namespace(vector), vector.shape[-1]
        count = min(self.k, d)
        # Equal scores have no chance worth naming, so all subsets are equally likely.
        chosen = xp.asarray(largest_entries(draws(d), count), device=device(vector))
        factor = d / count if self.unbiased else 1.0
        return factor * xp.where(chosen, vector, xp.zeros_like(vector)), state

    def contraction(self, d):
        count = min(self.k, d)
        return d / count - 1 if self.unbiased else 1 - count / d

    def wire_bytes(self, d, itemsize):
        return float(min(self.k, d) * itemsize)

    def encode_operations(self, d):
        return 3.0 * d

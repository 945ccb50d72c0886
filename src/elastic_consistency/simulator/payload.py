"""Payload: how many bytes travel; the timing never sees what is in them."""

from dataclasses import dataclass
from math import isfinite
from typing import final

from elastic_consistency._checks import check


@final
@dataclass(frozen=True, slots=True)
class Payload:
    """Sizes of the two things that are sent.

    They belong to the study and neither to the cluster (the same machines train any model) nor
    to the protocol (the same protocol sends compressed updates or whole ones).

    Attributes:
        model_bytes: A copy of the model, >= 0.
        update_bytes: One encoded update, >= 0; smaller than the model when a codec compresses.
    """

    model_bytes: float = 0.0
    update_bytes: float = 0.0

    def __post_init__(self) -> None:
        for name in ("model_bytes", "update_bytes"):
            size = getattr(self, name)
            check(0 <= size and isfinite(size), self, name, "a finite number of bytes >= 0")

    @staticmethod
    def uncompressed(model_bytes: float) -> "Payload":
        """Updates as large as the model."""
        return Payload(model_bytes, model_bytes)

"""Payload: what an update costs to encode and to send; the timing never sees what is in it."""

from dataclasses import dataclass
from math import isfinite
from typing import final

from elastic_consistency._checks import check


@final
@dataclass(frozen=True, slots=True)
class Payload:
    """Sizes of the two things that are sent, and the work of encoding one of them.

    They belong to the study and neither to the cluster (the same machines train any model) nor
    to the protocol (the same protocol sends compressed updates or whole ones).

    Attributes:
        model_bytes: A copy of the model, >= 0.
        update_bytes: One encoded update, >= 0; smaller than the model when a codec compresses.
        encode_s: Work of encoding and decoding one update, s at the nominal speed of a worker,
            >= 0; it is part of the computation and slows down with it.
    """

    model_bytes: float = 0.0
    update_bytes: float = 0.0
    encode_s: float = 0.0

    def __post_init__(self) -> None:
        for name in ("model_bytes", "update_bytes"):
            size = getattr(self, name)
            check(0 <= size and isfinite(size), self, name, "a finite number of bytes >= 0")
        sound = 0 <= self.encode_s and isfinite(self.encode_s)
        check(sound, self, "encode_s", "a finite number of seconds >= 0")

    @staticmethod
    def uncompressed(model_bytes: float) -> "Payload":
        """Updates as large as the model."""
        return Payload(model_bytes, model_bytes)

"""The interface of a codec: what a vector becomes on the wire."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

Array = Any
State = Any
Draws = Callable[[int], Array]


class AbstractCodec(ABC):
    """A lossy map of a vector, with its cost on the wire.

    A codec is a frozen dataclass; what it remembers goes in and out as state.
    """

    @property
    @abstractmethod
    def linear(self) -> bool:
        """Whether Q multiplies by one fixed number, alike for all coordinates and draws.

        Then the way of every gradient through the codec and its state is the same number for
        all coordinates, and influence can follow it.
        """

    @abstractmethod
    def encode(self, state: State, vector: Array, draws: Draws) -> tuple[Array, State]:
        """What the receiver decodes, and the worker's new state.

        Args:
            state: The worker's state for this block, from `initial`.
            vector: (R, d) vectors, one a replicate.
            draws: draws(width) gives (R, width) uniforms in (0, 1) that belong to this job.
        """

    @abstractmethod
    def contraction(self, d: int) -> float:
        """A proved gamma with E||Q(w) - w||^2 <= gamma ||w||^2 for every w in R^d.

        From 1 on the codec is no contraction, and error feedback has no bound.
        """

    @abstractmethod
    def wire_bytes(self, d: int, itemsize: int) -> float:
        """Bytes of one encoded vector of d numbers of `itemsize` bytes each."""

    def encode_operations(self, d: int) -> float:
        """Elementary operations of one encoding and decoding, for the cost of computing it."""
        return 0.0

    def initial(self, x: Array) -> State:
        """State of a worker for a block shaped like `x`."""
        return None

"""The interface of a codec: what a vector becomes on the wire."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

Array = Any
State = Any
Draws = Callable[[int], Array]


class AbstractCodec(ABC):
    """A lossy map of a vector, with its cost on the wire.

    A codec is a frozen dataclass. `linear` codecs commute with sums and scalings.
    """

    @property
    @abstractmethod
    def linear(self) -> bool:
        """Whether Q(a + b) == Q(a) + Q(b) for all inputs."""

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
        """Smallest gamma with E||Q(w) - w||^2 <= gamma ||w||^2 for every w in R^d."""

    @abstractmethod
    def wire_bytes(self, d: int, itemsize: int) -> float:
        """Bytes of one encoded vector of d numbers of `itemsize` bytes each."""

    def initial(self, x: Array) -> State:
        """State of a worker for a block shaped like `x`."""
        return None

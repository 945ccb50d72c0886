"""What a codec leaves out of the vectors that it meets: a figure to hold against its gamma."""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from elastic_consistency.execution.probes import AbstractObserver, AbstractProbe
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.execution.trace import TraceWriter
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.compression.metered import contraction_ratio
from elastic_consistency.schedule import Op
from elastic_consistency.validation.estimate import Estimate, exact
from elastic_consistency.validation.intervals import supremum_of_means


def is_deterministic(codec: AbstractCodec, d: int) -> bool:
    """Whether the codec encodes a vector of R^d without drawing numbers."""
    drawn = []

    def draws(width: int) -> np.ndarray:
        drawn.append(width)
        return np.full((1, width), 0.5)

    codec.encode(codec.initial(np.ones((1, d))), np.ones((1, d)), draws)
    return not drawn


def measured_contraction(
    codec: AbstractCodec,
    vectors: np.ndarray,
    *,
    replicates: int = 1,
    largest: float = 1.0,
    confidence: float = 0.99,
    seed: int = 0,
) -> Estimate:
    """Largest E||Q(w) - w||^2 / ||w||^2 of some vectors w; exact if the codec draws nothing.

    Args:
        codec: Q, without memory.
        vectors: (V, d), none of them 0.
        replicates: Draws for each vector, >= 2 for a codec that draws.
        largest: No single ratio of a codec that draws can be larger.
        confidence: Likewise, for all vectors together.
        seed: Likewise.
    """
    shape = vectors.shape
    if is_deterministic(codec, shape[1]):
        sent, _ = codec.encode(codec.initial(vectors), vectors, np.random.default_rng(seed).random)
        ratios, _ = contraction_ratio(vectors, sent)
        return exact(float(ratios.max()), quantity=Quantity.CONTRACTION, sequence=Sequence.NONE)
    rng = np.random.default_rng(seed)
    ratios = np.stack([_ratios(codec, vector, replicates, rng) for vector in vectors])
    found = supremum_of_means(ratios, low=0, high=largest, confidence=confidence, seed=seed)
    return replace(found, quantity=Quantity.CONTRACTION, sequence=Sequence.NONE)


def _ratios(
    codec: AbstractCodec, vector: np.ndarray, replicates: int, rng: np.random.Generator
) -> np.ndarray:
    """(R,) ratios of one vector."""
    copies = np.tile(vector, (replicates, 1))
    sent, _ = codec.encode(codec.initial(copies), copies, lambda d: rng.random((replicates, d)))
    return contraction_ratio(copies, sent)[0]


@final
@dataclass(frozen=True, slots=True)
class EncodedVectors(AbstractProbe):
    """||Q(w) - w||^2 / ||w||^2 at every ENCODE of a whole gradient.

    What w is follows from what was sent, not from the codec's own state: with error feedback it
    is the gradient and all that its worker has held back.

    Attributes:
        feedback: Whether what is left out is kept and sent later.
    """

    feedback: bool

    @property
    def watches(self):
        return frozenset((Op.ENCODE, Op.CRASH))

    @property
    def needs_view(self):
        return False

    def start(self, context):
        return _EncodedObserver(feedback=self.feedback)


@final
class _EncodedObserver(AbstractObserver):
    def __init__(self, *, feedback: bool) -> None:
        self._feedback = feedback
        self._held_back: dict[int, Any] = {}
        self._ratios = TraceWriter("contraction", Quantity.CONTRACTION, Sequence.NONE)

    def open(self, executor):
        pass

    def observe(self, event, executor):
        if event.op == Op.CRASH:
            self._held_back.pop(event.worker, None)
            return
        vector = executor.gradient_of(event.job)
        if event.worker in self._held_back:
            vector = vector + self._held_back[event.worker]
        sent = executor.update_part(event.job, ())
        self._ratios.add(event.time, event.job, contraction_ratio(vector, sent)[0])
        if self._feedback:
            self._held_back[event.worker] = vector - sent

    def traces(self):
        return (self._ratios.finish(),)

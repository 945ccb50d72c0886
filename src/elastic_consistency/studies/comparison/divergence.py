"""A run of a study that left the finite numbers: where it did, and what was seen until then."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from elastic_consistency.execution import DivergenceError

if TYPE_CHECKING:
    from elastic_consistency.studies.comparison.contenders import ContenderResult
    from elastic_consistency.studies.comparison.runs import LossRun


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Where a run left the finite numbers; -1 stands for a message.

    Attributes:
        job: The job that was added last.
        worker: Who computed it.
        replica: The replica that is no longer finite.
        step: STEP rows that were executed by then.
    """

    job: int
    worker: int
    replica: int
    step: int

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        return str(DivergenceError(self.job, self.worker, self.replica, self.step))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Divergence:
    """One diverged run; R replicates, P looks at the loss before it ended.

    Attributes:
        timing_seed: Seed of its schedule.
        place: Where it ended.
        time_s: (P,) time of each look, s.
        gradients: (P,) gradients that the model had taken in by then.
        loss: (P, R) losses.
    """

    timing_seed: int
    place: Place
    time_s: np.ndarray
    gradients: np.ndarray
    loss: np.ndarray


def place_of(error: DivergenceError) -> Place:
    """The place that an error names."""
    return Place(error.job, error.worker, error.replica, error.step)


def place_as_array(place: Place | None) -> np.ndarray:
    """(4,) numbers of a place, or (0,) for none; see `place_from`."""
    return np.array([] if place is None else astuple(place), np.int64)


def place_from(array: np.ndarray) -> Place | None:
    """The place of `place_as_array`."""
    return Place(*array.tolist()) if len(array) else None


def divergences_of(timing_seeds: tuple[int, ...], runs: "list[LossRun]") -> tuple[Divergence, ...]:
    """The runs that diverged, one run a timing seed."""
    return tuple(
        Divergence(seed, run.diverged, run.time_s, run.gradients, run.loss)
        for seed, run in zip(timing_seeds, runs, strict=True)
        if run.diverged is not None
    )


def diverged_sentences(results: "Iterable[ContenderResult]") -> tuple[str, ...]:
    """One sentence a contender that diverged: how often, and where it did first."""
    return tuple(
        f"{result.name} diverged on {len(result.divergences)} of {len(result.digests)} schedules "
        f"with step size {result.step_size:.3g}; timing seed "
        f"{result.divergences[0].timing_seed}: {result.divergences[0].place.sentence}"
        for result in results
        if result.divergences
    )

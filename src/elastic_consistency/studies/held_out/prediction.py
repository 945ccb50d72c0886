"""Fit a simulation to one live run, and hold what it predicts against others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import final

import numpy as np

from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Until, simulate
from elastic_consistency.studies.held_out.counterpart import Counterpart, counterpart_of
from elastic_consistency.studies.held_out.figures import Figures, figures_of
from elastic_consistency.studies.held_out.laws import FittedLaw
from elastic_consistency.studies.held_out.phases import phases_of
from elastic_consistency.studies.on_disk.finished_work import FinishedWork
from elastic_consistency.studies.real_processes.live_check import LiveSettings, check_live

PREDICTABLE = ("server", "all-reduce", "pairwise", "hogwild")
_SIMULATIONS = 10
_SHARE = 0.1  # an error below a tenth of the figure counts as none
_SPREADS = 2.0  # and so does one below twice the spread between live runs


@final
@dataclass(frozen=True, slots=True)
class Judged:
    """One figure: predicted, and measured on runs that the fit never saw.

    Attributes:
        name: What it is, with its unit.
        fitted: Of the live run that the simulation was fitted to.
        held_out: Of each other live run.
        predicted: Mean over simulations.
        deviation: Standard deviation between simulations.
    """

    name: str
    fitted: float
    held_out: tuple[float, ...]
    predicted: float
    deviation: float

    @property
    def error(self) -> float:
        """Distance from the prediction to the mean of the held-out runs."""
        return abs(self.predicted - float(np.mean(self.held_out)))

    @property
    def spread(self) -> float:
        """Largest distance between two live runs."""
        return max(abs(a - b) for a, b in combinations((self.fitted, *self.held_out), 2))

    @property
    def allowed(self) -> float:
        """A tenth of the held-out figure, or twice the spread, whichever is larger."""
        return max(_SHARE * abs(float(np.mean(self.held_out))), _SPREADS * self.spread)

    @property
    def holds(self) -> bool:
        """Whether the error is allowed."""
        return self.error <= self.allowed


@final
@dataclass(frozen=True, slots=True)
class Shift:
    """How long one phase took in the fitted and in the held-out runs: why a prediction fails.

    Attributes:
        phase: Its name.
        fitted_s: Mean in the run that the law was fitted to, s.
        held_out_s: Mean in the other runs, s.
    """

    phase: str
    fitted_s: float
    held_out_s: float


@final
@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction and how it fared.

    Attributes:
        protocol: One of PREDICTABLE.
        seeds: Of the live runs; the first is the one that was fitted.
        laws: The fitted laws.
        figures: What was predicted.
        shifts: Every phase in the fitted and the held-out runs.
    """

    protocol: str
    seeds: tuple[int, ...]
    laws: tuple[FittedLaw, ...]
    figures: tuple[Judged, ...]
    shifts: tuple[Shift, ...]

    @property
    def holds(self) -> bool:
        """Whether every figure holds."""
        return all(figure.holds for figure in self.figures)


def predict_held_out(
    settings: LiveSettings,
    oracle: AbstractOracle,
    rule: AbstractRule,
    codec: AbstractCodec | None = None,
    *,
    held_out: int = 2,
    tell: Callable[[str], object] = lambda text: None,
    finished: FinishedWork | None = None,
) -> Prediction:
    """Run live, fit, run live again with other seeds, and compare.

    Args:
        settings: The live run; the others have the next seeds.
        oracle: The problem.
        rule: The update rule.
        codec: Compression of updates; none by default.
        held_out: Live runs that the fit never sees, >= 1.
        tell: Gets a line before each run.
        finished: Where live runs are kept, so that none is repeated; nowhere by default.

    Raises:
        ValueError: If the protocol cannot be predicted, or the settings make no sense for it.
        RanksError: If a process fails.
        RuntimeError: If a recorded schedule is not what happened.
    """
    refuse_unpredictable(settings, held_out)
    work, schedules = finished or FinishedWork(), []
    for seed in range(settings.seed, settings.seed + 1 + held_out):
        own = replace(settings, seed=seed)

        def run(own: LiveSettings = own) -> Schedule:
            tell(f"live run with seed {own.seed}")
            found, schedule = check_live(own, oracle, rule, codec)
            if not found.holds:
                raise RuntimeError(f"The live run with seed {own.seed} was recorded wrongly.")
            return schedule

        schedules.append(work.schedule((own, oracle, rule, codec), run))
    return predicted(schedules, settings.protocol)


def refuse_unpredictable(settings: LiveSettings, held_out: int) -> None:
    """Raise ValueError for what has no counterpart in the simulator."""
    if settings.protocol not in PREDICTABLE:
        allowed = ", ".join(PREDICTABLE)
        raise ValueError(f"protocol must be one of {allowed}, got {settings.protocol!r}.")
    if held_out < 1:
        raise ValueError(f"held_out must be a number of runs >= 1, got {held_out}.")
    if settings.protocol == "hogwild" and settings.blocks < 2:
        raise ValueError(f"blocks must be a number >= 2 to be predicted, got {settings.blocks}.")


def predicted(schedules: Sequence[Schedule], protocol: str) -> Prediction:
    """Fit to the first recorded schedule, and judge by the others.

    Args:
        schedules: At least two of the same kind, of different runs.
        protocol: One of PREDICTABLE.
    """
    first, *others = schedules
    counterpart = counterpart_of(first, protocol)
    live = [figures_of(schedule, protocol) for schedule in schedules]
    simulated = _simulated(counterpart, len(first.jobs), protocol)
    return Prediction(
        protocol,
        tuple(schedule.metadata.seed for schedule in schedules),
        counterpart.laws,
        _judged(live, simulated),
        _shifts(first, others, protocol),
    )


def _simulated(counterpart: Counterpart, jobs: int, protocol: str) -> list[Figures]:
    """Figures of many simulations of the same length as the live run."""
    return [
        figures_of(
            simulate(counterpart.protocol, counterpart.cluster, until=Until(jobs=jobs), seed=seed),
            protocol,
        )
        for seed in range(_SIMULATIONS)
    ]


def _judged(live: list[Figures], simulated: list[Figures]) -> tuple[Judged, ...]:
    runs, guesses = [f.named() for f in live], [f.named() for f in simulated]
    return tuple(
        Judged(
            name,
            fitted,
            tuple(run[name] for run in runs[1:]),
            float(np.mean([guess[name] for guess in guesses])),
            float(np.std([guess[name] for guess in guesses])),
        )
        for name, fitted in runs[0].items()
    )


def _shifts(first: Schedule, others: list[Schedule], protocol: str) -> tuple[Shift, ...]:
    means = [phases_of(schedule, protocol).means() for schedule in others]
    return tuple(
        Shift(phase, fitted, float(np.mean([own[phase] for own in means])))
        for phase, fitted in phases_of(first, protocol).means().items()
    )

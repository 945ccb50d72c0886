"""Two schedules, or two results of studies, side by side."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from elastic_consistency.schedule import Schedule
from elastic_consistency.schedule.storage import load_valid_schedule
from elastic_consistency.studies.on_disk.records import plain
from elastic_consistency.studies.run_study import load_outcome
from elastic_consistency.studies.summaries.schedule_summary import summarise

_Numbers = Mapping[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """One figure of both.

    Attributes:
        name: What it is, with its unit.
        first: Of the first; None where it is not known.
        second: Of the second; likewise.
    """

    name: str
    first: float | None
    second: float | None

    @property
    def difference(self) -> float | None:
        """Second - first."""
        if self.first is None or self.second is None:
            return None
        return self.second - self.first

    @property
    def change(self) -> float | None:
        """(second - first) / |first|; None where the first is 0."""
        if self.difference is None or not self.first:
            return None
        return self.difference / abs(self.first)


@final
@dataclass(frozen=True, slots=True)
class WorkerPair:
    """One worker of both.

    Attributes:
        worker: Its number.
        figures: Its figures.
    """

    worker: int
    figures: tuple[Pair, ...]


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared.

    Attributes:
        name: Contender, or "" for two schedules.
        figures: Of the whole.
        workers: Of every worker that both have.
        staleness_distance: Kolmogorov-Smirnov distance of the two laws of staleness, in [0, 1];
            None for results, which do not hold them.
    """

    name: str
    figures: tuple[Pair, ...]
    workers: tuple[WorkerPair, ...]
    staleness_distance: float | None = None


def compare_files(first: Path, second: Path) -> tuple[Comparison, ...]:
    """Two schedules (parquet), or two results (result.json, or the folder that holds it).

    Results are compared contender by contender, by name.

    Raises:
        FileNotFoundError: If one is missing.
        ValueError: If the two are not of one kind, one cannot be used, or no contender is in both.
    """
    paths = [path / "result.json" if path.is_dir() else path for path in (first, second)]
    kinds = {path.suffix.lower() for path in paths}
    if kinds == {".parquet"}:
        return (_schedules(*(load_valid_schedule(path) for path in paths)),)
    if kinds == {".json"}:
        return _results(*paths)
    for path in (first, second):
        path.stat()
    raise ValueError(f"{second}: both must be schedules (.parquet) or results (.json, or folders).")


def _schedules(first: Schedule, second: Schedule) -> Comparison:
    one, other = (_numbers(plain(summarise(schedule))) for schedule in (first, second))
    distance = _distance(first.staleness().steps, second.staleness().steps)
    return _compared("", one, other, distance)


def _results(first: Path, second: Path) -> tuple[Comparison, ...]:
    one, other = _contenders(first), _contenders(second)
    common = [name for name in one if name in other]
    if not common:
        theirs, ours = ", ".join(other), ", ".join(one)
        raise ValueError(f"{second}: must have a contender of {first} ({ours}), got {theirs}.")
    return tuple(_compared(name, one[name], other[name], None) for name in common)


def _contenders(path: Path) -> dict[str, _Numbers]:
    contenders = load_outcome(path).contenders
    return {contender.name: _of_contender(_record(contender)) for contender in contenders}


def _record(value: Any) -> _Numbers:
    record = plain(value)
    assert isinstance(record, dict), "a dataclass becomes a table of fields"
    return record


def _of_contender(record: _Numbers) -> _Numbers:
    time = record["time_s"]
    mean = record["staleness"]["mean"]
    added = {
        "time to target [s]": None if time is None else time["value"],
        "step size": record["step_size"],
        "staleness, all schedules [steps]: mean": None if mean is None else mean["value"],
        "staleness, all schedules [steps]: p99": record["staleness"]["p99"],
    }
    own = _numbers(record["summary"])
    return {"figures": added | own["figures"], "workers": own["workers"]}


def _numbers(summary: Any) -> _Numbers:
    """Figures of a summary, and of its workers, by name."""
    workers, steps, duration = summary["workers"], summary["steps"], summary["duration_s"]
    used = summary["jobs"] - summary["discarded_jobs"]
    shares = [_utilisation(worker) for worker in workers]
    figures = {
        "workers": summary["n_workers"],
        "gradients used": used,
        "steps": steps,
        "duration [s]": duration,
        "time per step [s]": duration / steps if steps else None,
        "gradients used a second": used / duration if duration else None,
        "staleness [steps]: mean": summary["mean_staleness"],
        "staleness [steps]: p99": summary["p99_staleness"],
        "staleness [steps]: max": summary["largest_staleness"],
        "most other jobs in flight": summary["largest_in_flight"],
        "utilisation, mean": sum(shares) / len(shares) if shares else None,
    }
    per_worker = {
        worker["worker"]: {
            "gradients": worker["jobs"],
            "mean compute [s]": worker["mean_compute_s"],
            "utilisation": share,
            "mean staleness [steps]": worker["mean_staleness"],
        }
        for worker, share in zip(workers, shares, strict=True)
    }
    return {"figures": figures, "workers": per_worker}


def _utilisation(worker: _Numbers) -> float:
    whole = math.fsum(worker[name] for name in ("pull_s", "compute_s", "wait_s", "idle_s"))
    return worker["compute_s"] / whole if whole else 0.0


def _compared(name: str, one: _Numbers, other: _Numbers, distance: float | None) -> Comparison:
    mine, theirs = one["workers"], other["workers"]
    workers = [WorkerPair(w, _pairs(mine[w], theirs[w])) for w in mine if w in theirs]
    return Comparison(name, _pairs(one["figures"], other["figures"]), tuple(workers), distance)


def _pairs(one: _Numbers, other: _Numbers) -> tuple[Pair, ...]:
    return tuple(Pair(name, value, other[name]) for name, value in one.items())


def _distance(one: np.ndarray, other: np.ndarray) -> float | None:
    if not len(one) or not len(other):
        return None
    grid = np.union1d(one, other)
    shares = [
        np.searchsorted(np.sort(steps), grid, side="right") / len(steps) for steps in (one, other)
    ]
    return float(np.abs(shares[0] - shares[1]).max())

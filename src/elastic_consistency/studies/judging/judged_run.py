"""The run that is judged against the bounds: its traces, kept when they are finished."""

from collections.abc import Callable
from typing import Any

import numpy as np

from elastic_consistency.execution import DivergenceError, Execution, Measurement, Trace
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.comparison.divergence import (
    Place,
    place_as_array,
    place_from,
    place_of,
)
from elastic_consistency.studies.on_disk.finished_work import Arrays
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.study import Study

_FIELDS = ("time", "position", "values", "mean", "last", "peak", "count")


def judged_run(
    study: Study,
    schedule: Schedule,
    rule: Any,
    codec: Any,
    probes: tuple[Any, ...],
    *,
    seeds: tuple[int, ...],
    progress: Progress,
) -> tuple[Measurement, Place | None]:
    """Traces of the run, without its models, and where it diverged if it did.

    Args:
        study: The problem, and where finished parts are kept.
        schedule: What is executed.
        rule: The update rule.
        codec: Compression of updates.
        probes: What is measured.
        seeds: One a replicate.
        progress: Who wants to know how far it is.
    """

    def measure() -> Arrays:
        execution = Execution(schedule, study.oracle, rule, codec=codec, seeds=seeds, probes=probes)
        return _measure(execution, lambda done: progress.say(
            "measuring against the bounds", done / len(schedule.rows)
        ))  # fmt: skip

    digest = schedule.digest()
    found = study.finished.arrays((digest, study.oracle, rule, codec, seeds, probes), measure)
    names = [name.removesuffix(".values") for name in found if name.endswith(".values")]
    traces = {name: _trace(name, found) for name in names}
    return Measurement(traces, (), seeds, digest), place_from(found["diverged"])


def _measure(execution: Execution, tell: Callable[[int], None]) -> Arrays:
    done, diverged = 0, None
    # A run that diverges overflows on its way.
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            for chunk in execution.chunks(128):
                done += len(chunk)
                tell(done)
        except DivergenceError as error:
            diverged = place_of(error)
        traces = execution.measurement().traces
    arrays = {"diverged": place_as_array(diverged)}
    for name, trace in traces.items():
        arrays |= {f"{name}.{field}": np.asarray(getattr(trace, field)) for field in _FIELDS}
        arrays[f"{name}.of"] = np.array([trace.quantity.value, trace.sequence.value])
    return arrays


def _trace(name: str, found: Arrays) -> Trace:
    quantity, sequence = found[f"{name}.of"].tolist()
    of: dict[str, Any] = {field: found[f"{name}.{field}"] for field in _FIELDS}
    of |= {"peak": float(of["peak"]), "count": int(of["count"])}
    return Trace(name, Quantity(quantity), Sequence(sequence), **of)

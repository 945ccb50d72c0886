"""Traces of operations in pipeline-parallel training: one operation of one rank a row."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from elastic_consistency.studies.traces.records import StepTimes, Tally, TraceError, step_times

_COMPUTE = ("forward-compute", "backward-compute")
_PLACE = ("rank", "dp_rank", "stage", "step", "seq_id")
_NEEDED = (*_PLACE, "optype", "start_ts", "duration")
# Collectives and the columns whose equal values name one call of them.
_CALLS = {
    "params-all-gather": ("stage", "step", "seq_id"),
    "layernorm-grads-all-reduce": ("stage", "step"),
    "embedding-grads-all-reduce": ("dp_rank", "step"),
    "grads-reduce-scatter": ("stage", "step", "seq_id"),
    "optimizer-clip-main-grad": ("step",),
}
_HOPS = (("forward-send", "forward-recv"), ("backward-send", "backward-recv"))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Operations:
    """Operations as columns; N rows.

    Attributes:
        source: Name of the file.
        kind: (N,) type of each operation.
        place: rank, dp_rank, stage, step and seq_id, each (N,) int64.
        start: (N,) s since the beginning of the step.
        duration: (N,) s.
        tally: Counts of the reading.
    """

    source: str
    kind: np.ndarray
    place: dict[str, np.ndarray]
    start: np.ndarray
    duration: np.ndarray
    tally: Tally


def holds_operations(names: Iterable[str]) -> bool:
    """Whether a table with these columns is such a trace."""
    return set(_NEEDED) <= set(names)


def read_operations(path: Path) -> Operations:
    """Operations of a parquet file; rows without a finite time or with length < 0 are skipped.

    Raises:
        TraceError: If it is no parquet file, or a column is missing.
    """
    columns = _columns(path)
    start, duration = (np.asarray(columns[n], np.float64) for n in ("start_ts", "duration"))
    sound = np.isfinite(start) & np.isfinite(duration) & (duration >= 0)
    tally = Tally(read=len(start), kept=int(sound.sum()))
    if not sound.all():
        tally.skipped["with a time that is no number"] = int((~sound).sum())
    return Operations(
        source=path.name,
        kind=np.asarray(columns["optype"], str)[sound],
        place={name: np.asarray(columns[name], np.int64)[sound] for name in _PLACE},
        start=start[sound],
        duration=duration[sound],
        tally=tally,
    )


def computing_times(path: Path, operations: Operations) -> StepTimes:
    """Seconds that each rank computes in each step, and the rest of its step as waiting."""
    own: dict[str, list[float]] = {}
    waits: dict[str, list[float]] = {}
    computing = np.isin(operations.kind, _COMPUTE)
    rank, step = operations.place["rank"], operations.place["step"]
    lengths = step_seconds(operations)
    for r in np.unique(rank).tolist():
        for s, length in lengths.items():
            seconds = float(operations.duration[computing & (rank == r) & (step == s)].sum())
            if seconds > 0:
                own.setdefault(str(r), []).append(seconds)
                waits.setdefault(str(r), []).append(max(0.0, length - seconds))
    return step_times(path, "operations", own, operations.tally, waits=waits)


def step_seconds(operations: Operations) -> dict[int, float]:
    """Seconds from the first start to the last end of each step."""
    step, end = operations.place["step"], operations.start + operations.duration
    return {
        int(s): float(end[step == s].max() - operations.start[step == s].min())
        for s in np.unique(step)
    }


def ideal_step_seconds(operations: Operations) -> float:
    """Seconds of a step in which every operation takes as long as it usually does.

    (m + p - 1)(mean forward + mean backward) for m micro-batches through p stages, 2 (p - 1)
    transfers between stages, one call of each collective, and the optimizer. A call of a
    collective lasts as long as for the rank that came last, which waits for nobody; its usual
    length is the median over calls, that of a computation the mean.

    Source: Lin et al. (2025), arXiv:2505.05713 (what-if analysis: all operations of one type take
        the same time; this is the closed form of such a step without launch delays).
    """
    kind, duration = operations.kind, operations.duration
    stages = len(np.unique(operations.place["stage"]))
    forward, backward = (duration[kind == name] for name in _COMPUTE)
    batches = len(np.unique(operations.place["seq_id"][kind == _COMPUTE[0]]))
    total = (batches + stages - 1) * float(forward.mean() + backward.mean())
    total += (stages - 1) * sum(_usual_hop(operations, send) for send, _ in _HOPS)
    total += sum(_usual_call(operations, name, keys) for name, keys in _CALLS.items())
    optimizer = duration[kind == "optimizer"]
    return total + (float(optimizer.mean()) if len(optimizer) else 0.0)


def _usual_call(operations: Operations, name: str, keys: tuple[str, ...]) -> float:
    chosen = operations.kind == name
    if not chosen.any():
        return 0.0
    places = np.stack([operations.place[key][chosen] for key in keys], axis=1)
    _, call = np.unique(places, axis=0, return_inverse=True)
    shortest = np.full(int(call.max()) + 1, np.inf)
    np.minimum.at(shortest, call.reshape(-1), operations.duration[chosen])
    return float(np.median(shortest))


def _usual_hop(operations: Operations, send: str) -> float:
    """A send that finds its receiver waiting lasts as long as the transfer: the usual minimum."""
    lengths = operations.duration[operations.kind == send]
    return float(np.quantile(lengths, 0.25)) if len(lengths) else 0.0


def _columns(path: Path) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except pa.ArrowException as error:
        line = str(error).splitlines()[0]
        raise TraceError(f"{path}: is not parquet: {line}.") from error
    missing = [name for name in _NEEDED if name not in table.column_names]
    if missing:
        raise TraceError(f"{path}: must have the columns {', '.join(missing)}.")
    return {name: table.column(name).to_pylist() for name in _NEEDED}

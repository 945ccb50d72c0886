"""Traces of operations in pipeline-parallel training: one operation of one rank a row."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from elastic_consistency.studies.traces.records import (
    MOST_SECONDS,
    StepTimes,
    Tally,
    TraceError,
    step_times,
)
from elastic_consistency.studies.traces.table_rows import not_parquet

_COMPUTE = ("forward-compute", "backward-compute")
_PLACE = ("rank", "dp_rank", "stage", "step", "seq_id")
_TIMES = ("start_ts", "duration")
_NEEDED = (*_PLACE, "optype", *_TIMES)
_NOWHERE = np.iinfo(np.int64).min
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
    """Operations of a parquet file; rows without a place, a finite time or a length are skipped.

    Raises:
        TraceError: If it is no parquet file, or a column is missing or of another type.
    """
    columns = _columns(path)
    start, duration = (columns[name] for name in _TIMES)
    placed = np.all([columns[name] != _NOWHERE for name in _PLACE], axis=0)
    timed = np.isfinite(start) & (duration >= 0) & (duration <= MOST_SECONDS)
    sound = placed & timed
    tally = Tally(read=len(start), kept=int(sound.sum()))
    for reason, bad in (
        ("without a rank, a stage, a step or a micro-batch", ~placed),
        (f"with a time that is no number of seconds from 0 to {MOST_SECONDS:g}", placed & ~timed),
    ):
        if bad.any():
            tally.skipped[reason] = int(bad.sum())
    return Operations(
        source=path.name,
        kind=columns["optype"][sound],
        place={name: columns[name][sound] for name in _PLACE},
        start=start[sound],
        duration=duration[sound],
        tally=tally,
    )


def computing_times(path: Path, operations: Operations) -> StepTimes:
    """Seconds that each rank computes in each step, and the rest of its step as waiting."""
    lengths = step_seconds(operations)
    computing = np.isin(operations.kind, _COMPUTE)
    ranks, rank = np.unique(operations.place["rank"], return_inverse=True)
    steps, step = np.unique(operations.place["step"], return_inverse=True)
    seconds = np.zeros((len(ranks), len(steps)))
    places = (rank.reshape(-1)[computing], step.reshape(-1)[computing])
    np.add.at(seconds, places, operations.duration[computing])
    rest = np.maximum(0.0, np.array([lengths[s] for s in steps.tolist()]) - seconds)
    names = [str(r) for r in ranks.tolist()]
    own = {name: row[row > 0].tolist() for name, row in zip(names, seconds, strict=True)}
    waits = {n: w[row > 0].tolist() for n, w, row in zip(names, rest, seconds, strict=True)}
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


def _columns(path: Path) -> dict[str, np.ndarray]:
    """Every needed column; missing entries are NaN as times, "" as types, `_NOWHERE` as places."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path, columns=list(_NEEDED))
    except (pa.ArrowException, OSError) as error:
        raise not_parquet(path, error) from error
    if len(table.column_names) != len(_NEEDED):
        raise TraceError(f"{path}: must have each of the columns {', '.join(_NEEDED)} once.")
    return {name: _column(path, name, table.column(name)) for name in _NEEDED}


def _column(path: Path, name: str, values: Any) -> np.ndarray:
    import pyarrow as pa
    from pyarrow import types as is_a

    if is_a.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    given = values.type
    if name == "optype" and (is_a.is_string(given) or is_a.is_large_string(given)):
        return np.asarray(values.fill_null("").to_pylist(), str)
    if name in _TIMES and (is_a.is_integer(given) or is_a.is_floating(given)):
        return values.cast(pa.float64(), safe=False).to_numpy()
    if name in _PLACE and is_a.is_integer(given):
        return values.cast(pa.int64(), safe=False).fill_null(_NOWHERE).to_numpy()
    allowed = "texts" if name == "optype" else "numbers" if name in _TIMES else "whole numbers"
    raise TraceError(f"{path}: column {name!r} must hold {allowed}, got {given}.")

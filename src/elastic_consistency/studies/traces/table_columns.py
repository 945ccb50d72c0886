"""Which columns of a table hold the worker and the duration, and in which unit."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import final

from elastic_consistency._checks import nearest
from elastic_consistency.studies.traces.records import TraceError

_SURE, _PERHAPS = ("worker", "rank"), ("node", "host", "device")
_UNITS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "µs", "μs", "usec", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nanosecond", "nanoseconds"), 1e-9),
}
_TIME_WORDS = {"duration", "time", "elapsed"}
_STEP_WORDS = {"step", "iteration", "iter", "batch", "compute", "computing", "training", "train"}
_CLOCK_LIKE = {"time", "elapsed", "elapsed_time", "seconds"}
_KERNELS = {"corrid", "grdx"}  # columns of the table of kernels that nsys writes
_EXAMPLES = "duration_s, duration_ms, step_us, time_ns, step_time_ms, duration (ms), seconds"
_MOST_NAMES, _MOST_LETTERS = 12, 40


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns to read.

    Attributes:
        worker: Column with the worker; None to take the one whose name says so.
        time: Column with the duration; None to take the one whose name says so, with its unit.
        seconds_per_unit: Seconds of one unit of the duration; None if its name states it.
    """

    worker: str | None = None
    time: str | None = None
    seconds_per_unit: float | None = None


@final
@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """The columns to read, found in the heading of a table.

    Attributes:
        worker: Position of the column with the worker.
        time: Position of the column with the duration.
        time_name: Its name.
        seconds_per_unit: Seconds of one unit of the duration.
        clock_like: Whether the name might as well be that of a clock reading.
    """

    worker: int
    time: int
    time_name: str
    seconds_per_unit: float
    clock_like: bool


def choose_columns(
    path: Path, names: list[str], asked: Columns, typed: dict[str, float] | None = None
) -> ChosenColumns:
    """The columns that are asked for, or whose names say what they hold.

    Args:
        path: The table, for errors.
        names: Its heading.
        asked: What the user said.
        typed: Seconds of one unit of columns whose type is a duration, by name.

    Raises:
        TraceError: If there is no such column, several that could be it, or no unit.
    """
    units = typed or {}
    if _KERNELS & {_plain(name) for name in names}:
        raise TraceError(
            f"{path}: is a table of single kernels, as nsys writes it, got the columns "
            f"{_listed(names)}: a table of step times has one step of one worker a row."
        )
    worker = _asked(path, names, asked.worker, "worker") or _worker(path, names)
    time = _asked(path, names, asked.time, "duration") or _time(path, names, asked, units)
    unit = _unit(path, time, asked.seconds_per_unit, units)
    if worker == time:
        raise TraceError(f"{path}: worker and duration must be two columns, got {time!r} for both.")
    return ChosenColumns(
        worker=_position(path, names, worker),
        time=_position(path, names, time),
        time_name=time,
        seconds_per_unit=unit,
        clock_like=asked.time is None and time not in units and _stem(time) in _CLOCK_LIKE,
    )


def _asked(path: Path, names: list[str], asked: str | None, what: str) -> str | None:
    if asked is None or asked in names:
        return asked
    raise TraceError(
        f"{path}: the {what} column must be one of {_listed(names)}, got {asked!r}"
        f"{nearest(asked, names)}."
    )


def _worker(path: Path, names: list[str]) -> str:
    for known in ((_SURE[0],), (_SURE[1],), _PERHAPS):
        found = _found(path, "worker", [name for name in names if _plain(name) in known])
        if found is not None:
            return found
    raise TraceError(
        f"{path}: no worker column: name one of {_listed(names)}, or use one of "
        f"{', '.join(_SURE + _PERHAPS)} (one step of one worker a row)."
    )


def _time(path: Path, names: list[str], asked: Columns, typed: dict[str, float]) -> str:
    no_unit = asked.seconds_per_unit is not None
    fitting = [name for name in names if _is_duration(name, no_unit=no_unit or name in typed)]
    found = _found(path, "duration", fitting)
    if found is None:
        raise TraceError(
            f"{path}: no duration column: name one of {_listed(names)}, or use a name with its "
            f"unit, such as {_EXAMPLES}."
        )
    return found


def _found(path: Path, what: str, fitting: list[str]) -> str | None:
    different = list(dict.fromkeys(fitting))
    if len(different) > 1:
        option = "worker_column" if what == "worker" else "time_column"
        raise TraceError(
            f"{path}: several columns could be the {what}: name one of {_listed(different)} "
            f"as {option}."
        )
    return different[0] if different else None


def _position(path: Path, names: list[str], name: str) -> int:
    places = [k for k, other in enumerate(names) if other == name]
    if len(places) > 1:
        where = " and ".join(str(k + 1) for k in places)
        raise TraceError(f"{path}: the name of a column must be unique, got {name!r} at {where}.")
    return places[0]


def _unit(path: Path, time: str, given: float | None, typed: dict[str, float]) -> float:
    if given is not None:
        if not (given > 0 and math.isfinite(given)):
            raise TraceError(f"{path}: seconds_per_unit must be a number > 0, got {given!r}.")
        if time in typed:
            raise TraceError(f"{path}: seconds_per_unit must not be given, as {time!r} has a unit.")
        return given
    unit = typed.get(time) or _stated_unit(time)
    if unit is None:
        raise TraceError(
            f"{path}: the unit of column {time!r} is unknown: give seconds_per_unit, or use a "
            f"name with its unit, such as {_EXAMPLES}."
        )
    return unit


def _is_duration(name: str, *, no_unit: bool) -> bool:
    if "/" in name:
        return False  # a rate, such as iterations/s
    stem, words = _stem(name), set(_stem(name).split("_"))
    if _stated_unit(name) is None:
        return no_unit and bool(words & _TIME_WORDS) and words <= _TIME_WORDS | _STEP_WORDS
    return stem == "seconds" or words <= _TIME_WORDS | _STEP_WORDS


def _stated_unit(name: str) -> float | None:
    return _UNITS.get(_plain(name).rpartition("_")[2])


def _stem(name: str) -> str:
    """The name without its unit, as duration of `Duration (ms)`."""
    stem, _, last = _plain(name).rpartition("_")
    return stem if last in _UNITS and stem else _plain(name)


def _plain(name: str) -> str:
    return re.sub(r"\W+|_+", "_", name.lower()).strip("_")


def _listed(names: list[str]) -> str:
    """Names for a message, however many and strange they are."""
    some = [_printable(name) for name in names[:_MOST_NAMES] if name]
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join(some + more) or "none"


def _printable(name: str) -> str:
    text = "".join(letter if letter.isprintable() else "?" for letter in name[:_MOST_LETTERS])
    return text + ("..." if len(name) > _MOST_LETTERS else "")

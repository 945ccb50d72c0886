"""What a trace says, and how much of the file was used."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import numpy as np

MOST_SECONDS = 1e9  # thirty years: nothing that a trace measures takes longer


@final
class TraceError(ValueError):
    """A trace cannot be used; the message names the file, the place and what was expected."""


@final
@dataclass(slots=True)
class Tally:
    """Counts of one reading; what is not kept has a reason.

    Attributes:
        read: Records in the file.
        kept: Records that were used.
        skipped: Records that were not, by reason.
    """

    read: int = 0
    kept: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def skip(self, reason: str) -> None:
        """Count one record that is not used."""
        self.skipped[reason] += 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class StepTimes:
    """Seconds of one gradient, by worker.

    Attributes:
        source: Name of the file.
        kind: What kind of trace it is.
        seconds: One (N,) array a worker, in the order of `workers`.
        workers: What the file calls them.
        waits: Seconds a step of each worker that nothing but communication went on; empty arrays
            where the trace does not say.
        tally: Counts of the reading.
    """

    source: str
    kind: str
    seconds: tuple[np.ndarray, ...]
    workers: tuple[str, ...]
    waits: tuple[np.ndarray, ...]
    tally: Tally


def step_times(
    path: Path,
    kind: str,
    by_worker: Mapping[str, Sequence[float]],
    tally: Tally,
    *,
    waits: Mapping[str, Sequence[float]] | None = None,
) -> StepTimes:
    """Step times from lists by worker; workers in natural order.

    Raises:
        TraceError: If there are none.
    """
    if not any(by_worker.values()):
        reasons = "; ".join(f"{count} {reason}" for reason, count in tally.skipped.items())
        raise TraceError(
            f"{path}: holds no step time: read {tally.read} records"
            + (f", skipped {reasons}." if reasons else ".")
        )
    names = sorted((n for n, times in by_worker.items() if times), key=_natural)
    waited = waits or {}
    return StepTimes(
        source=path.name,
        kind=kind,
        seconds=tuple(np.array(by_worker[name]) for name in names),
        workers=tuple(names),
        waits=tuple(np.array(waited.get(name, [])) for name in names),
        tally=tally,
    )


def _natural(name: str) -> list[tuple[int, str]]:
    """Numbers inside a name count as numbers: rank2 stands before rank10."""
    parts = re.split(r"([0-9]{1,18})", name)
    return [(int(part), "") if k % 2 else (-1, part) for k, part in enumerate(parts)]

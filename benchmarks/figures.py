"""Figures beside their targets: how they are measured, printed and kept."""

import argparse
import json
import operator
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

_MEETS = {"≥": operator.ge, "≤": operator.le}


@final
@dataclass(frozen=True)
class Figure:
    """Something measured.

    Attributes:
        work: What was measured.
        values: One a repetition.
        target: Such as "≥ 0.6" or "≤ 1.15", held against the median; "" for none.
    """

    work: str
    values: tuple[float, ...]
    target: str = ""

    @property
    def median(self) -> float:
        """Of the values."""
        return statistics.median(self.values)

    @property
    def verdict(self) -> str:
        """Whether the median meets the target."""
        if not self.target:
            return ""
        relation, bound = self.target.split()
        return "met" if _MEETS[relation](self.median, float(bound)) else "missed"

    def line(self) -> str:
        """A row of the table."""
        spread = f"({min(self.values):,.3g} to {max(self.values):,.3g})"
        measured = f"{self.median:,.3g} {spread if len(self.values) > 1 else ''}"
        return f"{self.work:<66} {self.target:>8} {measured:<32} {self.verdict}"

    def record(self) -> dict:
        """As plain JSON types."""
        return {
            "work": self.work,
            "target": self.target,
            "median": self.median,
            "min": min(self.values),
            "max": max(self.values),
            "verdict": self.verdict,
        }


def seconds_of(task: Callable[[], object]) -> float:
    """Seconds of processor time of one call, which other programs disturb least."""
    begin = time.process_time()
    task()
    return time.process_time() - begin


def alternate(tasks: Sequence[Callable[[], object]], rounds: int) -> list[tuple[float, ...]]:
    """For each task its seconds, one a round; the tasks alternate, so load hits all of them."""
    found = [[seconds_of(task) for task in tasks] for _ in range(rounds)]
    return list(zip(*found, strict=True))


def ratios(above: Iterable[float], below: Iterable[float]) -> tuple[float, ...]:
    """Pair by pair."""
    return tuple(a / b for a, b in zip(above, below, strict=True))


def report(measure: Callable[[], Iterable[Figure]], about: str | None) -> None:
    """Measure, print each figure as it comes, write all of them as JSON where asked."""
    parser = argparse.ArgumentParser(description=(about or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    records = []
    for figure in measure():
        print(figure.line(), flush=True)
        records.append(figure.record())
    if options.json:
        options.json.write_text(json.dumps(records, indent=2) + "\n")

"""Matrices of round-trip times: links of a cluster."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from elastic_consistency.studies.traces.event_stream import DAMAGED, damaged, open_text
from elastic_consistency.studies.traces.records import TraceError

_MOST_SECONDS = 60.0  # 30 have been measured; larger numbers are milliseconds
_PARTS = re.compile(r"[,;\s]+")


def read_rtt(path: Path) -> np.ndarray:
    """(N, N) round-trip times, s, from rows of numbers parted by tabs, commas or blanks.

    The diagonal does not count: nan or - will do there.

    Raises:
        TraceError: If it is not a square of numbers from 0 to 60, with the place.
    """
    rows: list[list[float]] = []
    for line, text in _lines(path):
        rows.append(_row(path, line, len(rows), text))
    if len(rows) < 2 or {len(row) for row in rows} != {len(rows)}:
        widths = sorted({len(row) for row in rows}) or "no"
        raise TraceError(
            f"{path}: must be a square of numbers for two nodes or more, got {len(rows)} rows "
            f"of {widths} columns."
        )
    return np.array(rows)


@final
@dataclass(frozen=True, slots=True)
class Placement:
    """Where to put the server, and how far everybody is from it.

    Attributes:
        server: The node with the smallest mean round-trip time to the others.
        latencies_s: One-way latency from the server to each other node, s, in their order.
        between_s: Median one-way latency between two other nodes, s.
    """

    server: int
    latencies_s: tuple[float, ...]
    between_s: float


def place_server(round_trips: np.ndarray) -> Placement:
    """The best place for a server; a way takes half of the mean of both round trips.

    Args:
        round_trips: (N, N) s, N >= 2; the diagonal does not count.
    """
    one_way = (round_trips + round_trips.T) / 4
    np.fill_diagonal(one_way, 0.0)
    server = int(one_way.sum(axis=0).argmin())
    others = np.delete(np.arange(len(one_way)), server)
    pairs = one_way[np.ix_(others, others)][np.triu_indices(len(others), k=1)]
    between = float(np.median(pairs)) if len(pairs) else 0.0
    return Placement(server, tuple(one_way[server, others].tolist()), between)


def _lines(path: Path) -> list[tuple[int, str]]:
    """Lines with their numbers, without blank ones and remarks."""
    try:
        with open_text(path) as file:
            numbered = enumerate(file.read().splitlines(), start=1)
            return [(k, text) for k, text in numbered if text.strip() and text[0] != "#"]
    except DAMAGED as error:
        raise damaged(path, error) from error


def _row(path: Path, line: int, own: int, text: str) -> list[float]:
    words = _PARTS.split(text.strip())
    return [_seconds(path, line, k, word, own=k == own) for k, word in enumerate(words)]


def _seconds(path: Path, line: int, place: int, word: str, *, own: bool) -> float:
    if own and word.lower() in ("nan", "-"):
        return 0.0
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if 0 <= value <= _MOST_SECONDS:
        return value
    some = (word[:40] if word.isprintable() else "no text") or "nothing"
    hint = ""
    if _MOST_SECONDS < value < math.inf:
        hint = "; divide milliseconds by 1000"
    elif some[0].isalpha() and some.lower() not in ("nan", "inf"):
        hint = "; leave out the names of nodes"
    raise TraceError(
        f"{path}: line {line}, column {place + 1} must be a number of seconds from 0 to "
        f"{_MOST_SECONDS:g}, got {some!r}{hint}."
    )

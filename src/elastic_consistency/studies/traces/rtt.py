"""Matrices of round-trip times: links of a cluster."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from elastic_consistency.studies.traces.event_stream import open_text
from elastic_consistency.studies.traces.records import TraceError


def read_rtt(path: Path) -> np.ndarray:
    """(N, N) round-trip times, s, from rows of numbers parted by tabs, commas or blanks.

    Raises:
        TraceError: If it is not a square of numbers >= 0, with the place.
    """
    rows = []
    with open_text(path) as file:
        for line, text in enumerate(file, start=1):
            if text.strip():
                rows.append(_row(path, line, text))
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


def _row(path: Path, line: int, text: str) -> list[float]:
    values = []
    for column, word in enumerate(text.replace(",", " ").split(), start=1):
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not (value >= 0 and math.isfinite(value)):
            raise TraceError(
                f"{path}: line {line}, column {column} must be a number of seconds >= 0, "
                f"got {word!r}."
            )
        values.append(value)
    return values

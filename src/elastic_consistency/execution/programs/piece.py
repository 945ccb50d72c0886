"""What one tile of replicates saw in one piece of a program."""

from dataclasses import dataclass, field
from typing import final

import numpy as np


@final
@dataclass(slots=True, eq=False)
class Piece:
    """Filled while a tile runs.

    Attributes:
        squares: For each watch, (K, R) squared gaps, or None.
        looks: In order: position of the watch, instruction that comes next, values at the point.
        stopped: The instruction after which a model was not finite; None if none was found.
    """

    squares: list[np.ndarray | None] = field(default_factory=list)
    looks: list[tuple[int, int, tuple[np.ndarray, ...]]] = field(default_factory=list)
    stopped: int | None = None


def together(pieces: list[Piece]) -> Piece:
    """Tiles side by side, as if all replicates had run at once and stopped at the first fault."""
    if len(pieces) == 1:
        return pieces[0]
    stops = [piece.stopped for piece in pieces if piece.stopped is not None]
    stopped = min(stops, default=None)
    shortest = min(len(piece.looks) for piece in pieces)
    squares: list[np.ndarray | None] = []
    for parts in zip(*(piece.squares for piece in pieces), strict=True):
        length = min((len(part) for part in parts if part is not None), default=0)
        held = [part[:length] for part in parts if part is not None]
        squares.append(np.concatenate(held, axis=1) if held else None)
    looks = []
    for same in zip(*(piece.looks[:shortest] for piece in pieces), strict=True):
        values = tuple(np.concatenate(parts) for parts in zip(*(s[2] for s in same), strict=True))
        looks.append((same[0][0], same[0][1], values))
    return Piece(squares, looks, stopped)

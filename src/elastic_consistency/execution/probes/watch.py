"""What a probe asks of a program, which runs many rows without calling anybody."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, final

import numpy as np

Array = Any


class Moment(Enum):
    """When a watch looks.

    ADDED: at every update that enters a server, before it does; beside its view.
    STARTED: at every gradient; the point is x_0 minus the weighted gradients before it.
    STEPPED: at every step or mix of one replica, after it; there is no gap.
    """

    ADDED = "added"
    STARTED = "started"
    STEPPED = "stepped"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """Gaps at every moment of one kind, and a closer look at every `every`-th of them.

    Attributes:
        moment: When.
        every: Moments from one look to the next, >= 1. ADDED and STARTED look at the first;
            STEPPED looks when `every` steps have been made.
        evaluate: Values, each (R,), at an (R, d) point; it keeps no reference to the point.
        looked: Takes time, position and values of a look, in order.
        gaps: Takes (K,) times, (K,) positions and (K, R) squared gaps; None for STEPPED.
        replica: Whose steps, for STEPPED.
        weights: (J,) weight of each gradient in the sequence, for STARTED.
    """

    moment: Moment
    every: int
    evaluate: Callable[[Array], tuple[np.ndarray, ...]]
    looked: Callable[[float, int, tuple[np.ndarray, ...]], None]
    gaps: Callable[[np.ndarray, np.ndarray, np.ndarray], None] | None = None
    replica: int = 0
    weights: np.ndarray | None = None

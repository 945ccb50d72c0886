"""Which rank plays which host."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency._checks import check


@final
@dataclass(frozen=True, slots=True)
class Placement:
    """Hosts dealt round to ranks: the server on rank 0, worker w on rank (w + 1) mod n_ranks.

    A schedule without a server leaves rank 0 to the workers n_ranks - 1, 2 n_ranks - 1, ...;
    `explicit` places hosts by hand.

    Attributes:
        n_ranks: Number of ranks, >= 1.
        explicit: Rank of the server, of worker 0, of worker 1, ...; () deals them round.
    """

    n_ranks: int
    explicit: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check(self.n_ranks >= 1, self, "n_ranks", "a number of ranks >= 1")
        within = all(0 <= rank < self.n_ranks for rank in self.explicit)
        check(within, self, "explicit", f"ranks from 0 to {self.n_ranks - 1}")

    def ranks(self, hosts: np.ndarray) -> np.ndarray:
        """Rank of each host, -1 for the server.

        Args:
            hosts: Workers, or -1 for the server, any shape.

        Raises:
            ValueError: If a host has no explicit rank.
        """
        if not self.explicit:
            return (hosts + 1) % self.n_ranks
        if hosts.size and hosts.max() + 1 >= len(self.explicit):
            raise ValueError(
                f"Placement.explicit must name the ranks of {hosts.max() + 2} hosts, "
                f"got {len(self.explicit)}."
            )
        return np.asarray(self.explicit)[hosts + 1]

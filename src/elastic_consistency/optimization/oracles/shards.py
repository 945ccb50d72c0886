"""Which samples a worker draws from."""

from dataclasses import dataclass
from typing import final

import numpy as np

from elastic_consistency._checks import check


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shards:
    """Samples of each worker; f is the plain mean over workers of their mean losses.

    With shards of unequal size the samples of a small shard therefore weigh more in f, as
    they do in an algorithm that counts every worker once.

    Attributes:
        n_samples: Number of samples N, >= 1.
        members: One (n_i,) array of sample numbers a worker, none of them empty; () lets every
            worker draw from all samples.
    """

    n_samples: int
    members: tuple[np.ndarray, ...] = ()

    def __post_init__(self) -> None:
        check(self.n_samples >= 1, self, "n_samples", "a number of samples >= 1")
        within = all(m.size > 0 and m.min() >= 0 and m.max() < self.n_samples for m in self.members)
        check(within, self, "members", f"non-empty arrays of numbers below {self.n_samples}")

    def indices(self, draws: np.ndarray, worker: int) -> np.ndarray:
        """Sample numbers floor(u * n), drawn with replacement from the shard of `worker`.

        Args:
            draws: Uniforms in (0, 1), any shape.
            worker: Worker that draws.

        Returns:
            Sample numbers with the shape of `draws`.
        """
        size = self.members[worker].size if self.members else self.n_samples
        positions = np.minimum((draws * size).astype(np.int64), size - 1)
        return self.members[worker][positions] if self.members else positions

    def populations(self) -> tuple[np.ndarray, ...]:
        """Sample numbers of each worker; one population of all samples when shared."""
        return self.members or (np.arange(self.n_samples),)

    def weights_of(self, worker: int) -> np.ndarray:
        """(N,) weights of the samples in the mean loss of one worker, summing to 1."""
        members = self.populations()[worker if self.members else 0]
        return np.bincount(members, minlength=self.n_samples) / members.size

    def weights(self) -> np.ndarray:
        """(N,) weights of the samples in f, summing to 1."""
        rows = [self.weights_of(worker) for worker in range(len(self.populations()))]
        return np.mean(rows, axis=0)

"""Ways to part labelled data between workers."""

import numpy as np

from elastic_consistency.optimization.oracles.shards import Shards


def iid_shards(n_samples: int, n_workers: int, rng: np.random.Generator) -> Shards:
    """Shards of a random permutation, equal in size to within one sample.

    Args:
        n_samples: Number of samples, >= n_workers.
        n_workers: Number of workers, >= 1.
        rng: Where the permutation comes from.

    Raises:
        ValueError: If a worker would get no sample.
    """
    _require_enough(n_samples, n_workers)
    return Shards(n_samples, tuple(np.array_split(rng.permutation(n_samples), n_workers)))


def shards_by_label(labels: np.ndarray, n_workers: int) -> Shards:
    """Shards of the samples sorted by label: as few classes a worker as there can be.

    Args:
        labels: (N,) class of every sample.
        n_workers: Number of workers, in [1, N].

    Raises:
        ValueError: If a worker would get no sample.
    """
    _require_enough(len(labels), n_workers)
    order = np.argsort(labels, kind="stable")
    return Shards(len(labels), tuple(np.array_split(order, n_workers)))


def shards_by_size(n_samples: int, sizes: tuple[int, ...], rng: np.random.Generator) -> Shards:
    """Shards of given sizes, of a random permutation.

    Args:
        n_samples: Number of samples.
        sizes: Samples of every worker, all >= 1, of sum at most n_samples; samples that are
            left over belong to nobody.
        rng: Where the permutation comes from.

    Raises:
        ValueError: If a size is below 1 or their sum is too large.
    """
    if min(sizes, default=0) < 1 or sum(sizes) > n_samples:
        allowed = f"numbers >= 1 of sum at most {n_samples}"
        raise ValueError(f"shards_by_size.sizes must be {allowed}, got {sizes!r}.")
    order = rng.permutation(n_samples)
    ends = np.cumsum(sizes)
    return Shards(n_samples, tuple(np.split(order[: ends[-1]], ends[:-1])))


def dirichlet_shards(
    labels: np.ndarray, n_workers: int, concentration: float, rng: np.random.Generator
) -> Shards:
    """Shards in which every class is dealt out in proportions from a Dirichlet law.

    Small concentrations give a worker few classes, large ones tend to IID. A worker that the
    draw leaves without a sample takes one from the largest shard.

    Args:
        labels: (N,) class of every sample.
        n_workers: Number of workers, in [1, N].
        concentration: > 0, the same for all workers.
        rng: Where proportions and permutations come from.

    Raises:
        ValueError: If a worker would get no sample or `concentration` is not positive.

    Source: Hsu, Qi, Brown (2019), arXiv:1909.06335.
    """
    _require_enough(len(labels), n_workers)
    if not concentration > 0:
        raise ValueError(
            f"dirichlet_shards.concentration must be a number > 0, got {concentration!r}."
        )
    shards: list[list[int]] = [[] for _ in range(n_workers)]
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        shares = rng.dirichlet(np.full(n_workers, concentration))
        ends = np.round(np.cumsum(shares)[:-1] * members.size).astype(np.int64)
        for shard, part in zip(shards, np.split(members, ends), strict=True):
            shard.extend(part.tolist())
    for shard in shards:
        if not shard:
            shard.append(max(shards, key=len).pop())
    return Shards(len(labels), tuple(np.array(shard) for shard in shards))


def _require_enough(n_samples: int, n_workers: int) -> None:
    if not 1 <= n_workers <= n_samples:
        raise ValueError(f"n_workers must be in [1, {n_samples}], got {n_workers!r}.")

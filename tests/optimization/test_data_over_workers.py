"""How data are parted between workers, and how different that makes them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.optimization.oracles import (
    LogisticRegression,
    Quadratic,
    Shards,
    digits,
    dirichlet_shards,
    iid_shards,
    measured_heterogeneity,
    shards_by_label,
    shards_by_size,
)

seeds = st.integers(0, 2**32)


def _rng(seed):
    return np.random.default_rng(seed)


def _is_partition(shards, n_samples):
    return sorted(np.concatenate(shards.members).tolist()) == list(range(n_samples))


@given(n_samples=st.integers(1, 60), n_workers=st.integers(1, 60), seed=seeds)
def test_every_partition_deals_out_every_sample_once(n_samples, n_workers, seed):
    labels = _rng(seed).integers(0, 4, n_samples)
    makers = (
        lambda: iid_shards(n_samples, n_workers, _rng(seed)),
        lambda: shards_by_label(labels, n_workers),
        lambda: dirichlet_shards(labels, n_workers, 0.3, _rng(seed)),
    )
    for make in makers:
        if n_workers > n_samples:
            with pytest.raises(ValueError, match="n_workers must be in"):
                make()
        else:
            shards = make()
            assert len(shards.members) == n_workers
            assert _is_partition(shards, n_samples)


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5), left=st.integers(0, 4), seed=seeds
)
def test_shards_have_the_sizes_that_were_asked_for(sizes, left, seed):
    shards = shards_by_size(sum(sizes) + left, tuple(sizes), _rng(seed))

    assert [members.size for members in shards.members] == sizes
    assert len(np.unique(np.concatenate(shards.members))) == sum(sizes)


@pytest.mark.parametrize("sizes", [(), (0, 3), (6, 5)])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match=r"shards_by_size.sizes"):
        shards_by_size(10, sizes, _rng(0))


def test_sorting_by_label_gives_every_worker_few_classes():
    labels = np.repeat(np.arange(10), 20)[_rng(1).permutation(200)]

    shards = shards_by_label(labels, 10)

    assert [len(np.unique(labels[members])) for members in shards.members] == [1] * 10


def test_concentration_goes_from_single_classes_to_iid():
    """Mean over workers of the largest class share: near 1 for .01, near 1/4 for 1000."""
    labels = np.repeat(np.arange(4), 500)
    purity = []
    for concentration in (0.01, 1000.0):
        shards = dirichlet_shards(labels, 5, concentration, _rng(2))
        counts = [np.bincount(labels[members], minlength=4) for members in shards.members]
        purity.append(np.mean([count.max() / count.sum() for count in counts]))

    assert purity[0] > 0.8
    assert purity[1] < 0.3


@pytest.mark.parametrize("concentration", [0.0, -1.0, float("nan")])
def test_bad_concentrations_are_refused(concentration):
    with pytest.raises(ValueError, match=r"dirichlet_shards.concentration"):
        dirichlet_shards(np.arange(4), 2, concentration, _rng(0))


@given(u=st.floats(0, 1), size=st.integers(1, 10**6))
def test_a_uniform_becomes_a_sample_number(u, size):
    """Even u = 1, which rounding of a uniform in (0, 1) can give, stays in range."""
    (index,) = Shards(size).indices(np.array([u]), 0)

    assert 0 <= index < size
    assert index == min(int(np.floor(np.float64(u) * size)), size - 1)


def test_samples_come_from_the_workers_own_shard():
    shards = Shards(6, (np.array([4, 2]), np.array([0, 1, 3, 5])))
    grid = np.array([[0.1, 0.3, 0.6, 0.9]])

    assert shards.indices(grid, 0).tolist() == [[4, 4, 2, 2]]
    assert shards.indices(grid, 1).tolist() == [[0, 1, 3, 5]]


def test_weights_count_every_worker_once():
    shards = Shards(5, (np.array([0]), np.array([1, 2, 3])))

    np.testing.assert_allclose(shards.weights(), [1 / 2, 1 / 6, 1 / 6, 1 / 6, 0])
    np.testing.assert_allclose(shards.weights_of(1), [0, 1 / 3, 1 / 3, 1 / 3, 0])
    np.testing.assert_allclose(Shards(4).weights(), np.full(4, 1 / 4))


@pytest.mark.parametrize(
    "members", [(np.array([], dtype=int),), (np.array([5]),), (np.array([-1]),)]
)
def test_impossible_shards_are_refused(members):
    with pytest.raises(ValueError, match=r"Shards.members must be non-empty arrays"):
        Shards(5, members)


def test_heterogeneity_of_a_quadratic_is_known():
    """Mean of ||spectrum * offset||^2, at every point."""
    offsets = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, -2.0]])
    oracle = Quadratic(np.array([2.0, 1.0]), offsets=offsets)
    points = _rng(0).normal(size=(7, 2))

    measured = measured_heterogeneity(oracle, points, 3)

    np.testing.assert_allclose(measured, (4 + 4 + (4 + 4)) / 3)
    np.testing.assert_allclose(oracle.constants(1.0).heterogeneity, 16 / 3)


def test_workers_that_share_their_data_are_alike():
    oracle = Quadratic(np.array([2.0, 1.0]))

    assert measured_heterogeneity(oracle, np.ones((2, 2)), 5).tolist() == [0, 0]


def test_shards_by_label_are_more_heterogeneous_than_iid_ones():
    """On real digits; IID shards of 180 samples still differ by chance."""
    data, x = digits(), np.zeros((1, 650))
    zeta = {}
    for name, shards in (
        ("iid", iid_shards(1797, 10, _rng(3))),
        ("dirichlet", dirichlet_shards(data.labels, 10, 0.5, _rng(3))),
        ("label", shards_by_label(data.labels, 10)),
    ):
        oracle = LogisticRegression(data.features, data.labels, 10, 1, 0.1, shards)
        zeta[name] = measured_heterogeneity(oracle, x, 10).item()

    assert zeta["iid"] < zeta["dirichlet"] / 3 < zeta["dirichlet"] < zeta["label"]


def test_heterogeneity_is_the_same_on_all_libraries(library):
    data = digits()
    shards = shards_by_label(data.labels, 3)
    oracle = LogisticRegression(data.features, data.labels, 10, 1, 0.1, shards)
    points = _rng(4).normal(size=(2, 650))

    measured = measured_heterogeneity(oracle, library.array(points), 3)

    expected = measured_heterogeneity(oracle, points, 3)
    np.testing.assert_allclose(library.numpy(measured), expected, rtol=1e-10)

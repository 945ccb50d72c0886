"""Data sets: those that ship in packages, and files of two formats."""

import gzip
import struct

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import (
    Dataset,
    LeastSquares,
    breast_cancer,
    digits,
    fashion_mnist,
    measure_sparsity,
    mnist,
    read_idx,
    read_libsvm,
    sparse_rows,
)


@pytest.mark.parametrize(
    ("load", "n_samples", "n_columns", "counts"),
    [
        (breast_cancer, 569, 31, [212, 357]),
        (digits, 1797, 65, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
        (mnist, 5000, 785, [500] * 10),
    ],
)
def test_the_shipped_data_are_those_that_were_published(load, n_samples, n_columns, counts):
    data = load()

    assert data.features.shape == (n_samples, n_columns)
    assert np.bincount(data.labels).tolist() == counts
    assert data.n_classes == len(counts)
    assert (data.features[:, -1] == 1).all()
    if load is mnist:
        assert (data.features.min(), data.features.max()) == (0, 1)


@pytest.mark.parametrize("load", [breast_cancer, digits])
def test_standardised_columns_have_mean_zero_and_variance_one_or_zero(load):
    columns = load().features[:, :-1]

    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-10)
    variances = columns.var(axis=0)
    np.testing.assert_allclose(variances, np.where(variances > 0, 1, 0), atol=1e-10)


def test_a_data_set_needs_one_label_a_sample():
    with pytest.raises(ValueError, match=r"Dataset.labels must be one for each of 3 samples"):
        Dataset("broken", np.ones((3, 1)), np.zeros(2, dtype=np.int64), 2)


def _idx(array, kind):
    header = bytes([0, 0, kind, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize(
    ("kind", "dtype"), [(8, "u1"), (9, "i1"), (11, "i2"), (12, "i4"), (13, "f4"), (14, "f8")]
)
@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_come_back_as_they_were_written(kind, dtype, packed, tmp_path):
    array = np.arange(24, dtype=dtype).reshape(2, 3, 4)
    content = _idx(array, kind)
    path = tmp_path / ("data.gz" if packed else "data")
    path.write_bytes(gzip.compress(content) if packed else content)

    read = read_idx(path)

    assert read.dtype == np.dtype(dtype)
    assert (read == array).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be an IDX file"),
        (b"PK\x03\x04", "must be an IDX file"),
        (b"\0\0\x08\x03\0\0", "must have"),
        (_idx(np.zeros((2, 2), np.uint8), 8)[:-1], "must have 16 bytes, got 15"),
        (_idx(np.zeros((2, 2), np.uint8), 8) + b"!", "must have 16 bytes, got 17"),
    ],
)
def test_files_that_are_no_idx_files_are_refused(content, message, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(content)

    with pytest.raises(ValueError, match=message):
        read_idx(path)


def test_fashion_mnist_is_read_from_its_folder(tmp_path):
    images = np.arange(2 * 784, dtype=np.uint64).reshape(2, 28, 28) % 256
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(_idx(images.astype(np.uint8), 8))
    labels = _idx(np.array([9, 0], np.uint8), 8)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))

    data = fashion_mnist(tmp_path, train=False)

    assert data.labels.tolist() == [9, 0]
    np.testing.assert_allclose(data.features[:, :-1], images.reshape(2, 784) / 255)
    with pytest.raises(FileNotFoundError, match="needs the file train-images-idx3-ubyte"):
        fashion_mnist(tmp_path)


def test_libsvm_files_are_read_with_classes_in_order(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("+1 2:0.5 4:-1e2 # a comment\n\n-1 1:3\n+1\n")

    data = read_libsvm(path)

    assert data.features.tolist() == [[0, 0.5, 0, -100], [3, 0, 0, 0], [0, 0, 0, 0]]
    assert data.labels.tolist() == [1, 0, 1]
    assert data.n_classes == 2
    assert read_libsvm(path, n_features=6).features.shape == (3, 6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "must hold at least one row"),
        ("1 2:3\n1 2\n", "at line 2"),
        ("one 1:2\n", "at line 1"),
        ("1 0:2\n", "indices from 1 on at line 1"),
        ("1 9:2\n", "indices up to 4, got 9"),
    ],
)
def test_malformed_libsvm_files_are_refused(content, message, tmp_path):
    path = tmp_path / "data.txt"
    path.write_text(content)

    with pytest.raises(ValueError, match=message):
        read_libsvm(path, n_features=4)


def test_libsvm_files_agree_with_another_reader(tmp_path):
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    rng = np.random.default_rng(0)
    rows = sparse_rows(20, 8, 3, rng)
    rows[0, -1] = 1.0
    path = tmp_path / "data.txt"
    dump_svmlight_file(rows, rng.integers(0, 3, 20), str(path), zero_based=False)

    data = read_libsvm(path)

    features, labels = load_svmlight_file(str(path))
    np.testing.assert_allclose(data.features, features.toarray(), rtol=1e-12)
    assert (data.labels == labels).all()


def test_sparsity_is_counted():
    """Rows {0, 1}, {1}, {2}: the first meets itself and the second."""
    rows = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])

    sparsity = measure_sparsity(rows)

    assert sparsity.row_size == 2
    assert sparsity.column_frequency == pytest.approx(2 / 3)
    assert sparsity.conflict_rate == pytest.approx(2 / 3)


def test_gradients_of_sparse_rows_are_sparse():
    rng = np.random.default_rng(1)
    oracle = LeastSquares(sparse_rows(40, 30, 3, rng), rng.normal(size=40))

    gradients = oracle.gradient(rng.normal(size=(50, 30)), rng.random((50, 1)), 0)

    assert ((gradients != 0).sum(axis=1) <= 3).all()


@pytest.mark.parametrize("row_size", [0, 5])
def test_impossible_row_sizes_are_refused(row_size):
    with pytest.raises(ValueError, match=r"sparse_rows.row_size must be in \[1, 4\]"):
        sparse_rows(3, 4, row_size, np.random.default_rng(0))

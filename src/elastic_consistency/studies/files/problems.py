"""The oracle of a study file, from its table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from elastic_consistency.optimization.oracles import (
    AbstractOracle,
    Dataset,
    GemanMcClure,
    LeastSquares,
    LogisticRegression,
    MultilayerPerceptron,
    Quadratic,
    Shards,
    breast_cancer,
    digits,
    dirichlet_shards,
    estimated_along_descent,
    fashion_mnist,
    iid_shards,
    mnist,
    read_libsvm,
    shards_by_label,
    shards_by_size,
)
from elastic_consistency.studies.files.building import build_kind
from elastic_consistency.studies.files.errors import FieldError, shown, unknown_value
from elastic_consistency.studies.files.kinds import kinds
from elastic_consistency.studies.files.problem_tables import TABLES, ShardsTable

SHIPPED = {"breast_cancer": breast_cancer, "digits": digits, "mnist": mnist}


def problem_of(
    given: Mapping[str, Any], n_workers: int, modules: tuple[str, ...] = ()
) -> tuple[AbstractOracle, str]:
    """The oracle, and the name of its data.

    Args:
        given: The table `problem` of a file.
        n_workers: Workers between whom data may be parted.
        modules: Further modules whose oracles may be named.

    Raises:
        FieldError: If a field does not fit; pydantic's error names others.
    """
    kind = given.get("kind")
    own = {
        name: cls for name, cls in kinds(AbstractOracle, modules).items() if _is_own(cls, modules)
    }
    if isinstance(kind, str) and kind in own:
        return build_kind(own, given, "problem", modules), kind
    if not isinstance(kind, str) or kind not in TABLES:
        raise unknown_value("problem.kind", kind, (*TABLES, *own))
    table: Any = TABLES[kind].model_validate(given)
    try:
        return _BUILDERS[kind](table, n_workers)
    except FieldError:
        raise
    except ValueError as error:
        raise FieldError("problem", f"is refused: {error}") from error


def read_data(name: str) -> Dataset:
    """Data by the name under which they ship, or by the path of a file or folder.

    Raises:
        FieldError: If it is neither.
    """
    if name in SHIPPED:
        return SHIPPED[name]()
    path = Path(name)
    if not path.exists():
        raise FieldError(
            "problem.data",
            f"must be one of {', '.join(sorted(SHIPPED))}, a LIBSVM file, or a folder with "
            f"Fashion-MNIST in IDX format; got {shown(name)}, which does not exist.",
        )
    return fashion_mnist(path) if path.is_dir() else read_libsvm(path)


def _is_own(cls: type, modules: tuple[str, ...]) -> bool:
    return f"{cls.__module__}.".startswith(tuple(f"{module}." for module in modules))


def _on_data(table: Any, n_workers: int) -> tuple[Dataset, np.ndarray, Shards | None]:
    data = read_data(table.data)
    features = data.features
    if table.unit_length:
        lengths = np.linalg.norm(features, axis=1, keepdims=True)
        features = features / np.where(lengths > 0, lengths, 1.0)
    shards = None if table.shards is None else _shards(table.shards, data.labels, n_workers)
    return data, features, shards


def _shards(table: ShardsTable, labels: np.ndarray, n_workers: int) -> Shards:
    for name, kind in (("concentration", "dirichlet"), ("sizes", "by_size")):
        if (getattr(table, name) is None) == (table.kind == kind):
            word = "must be given" if table.kind == kind else "must not be given"
            raise FieldError(f"problem.shards.{name}", f"{word} for {table.kind}.")
    rng = np.random.default_rng(table.seed)
    if table.kind == "iid":
        return iid_shards(len(labels), n_workers, rng)
    if table.kind == "by_label":
        return shards_by_label(labels, n_workers)
    if table.kind == "dirichlet":
        assert table.concentration is not None
        return dirichlet_shards(labels, n_workers, table.concentration, rng)
    sizes = tuple(table.sizes or ())
    if len(sizes) != n_workers:
        problem = f"must name {n_workers} workers, got {len(sizes)}."
        raise FieldError("problem.shards.sizes", problem)
    return shards_by_size(len(labels), sizes, rng)


def _logistic_regression(table: Any, n_workers: int) -> tuple[AbstractOracle, str]:
    data, features, shards = _on_data(table, n_workers)
    return LogisticRegression(
        features, data.labels, data.n_classes, batch=table.batch, ridge=table.ridge, shards=shards
    ), data.name


def _least_squares(table: Any, n_workers: int) -> tuple[AbstractOracle, str]:
    data, features, shards = _on_data(table, n_workers)
    responses = data.labels.astype(np.float64)
    return LeastSquares(
        features, responses, batch=table.batch, ridge=table.ridge, shards=shards
    ), data.name


def _multilayer_perceptron(table: Any, n_workers: int) -> tuple[AbstractOracle, str]:
    data, features, shards = _on_data(table, n_workers)
    network = MultilayerPerceptron(
        features,
        data.labels,
        data.n_classes,
        hidden=tuple(table.hidden),
        batch=table.batch,
        ridge=table.ridge,
        seed=table.seed,
        shards=shards,
    )
    return estimated_along_descent(network, n_workers=n_workers if shards else 1), data.name


def _quadratic(table: Any, n_workers: int) -> tuple[AbstractOracle, str]:
    spectrum, start = np.array(table.spectrum), np.array(table.start)
    return Quadratic(spectrum, variance=table.noise_variance, initial=start), "quadratic"


def _geman_mcclure(table: Any, n_workers: int) -> tuple[AbstractOracle, str]:
    return GemanMcClure(np.array(table.start), variance=table.noise_variance), "Geman-McClure"


_BUILDERS = {
    "logistic_regression": _logistic_regression,
    "least_squares": _least_squares,
    "multilayer_perceptron": _multilayer_perceptron,
    "quadratic": _quadratic,
    "geman_mcclure": _geman_mcclure,
}

"""The problems that a study file can name, as tables; the field `kind` says which one it is."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Whole = Annotated[int, Field(ge=1, le=10**9)]  # beyond a billion nothing here fits into memory
Count = Annotated[int, Field(ge=1, le=10**6)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Vector = Annotated[list[Finite], Field(min_length=1)]


class Table(BaseModel):
    """A table of a file: no field is unknown, and no value is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ShardsTable(Table):
    """Which samples each worker has; left out, every worker draws from all of them.

    Attributes:
        kind: "iid", "by_label" (as few classes a worker as possible), "by_size" or "dirichlet".
        seed: Of the partition.
        concentration: Of the Dirichlet law, small for unlike workers; dirichlet only.
        sizes: Samples of every worker; by_size only.
    """

    kind: Literal["iid", "by_label", "by_size", "dirichlet"]
    seed: Annotated[int, Field(ge=0)] = 0
    concentration: Positive | None = None
    sizes: list[Whole] | None = None


class _OnData(Table):
    """A problem on labelled data.

    Attributes:
        data: "breast_cancer", "digits" or "mnist", which ship with packages; or a path: of a
            LIBSVM file, or of a folder with Fashion-MNIST in IDX format.
        unit_length: Whether every sample is scaled to length 1.
        batch: Samples a gradient, at most a million.
        shards: Which samples each worker has.
    """

    data: Annotated[str, Field(min_length=1)]
    unit_length: bool = True
    batch: Count
    shards: ShardsTable | None = None


class LogisticRegressionTable(_OnData):
    """Logistic regression; with `ridge` > 0 strongly convex, every constant proved.

    Attributes:
        ridge: Weight of the ridge term, the strong convexity.
    """

    kind: Literal["logistic_regression"]
    ridge: Positive


class LeastSquaresTable(_OnData):
    """Least squares of the labels on the features, every constant proved.

    Attributes:
        ridge: Weight of the ridge term.
    """

    kind: Literal["least_squares"]
    ridge: NotNegative


class MultilayerPerceptronTable(_OnData):
    """A network with tanh layers; its constants are estimates, so nothing is certified.

    The target is a share of the way from the loss of the start to 0.

    Attributes:
        hidden: Widths of the hidden layers.
        ridge: Weight of the ridge term.
        seed: Of the start.
    """

    kind: Literal["multilayer_perceptron"]
    hidden: list[Count]
    ridge: NotNegative = 0.0
    seed: Annotated[int, Field(ge=0)] = 0


class QuadraticTable(Table):
    """A quadratic with a given spectrum and Gaussian noise, every constant exact.

    Attributes:
        spectrum: Eigenvalues of the Hessian.
        noise_variance: E||G - grad f||^2.
        start: First model.
    """

    kind: Literal["quadratic"]
    spectrum: Annotated[list[NotNegative], Field(min_length=1)]
    noise_variance: NotNegative
    start: Vector


class GemanMcClureTable(Table):
    """A smooth loss that is not convex, sum_i x_i^2 / (1 + x_i^2), every constant known.

    Attributes:
        noise_variance: E||G - grad f||^2.
        start: First model.
    """

    kind: Literal["geman_mcclure"]
    noise_variance: NotNegative
    start: Vector


TABLES: dict[str, type[Table]] = {
    "logistic_regression": LogisticRegressionTable,
    "least_squares": LeastSquaresTable,
    "multilayer_perceptron": MultilayerPerceptronTable,
    "quadratic": QuadraticTable,
    "geman_mcclure": GemanMcClureTable,
}


def problem_schema() -> dict[str, Any]:
    """JSON schema of a problem."""
    return {"anyOf": [table.model_json_schema() for table in TABLES.values()]}

"""The layout of a study file, as a schema that editors can use too.

Parts that name a class of the package (protocols, rules, codecs, delay laws) are tables with a
field `kind`; their fields are those of the class and are checked when they are built.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Part = dict[str, Any] | str
Whole = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(gt=0, lt=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ProblemTable(_Table):
    """What is minimised.

    Attributes:
        kind: "logistic_regression" on real data, or "quadratic".
        data: "breast_cancer" or "digits"; logistic regression only.
        unit_length: Whether every sample is scaled to length 1; logistic regression only.
        batch: Samples a gradient; logistic regression only.
        ridge: Weight of the ridge term, the strong convexity; logistic regression only.
        spectrum: Eigenvalues of the Hessian; quadratic only.
        noise_variance: E||G - grad f||^2; quadratic only.
        start: First model; quadratic only.
    """

    kind: Literal["logistic_regression", "quadratic"]
    data: Literal["breast_cancer", "digits"] | None = None
    unit_length: bool = True
    batch: Whole | None = None
    ridge: Annotated[float, Field(gt=0)] | None = None
    spectrum: list[float] | None = None
    noise_variance: Annotated[float, Field(ge=0)] | None = None
    start: list[float] | None = None


class WorkerTable(_Table):
    """Workers that are alike.

    Attributes:
        count: How many.
        compute: Law of the seconds of one gradient.
        slowdown: How many times longer each of them takes.
        link: To the server and back: the name of a link, or a link.
        uplink: To the server, where it differs from `link`.
        downlink: From the server, where it differs from `link`.
    """

    count: Whole
    compute: Part
    slowdown: Annotated[float, Field(gt=0)] = 1.0
    link: Part | None = None
    uplink: Part | None = None
    downlink: Part | None = None


class ClusterTable(_Table):
    """The machines.

    Attributes:
        workers: Groups of workers.
        fabric: Link between any two workers: the name of a link, or a link.
    """

    workers: Annotated[list[WorkerTable], Field(min_length=1)]
    fabric: Part


class ContenderTable(_Table):
    """One algorithm.

    Attributes:
        name: What reports call it.
        protocol: Who meets whom, when.
        rule: What a step does; its step size is chosen.
        codec: What a vector becomes on the wire.
        gradients: Length of a run.
        loss_every: Changes of the model from one look at the loss to the next.
    """

    name: Annotated[str, Field(min_length=1)]
    protocol: Part
    rule: Part = "sgd"
    codec: Part = "identity"
    gradients: Whole
    loss_every: Whole = 1


class SeedRange(_Table):
    """Consecutive seeds.

    Attributes:
        first: The first one.
        count: How many.
    """

    first: Seed
    count: Whole


class SeedsTable(_Table):
    """Every seed of the study.

    Attributes:
        timing: Of the schedules of the comparison.
        tuning: Of the schedules on which step sizes are chosen.
        replicates: Sample seeds of each schedule.
    """

    timing: SeedRange
    tuning: SeedRange
    replicates: Whole


class ComparisonTable(_Table):
    """What is compared.

    Attributes:
        target_share: Loss to be reached, as a share of the way that is left.
        step_sizes_times_smoothness: Candidate step sizes, in units of 1 / L.
        confidence: Of every interval.
    """

    target_share: Share
    step_sizes_times_smoothness: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]
    confidence: Share = 0.95


class CertificateTable(_Table):
    """How the first contender is judged; left out, nothing is judged.

    Attributes:
        gradients: Length of the measured run.
        replicates: Independent replicates.
        timing_seed: Of its schedule.
        radius: Of the ball on which the constants hold, times the distance of the start.
        error_rate: Probability of calling some true bound violated.
    """

    gradients: Annotated[int, Field(ge=1, le=1000)]
    replicates: Annotated[int, Field(ge=2)]
    timing_seed: Seed = 0
    radius: Annotated[float, Field(gt=1)] = 1.25
    error_rate: Share = 0.01


class PayloadTable(_Table):
    """Bytes that travel; they matter where a link has a finite bandwidth.

    Attributes:
        model_bytes: Of the model.
        update_bytes: Of one update.
    """

    model_bytes: Annotated[float, Field(ge=0)]
    update_bytes: Annotated[float, Field(ge=0)]


class SweepTable(_Table):
    """One axis of a sweep; the study is run at every combination of the values of all axes.

    Attributes:
        field: Path of a field of this file, as in cluster.workers[0].slowdown.
        values: What to put there.
    """

    field: Annotated[str, Field(min_length=1)]
    values: Annotated[list[Any], Field(min_length=1)]


class StudyTable(_Table):
    """A study file.

    Attributes:
        format: Version of the layout.
        name: Of the study.
        problem: What is minimised.
        links: Links by name.
        cluster: The machines.
        contenders: The algorithms; the last one is the baseline.
        comparison: What is compared.
        seeds: Every seed.
        certificate: How the first contender is judged.
        payload: Bytes that travel.
        sweep: Axes along which the study is repeated.
    """

    format: Literal[1]
    name: Annotated[str, Field(min_length=1)]
    problem: ProblemTable
    links: dict[str, dict[str, Any]] = {}
    cluster: ClusterTable
    contenders: Annotated[list[ContenderTable], Field(min_length=1)]
    comparison: ComparisonTable
    seeds: SeedsTable
    certificate: CertificateTable | None = None
    payload: PayloadTable | None = None
    sweep: list[SweepTable] = []

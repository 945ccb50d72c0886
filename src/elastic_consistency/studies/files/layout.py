"""The layout of a study file, as a schema that editors can use too.

Parts that name a class of the package (protocols, rules, codecs, delay laws, faults) are tables
with a field `kind`; their fields are those of the class and are checked when they are built.
"""

from math import inf
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from elastic_consistency.studies.files.problem_tables import (
    Count,
    NotNegative,
    Positive,
    Table,
    Whole,
)

MOST_WORKERS = 10**6
Part = dict[str, Any] | str
Bandwidth = Annotated[float, Field(gt=0)]
Seed = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(gt=0, lt=1)]
Name = Annotated[str, Field(min_length=1, pattern=r"^[^\x00-\x1f\x7f]*$")]


def _a_number(value: Any) -> Any:
    """Refuse true and 1.0, which equal 1 in Python."""
    if type(value) is not int:
        raise PydanticCustomError("not_the_version", "1")
    return value


class WorkerTable(Table):
    """Workers that are alike.

    Attributes:
        count: How many.
        compute: Law of the seconds of one gradient.
        slowdown: How many times longer each of them takes.
        link: To the server and back: the name of a link, or a link.
        uplink: To the server, where it differs from `link`.
        downlink: From the server, where it differs from `link`.
        clock: Offset and drift of what it would write into its own log.
    """

    count: Annotated[int, Field(ge=1, le=MOST_WORKERS)]
    compute: Part
    slowdown: Positive = 1.0
    link: Part | None = None
    uplink: Part | None = None
    downlink: Part | None = None
    clock: dict[str, Any] | None = None


class ClusterTable(Table):
    """The machines.

    Attributes:
        workers: Groups of workers.
        fabric: Link between any two workers: the name of a link, or a link.
        exceptions: Links between two workers that are not like `fabric`.
        server_bandwidth_bytes_per_s: What all transfers from the server share, and all to it.
        fabric_bandwidth_bytes_per_s: What all transfers between workers share.
        shared_hosts: Machines whose workers slow each other down.
        faults: What goes wrong: crashes, late starts, partitions, lost acknowledgements.
    """

    workers: Annotated[list[WorkerTable], Field(min_length=1)]
    fabric: Part
    exceptions: list[dict[str, Any]] = Field(default_factory=list)
    server_bandwidth_bytes_per_s: Bandwidth = inf
    fabric_bandwidth_bytes_per_s: Bandwidth = inf
    shared_hosts: list[dict[str, Any]] = Field(default_factory=list)
    faults: dict[str, Any] = Field(default_factory=dict)


class ContenderTable(Table):
    """One algorithm.

    Attributes:
        name: What reports call it.
        protocol: Who meets whom, when.
        rule: What a step does; its step size is chosen.
        codec: What a vector becomes on the wire.
        gradients: Length of a run.
        loss_every: Changes of the model from one look at the loss to the next.
    """

    name: Name
    protocol: Part
    rule: Part = "sgd"
    codec: Part = "identity"
    gradients: Whole
    loss_every: Whole = 1


class SeedRange(Table):
    """Consecutive seeds.

    Attributes:
        first: The first one.
        count: How many.
    """

    first: Seed
    count: Count


class SeedsTable(Table):
    """Every seed of the study.

    Attributes:
        timing: Of the schedules of the comparison.
        tuning: Of the schedules on which step sizes are chosen.
        replicates: Sample seeds of each schedule.
    """

    timing: SeedRange
    tuning: SeedRange
    replicates: Count


class ComparisonTable(Table):
    """What is compared.

    Attributes:
        target_share: Loss to be reached, as a share of the way that is left.
        step_sizes_times_smoothness: Candidate step sizes, in units of 1 / L.
        confidence: Of every interval.
    """

    target_share: Share
    step_sizes_times_smoothness: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]
    confidence: Share = 0.95


class CertificateTable(Table):
    """How the first contender is judged; left out, nothing is judged.

    Attributes:
        gradients: Length of the measured run.
        replicates: Independent replicates.
        timing_seed: Of its schedule.
        radius: Of the ball on which the constants hold, times the distance of the start.
        error_rate: Probability of calling some true bound violated.
        bounds: Names of the bounds to check, as in `elastic bounds list`; all that apply if left
            out.
    """

    gradients: Annotated[int, Field(ge=1, le=1000)]
    replicates: Annotated[int, Field(ge=2, le=10**6)]
    timing_seed: Seed = 0
    radius: Annotated[float, Field(gt=1, allow_inf_nan=False)] = 1.25
    error_rate: Share = 0.01
    bounds: list[str] = Field(default_factory=list)


class PayloadTable(Table):
    """Bytes that travel; they matter where a link has a finite bandwidth.

    Attributes:
        model_bytes: Of the model.
        update_bytes: Of one update.
        codec_operations_per_s: Elementary operations of a codec that a worker does in a second.
    """

    model_bytes: NotNegative
    update_bytes: NotNegative
    codec_operations_per_s: Positive = 1e9


class SweepTable(Table):
    """One axis of a sweep; the study is run at every combination of the values of all axes.

    Attributes:
        field: Path of a field of this file, as in cluster.workers[0].slowdown.
        values: What to put there.
    """

    field: Annotated[str, Field(min_length=1)]
    values: Annotated[list[Any], Field(min_length=1)]


class StudyTable(Table):
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

    format: Annotated[Literal[1], BeforeValidator(_a_number)]
    name: Name
    problem: dict[str, Any]
    links: dict[str, dict[str, Any]] = Field(default_factory=dict)
    cluster: ClusterTable
    contenders: Annotated[list[ContenderTable], Field(min_length=1)]
    comparison: ComparisonTable
    seeds: SeedsTable
    certificate: CertificateTable | None = None
    payload: PayloadTable = PayloadTable(model_bytes=0.0, update_bytes=0.0)
    sweep: list[SweepTable] = Field(default_factory=list)

"""A study from a file."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from elastic_consistency._checks import nearest
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.simulator import (
    Clock,
    Cluster,
    FaultScript,
    Link,
    Payload,
    PeerLink,
    SharedHost,
    Worker,
)
from elastic_consistency.simulator.protocols import AbstractProtocol
from elastic_consistency.studies.files.building import build, build_kind
from elastic_consistency.studies.files.errors import (
    FieldError,
    StudyFileError,
    unknown_value,
)
from elastic_consistency.studies.files.kinds import file_fields, kinds
from elastic_consistency.studies.files.layout import (
    MOST_WORKERS,
    ContenderTable,
    SeedRange,
    StudyTable,
    WorkerTable,
)
from elastic_consistency.studies.files.problem_tables import TABLES
from elastic_consistency.studies.files.problems import problem_of
from elastic_consistency.studies.files.reading import read_file
from elastic_consistency.studies.files.schema_errors import first_problem
from elastic_consistency.studies.study import Certificate, Contender, Seeds, Study

if TYPE_CHECKING:
    from elastic_consistency.bounds import Bound

_Modules = tuple[str, ...]


def load_study(path: Path, *, modules: _Modules = ()) -> Study:
    """The study that a TOML or YAML file describes.

    Args:
        path: The file.
        modules: Further modules whose classes the file may name; they are imported, so name
            only what you trust.

    Raises:
        FileNotFoundError: If there is no such file.
        StudyFileError: If the file cannot be used; the message names the file, the field, what
            is allowed and what was given.
    """
    return study_of(read_file(path), path, modules=modules)


def study_of(content: dict[str, Any], path: Path, *, modules: _Modules = ()) -> Study:
    """The study that the plain values of a file describe; see `load_study`.

    Args:
        content: The values.
        path: Where they come from, for errors.
        modules: Further modules whose classes may be named.
    """
    try:
        return _study(StudyTable.model_validate(content), modules)
    except ValidationError as error:
        raise first_problem(error, StudyTable).in_file(path) from error
    except FieldError as error:
        raise error.in_file(path) from error
    except ValueError as error:
        raise StudyFileError(f"{path}: {error}") from error


def _study(table: StudyTable, modules: _Modules) -> Study:
    links = {
        name: build(Link, value, f"links.{name}", modules=modules)
        for name, value in table.links.items()
    }
    cluster = _cluster(table, links, modules)
    oracle, data = _problem(table, len(cluster.workers), modules)
    payload, certificate, own_bounds = table.payload, table.certificate, _own_bounds(modules)
    return Study(
        name=table.name,
        cluster=cluster,
        oracle=oracle,
        contenders=tuple(_contender(*pair, modules) for pair in enumerate(table.contenders)),
        data=data,
        target=table.comparison.target_share,
        step_shares=tuple(table.comparison.step_sizes_times_smoothness),
        seeds=Seeds(_seeds(table.seeds.timing), _seeds(table.seeds.tuning), table.seeds.replicates),
        certificate=None
        if certificate is None
        else Certificate(
            jobs=certificate.gradients,
            replicates=certificate.replicates,
            timing_seed=certificate.timing_seed,
            radius=certificate.radius,
            error_rate=certificate.error_rate,
            bounds=_bounds(certificate.bounds, own_bounds),
            own_bounds=own_bounds,
        ),
        confidence=table.comparison.confidence,
        payload=Payload(payload.model_bytes, payload.update_bytes),
        operations_per_s=payload.codec_operations_per_s,
    )


def _problem(table: StudyTable, n_workers: int, modules: _Modules) -> tuple[AbstractOracle, str]:
    try:
        return problem_of(table.problem, n_workers, modules)
    except ValidationError as error:
        raise first_problem(error, TABLES[table.problem["kind"]], "problem") from error


def _own_bounds(modules: _Modules) -> tuple["Bound", ...]:
    """Every bound that one of the modules names."""
    if not modules:
        return ()
    from elastic_consistency.bounds import Bound, list_bounds  # loads sympy

    named = [value for module in modules for value in vars(import_module(module)).values()]
    found = {id(value): value for value in named if isinstance(value, Bound)}
    return tuple(bound for bound in found.values() if bound not in list_bounds())


def _bounds(names: list[str], own: tuple["Bound", ...]) -> tuple[str, ...]:
    if names:
        from elastic_consistency.bounds import list_bounds  # loads sympy

        known = [bound.name for bound in (*list_bounds(), *own)]
        for k, name in enumerate(names):
            if name not in known:
                raise unknown_value(f"certificate.bounds[{k}]", name, known)
    return tuple(names)


def _seeds(given: SeedRange) -> tuple[int, ...]:
    return tuple(range(given.first, given.first + given.count))


def _cluster(table: StudyTable, links: Mapping[str, Link], modules: _Modules) -> Cluster:
    total = sum(group.count for group in table.cluster.workers)
    if total > MOST_WORKERS:
        problem = f"must be {MOST_WORKERS} workers or fewer together, got {total}."
        raise FieldError("cluster.workers", problem)
    workers: list[Worker] = []
    for k, group in enumerate(table.cluster.workers):
        where = f"cluster.workers[{k}]"
        workers += [_worker(group, where, links, modules)] * group.count
    given = table.cluster
    try:
        return Cluster(
            tuple(workers),
            fabric=_link(given.fabric, "cluster.fabric", links, modules),
            exceptions=_exceptions(table, modules),
            server_bandwidth_bytes_per_s=given.server_bandwidth_bytes_per_s,
            shared_hosts=build(
                tuple[SharedHost, ...], given.shared_hosts, "cluster.shared_hosts", modules=modules
            ),
            faults=build(FaultScript, given.faults, "cluster.faults", modules=modules),
            fabric_bandwidth_bytes_per_s=given.fabric_bandwidth_bytes_per_s,
        )
    except FieldError:
        raise
    except ValueError as error:
        raise FieldError("cluster", f"is refused: {error}") from error


def _exceptions(table: StudyTable, modules: _Modules) -> tuple[PeerLink, ...]:
    """Links between two workers; a link may be given by its name."""

    def spelled_out(entry: dict[str, Any]) -> dict[str, Any]:
        name = entry.get("link")
        return entry | {"link": table.links[name]} if name in table.links else entry

    entries = [spelled_out(entry) for entry in table.cluster.exceptions]
    return build(tuple[PeerLink, ...], entries, "cluster.exceptions", modules=modules)


def _worker(group: WorkerTable, where: str, links: Mapping[str, Link], modules: _Modules) -> Worker:
    def way(name: str) -> Link:
        own = getattr(group, name)
        given = group.link if own is None else own
        if given is None:
            raise FieldError(f"{where}.{name}", "must be given, or link for both ways.")
        return _link(given, f"{where}.{name if own is not None else 'link'}", links, modules)

    return Worker(
        compute=build(Worker.__annotations__["compute"], group.compute, f"{where}.compute",
                      modules=modules),
        slowdown=group.slowdown,
        uplink=way("uplink"),
        downlink=way("downlink"),
        clock=build(Clock, group.clock or {}, f"{where}.clock", modules=modules)
        if group.clock is not None
        else Clock(),
    )  # fmt: skip


def _link(given: Any, where: str, links: Mapping[str, Link], modules: _Modules) -> Link:
    if not isinstance(given, str):
        return build(Link, given, where, modules=modules)
    if given not in links:
        listed = ", ".join(sorted(links)) or "none"
        hint = nearest(given, links)
        raise FieldError(
            where, f"must be a link or the name of one ({listed}), got {given!r}{hint}."
        )
    return links[given]


def _contender(position: int, table: ContenderTable, modules: _Modules) -> Contender:
    where = f"contenders[{position}]"
    return Contender(
        name=table.name,
        protocol=build(AbstractProtocol, table.protocol, f"{where}.protocol", modules=modules),
        jobs=table.gradients,
        rule=_rule(table.rule, f"{where}.rule", modules),
        codec=build(AbstractCodec, table.codec, f"{where}.codec", modules=modules),
        loss_every=table.loss_every,
    )


def _rule(given: Any, where: str, modules: _Modules) -> AbstractRule:
    content = {"kind": given} if isinstance(given, str) else dict(given)
    if "step_size" in content:
        place = "comparison.step_sizes_times_smoothness"
        raise FieldError(f"{where}.step_size", f"must not be given: it is chosen from {place}.")
    choices = {
        name: cls
        for name, cls in kinds(AbstractRule, modules).items()
        if "step_size" in file_fields(cls)
    }
    return build_kind(choices, content | {"step_size": 1.0}, where, modules)

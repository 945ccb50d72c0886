"""A study from a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle, Quadratic
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.simulator import Cluster, Link, Payload, Worker
from elastic_consistency.simulator.protocols import AbstractProtocol
from elastic_consistency.studies.demo import demo_problem, read_data
from elastic_consistency.studies.files.building import build, build_kind
from elastic_consistency.studies.files.errors import FieldError, StudyFileError, nearest
from elastic_consistency.studies.files.kinds import file_fields, kinds
from elastic_consistency.studies.files.layout import (
    ContenderTable,
    ProblemTable,
    SeedRange,
    StudyTable,
    WorkerTable,
)
from elastic_consistency.studies.files.reading import read_file
from elastic_consistency.studies.study import Certificate, Contender, Seeds, Study

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
        raise _first_problem(error).in_file(path) from error
    except FieldError as error:
        raise error.in_file(path) from error
    except ValueError as error:
        raise StudyFileError(f"{path}: {error}") from error


def _study(table: StudyTable, modules: _Modules) -> Study:
    links = {
        name: build(Link, value, f"links.{name}", modules=modules)
        for name, value in table.links.items()
    }
    oracle, data = _problem(table.problem)
    payload, certificate = table.payload, table.certificate
    return Study(
        name=table.name,
        cluster=_cluster(table, links, modules),
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
        ),
        confidence=table.comparison.confidence,
        payload=Payload()
        if payload is None
        else Payload(payload.model_bytes, payload.update_bytes),
    )


def _seeds(given: SeedRange) -> tuple[int, ...]:
    return tuple(range(given.first, given.first + given.count))


def _cluster(table: StudyTable, links: Mapping[str, Link], modules: _Modules) -> Cluster:
    workers: list[Worker] = []
    for k, group in enumerate(table.cluster.workers):
        where = f"cluster.workers[{k}]"
        workers += [_worker(group, where, links, modules)] * group.count
    fabric = _link(table.cluster.fabric, "cluster.fabric", links, modules)
    return Cluster(tuple(workers), fabric=fabric)


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


def _problem(table: ProblemTable) -> tuple[AbstractOracle, str]:
    wanted = {
        "logistic_regression": ("data", "batch", "ridge"),
        "quadratic": ("spectrum", "noise_variance", "start"),
    }
    for kind, names in wanted.items():
        for name in names:
            missing = getattr(table, name) is None
            if kind == table.kind and missing:
                raise FieldError(f"problem.{name}", f"must be given for {table.kind}.")
            if kind != table.kind and not missing:
                raise FieldError(f"problem.{name}", f"must not be given for {table.kind}.")
    return _logistic(table) if table.kind == "logistic_regression" else _quadratic(table)


def _logistic(table: ProblemTable) -> tuple[AbstractOracle, str]:
    assert table.data is not None
    assert table.batch is not None
    assert table.ridge is not None
    data = read_data(table.data)
    problem = demo_problem(
        data, batch=table.batch, ridge=table.ridge, unit_length=table.unit_length
    )
    return problem, data.name


def _quadratic(table: ProblemTable) -> tuple[AbstractOracle, str]:
    assert table.noise_variance is not None
    spectrum, start = np.array(table.spectrum), np.array(table.start)
    try:
        return Quadratic(spectrum, variance=table.noise_variance, initial=start), "quadratic"
    except ValueError as error:
        raise FieldError("problem", f"is refused: {error}") from error


def _first_problem(error: ValidationError) -> FieldError:
    """The first complaint of the schema, in our words; a misspelt field explains a missing one."""
    every = error.errors(include_url=False)
    first = next((e for e in every if e["type"] == "extra_forbidden"), every[0])
    where, given = _where(first["loc"]), first.get("input")
    if first["type"] == "extra_forbidden":
        name = str(first["loc"][-1])
        hint = nearest(name, _fields_beside(first["loc"]))
        return FieldError(where, f"is no field{hint}.")
    if first["type"] == "missing":
        return FieldError(where, "must be given; it has no default.")
    message = first["msg"].removeprefix("Input should be ")
    return FieldError(where, f"must be {message}, got {given!r}.")


def _fields_beside(location: tuple[Any, ...]) -> list[str]:
    """Names of the fields of the table in which a field stands."""
    model: Any = StudyTable
    for part in location[:-1]:
        if isinstance(part, str) and part in model.model_fields:
            model = _table_of(model.model_fields[part].annotation)
    return list(model.model_fields)


def _table_of(annotation: Any) -> Any:
    from typing import get_args

    for part in get_args(annotation):
        found = _table_of(part)
        if found is not StudyTable:
            return found
    is_table = isinstance(annotation, type) and issubclass(annotation, StudyTable.__mro__[1])
    return annotation if is_table else StudyTable


def _where(location: tuple[Any, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text

"""A study file for the cluster that was measured."""

from math import inf
from typing import Any

import numpy as np

from elastic_consistency.simulator.delays import Empirical
from elastic_consistency.studies.files.kinds import file_fields, kind_name
from elastic_consistency.studies.files.preset import Preset
from elastic_consistency.studies.files.presets import study_text
from elastic_consistency.studies.traces.records import StepTimes

_STEADY = 'jitter = { kind = "constant", seconds = 0.0 }'


def fitted_study(
    times: StepTimes,
    laws: tuple[Any, ...],
    *,
    latencies_s: tuple[float, ...],
    between_s: float,
    bandwidth_bytes_per_s: float,
    bytes_sent: float,
    workers: int | None = None,
    server_bandwidth_bytes_per_s: float = inf,
) -> str:
    """A commented study file whose workers have the fitted laws.

    Args:
        times: What was measured.
        laws: One law a worker of `times`.
        latencies_s: Of the links to the server, s, repeated in turn.
        between_s: Of the links between workers, s.
        bandwidth_bytes_per_s: Of every link.
        bytes_sent: Bytes of the model and of an update.
        workers: Number of workers; measured ones are repeated in turn. All of them by default.
        server_bandwidth_bytes_per_s: What all links to the server share.
    """
    count = len(laws) if workers is None else workers
    rate = f"bandwidth_bytes_per_s = {_number(bandwidth_bytes_per_s)}"
    kinds = [(k % len(laws), k % len(latencies_s)) for k in range(count)]
    groups = [
        f"[[cluster.workers]] # worker {times.workers[law]} of the trace\n"
        f"count = {kinds.count((law, way))}\n"
        f"compute = {law_text(laws[law])}\n"
        f"link = {{ latency_s = {latencies_s[way]!r}, {_STEADY}, {rate} }}\n"
        for law, way in dict.fromkeys(kinds)
    ]
    between = f"{{ latency_s = {between_s!r}, {_STEADY}, {rate} }}"
    shared = f"server_bandwidth_bytes_per_s = {_number(server_bandwidth_bytes_per_s)}"
    links = f"[cluster]\nfabric = {between}\n{shared}\n\n" + "\n".join(groups)
    payload = f"[payload]\nmodel_bytes = {bytes_sent!r}\nupdate_bytes = {bytes_sent!r}\n"
    about = f"fitted to {times.source}: {sum(map(len, times.seconds))} steps"
    gradients = 1000 * max(1, count // 8)
    return study_text(Preset("fitted", about, links, gradients, payload))


def law_text(law: Any) -> str:
    """A law as an inline table of TOML."""
    fields = [
        f"{name} = {_value(getattr(law, field.name))}"
        for name, field in file_fields(type(law)).items()
    ]
    return "{ " + ", ".join([f'kind = "{kind_name(type(law))}"', *fields]) + " }"


def law_words(law: Any) -> str:
    """A law in a few words, as in gamma(shape 473, scale_s 0.001)."""
    if isinstance(law, Empirical):
        return f"empirical({len(law.seconds)} values)"
    fields = [
        f"{name} {getattr(law, field.name):.3g}" for name, field in file_fields(type(law)).items()
    ]
    return f"{kind_name(type(law))}({', '.join(fields)})"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_number(entry) for entry in value) + "]"
    return _number(value)


def _number(value: float) -> str:
    return "inf" if np.isinf(value) else repr(float(value))

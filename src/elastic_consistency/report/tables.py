"""The numbers of a report as tables of their own, in full, for further work."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from elastic_consistency._whole_files import whole_file
from elastic_consistency.studies.comparison.contenders import ContenderResult
from elastic_consistency.studies.comparison.curves import Band
from elastic_consistency.studies.comparison.divergence import Divergence
from elastic_consistency.studies.judging.certification import Certification
from elastic_consistency.studies.on_disk.records import plain
from elastic_consistency.studies.outcome import StudyOutcome
from elastic_consistency.validation import Estimate, Verdict

Rows = list[dict[str, Any]]


def save_tables(outcome: StudyOutcome, folder: Path) -> tuple[str, ...]:
    """Write every table that has rows as parquet into `folder`; return their names."""
    import pyarrow as pa
    from pyarrow import parquet

    tables = {name: rows for name, rows in report_tables(outcome).items() if rows}
    for name, rows in tables.items():
        with whole_file(folder / f"{name}.parquet") as beside:
            parquet.write_table(pa.Table.from_pylist(rows), beside)
    return tuple(tables)


def report_tables(outcome: StudyOutcome) -> dict[str, Rows]:
    """Rows of every table, by its name; units stand in the names of the columns."""
    results = outcome.contenders
    certification = outcome.certification
    return {
        "contenders": [_contender(result) for result in results],
        "times_to_target": list(_times(results)),
        "step_sizes_tried": _named(results, lambda r: map(plain, r.candidates)),
        "loss_over_time": _named(results, lambda r: _band(r.over_time, "time_s")),
        "loss_over_gradients": _named(results, lambda r: _band(r.over_gradients, "gradients")),
        "divergences": _named(results, lambda r: map(_divergence, r.divergences)),
        "losses_until_divergence": _named(results, _losses_until_divergence),
        "staleness": _named(results, _staleness),
        "workers": _named(results, lambda r: map(plain, r.summary.workers)),
        "savings": [
            {"contender": each.contender} | _estimate("share", each.share)
            for each in outcome.savings
        ],
        "causes_of_waiting": [
            {"cause": each.cause}
            | _estimate("seconds", each.seconds)
            | _estimate("gain", each.gain)
            | {"gap_of_first_over_m": each.gap}
            for each in outcome.causes
        ],
        "verdicts": [] if certification is None else list(map(_verdict, certification.verdicts)),
        "bounds_by_term": [] if certification is None else list(_terms(certification)),
        "gaps": [] if certification is None else list(_gaps(certification)),
        "replays": [dict(_mapping(each)) for each in outcome.parity],
    }


def _contender(result: ContenderResult) -> dict[str, Any]:
    return {
        "contender": result.name,
        "algorithm": result.algorithm,
        "step_size": result.step_size,
        "runs": result.runs,
        "reached": result.reached,
        "diverged_schedules": len(result.divergences),
        "p99_staleness": result.staleness.p99,
        "largest_staleness": result.staleness.largest,
    } | _estimate("time_to_target_s", result.time_s)


def _times(results: tuple[ContenderResult, ...]) -> Iterable[dict[str, Any]]:
    for result in results:
        for schedule, times in enumerate(result.times_s.tolist()):
            for replicate, seconds in enumerate(times):
                place = {"schedule": schedule, "replicate": replicate}
                yield {"contender": result.name} | place | {"seconds": seconds}


def _band(band: Band, axis: str) -> Iterable[dict[str, Any]]:
    columns = (band.x, band.mean, band.lower, band.upper)
    names = (axis, "mean", "percentile_5", "percentile_95")
    for values in zip(*(column.tolist() for column in columns), strict=True):
        yield dict(zip(names, values, strict=True))


def _divergence(found: Divergence) -> dict[str, Any]:
    place = {"timing_seed": found.timing_seed, **_mapping(found.place)}
    return place | {"looks": len(found.time_s), "sentence": found.place.sentence}


def _losses_until_divergence(result: ContenderResult) -> Iterable[dict[str, Any]]:
    for found in result.divergences:
        looks = zip(found.time_s.tolist(), found.gradients.tolist(), found.loss, strict=True)
        for time, gradients, losses in looks:
            when = {"timing_seed": found.timing_seed, "time_s": time, "gradients": gradients}
            for replicate, loss in enumerate(losses.tolist()):
                yield when | {"replicate": replicate, "loss": loss, "diverged": True}


def _staleness(result: ContenderResult) -> Iterable[dict[str, Any]]:
    edges = result.staleness.edges.tolist()
    for worker, counts in enumerate(result.staleness.counts.tolist()):
        for k, count in enumerate(counts):
            least, most = edges[k], edges[k + 1] - 1
            yield {"worker": worker, "least": least, "most": most, "updates": count}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "bound": verdict.bound,
        "quantity": verdict.quantity.value,
        "sequence": verdict.sequence.value,
        "outcome": verdict.outcome.value,
        "bound_value": verdict.bound_value,
        "slack": None
        if verdict.bound_value is None
        else verdict.bound_value - verdict.estimate.value,
        "error_rate": verdict.error_rate,
        "sentence": verdict.sentence,
    } | _estimate("measured", verdict.estimate)


def _terms(certification: Certification) -> Iterable[dict[str, Any]]:
    for verdict in certification.verdicts:
        for term in verdict.terms:
            place = {"bound": verdict.bound, "term": term.expression, "pays_for": term.effect.value}
            yield place | {"value": term.value, "share_of_the_bound": term.share}


def _gaps(certification: Certification) -> Iterable[dict[str, Any]]:
    diverged = certification.diverged is not None
    for gap in certification.gaps:
        for time, rms in zip(gap.time_s.tolist(), gap.rms.tolist(), strict=True):
            place = {"sequence": gap.sequence, "time_s": time}
            yield place | {
                "rms_gap_over_step_size": rms,
                "bound": gap.bound,
                "diverged": diverged,
            }


def _named(results: tuple[ContenderResult, ...], rows: Any) -> Rows:
    return [{"contender": r.name} | dict(row) for r in results for row in rows(r)]


def _estimate(name: str, estimate: Estimate | None) -> dict[str, Any]:
    ends = (None,) * 3 if estimate is None else (estimate.value, estimate.lower, estimate.upper)
    return dict(zip((name, f"{name}_lower", f"{name}_upper"), ends, strict=True))


def _mapping(record: Any) -> Mapping[str, Any]:
    made = plain(record)
    assert isinstance(made, dict), "a dataclass becomes a table of fields"
    return made

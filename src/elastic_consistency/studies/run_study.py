"""Running a study from its description to its files."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from elastic_consistency.schedule import Schedule
from elastic_consistency.schedule.timeline import save_timeline
from elastic_consistency.studies.comparison.contenders import ContenderResult, compare
from elastic_consistency.studies.comparison.runs import schedule_of, with_step_size
from elastic_consistency.studies.comparison.savings import savings
from elastic_consistency.studies.comparison.what_if import what_if
from elastic_consistency.studies.judging.certification import Certification, certify, obstacle
from elastic_consistency.studies.on_disk.manifest import file_digest, manifest
from elastic_consistency.studies.on_disk.records import plain
from elastic_consistency.studies.on_disk.restoring import restored
from elastic_consistency.studies.on_disk.whole_files import write_json
from elastic_consistency.studies.outcome import StudyOutcome
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.real_processes.parity_check import (
    ParityCheck,
    ReplaySettings,
    check_parity,
    has_torch,
    not_replayed,
)
from elastic_consistency.studies.study import Study

Compared = tuple[tuple[ContenderResult, Schedule], ...]


@threadpool_limits.wrap(limits=1, user_api="blas")
def run_study(
    study: Study, output: Path, *, ranks: int = 2, progress: Progress | None = None
) -> StudyOutcome:
    """Run `study`, write its schedules and traces into `output`, and return what came out.

    Args:
        study: What to run.
        output: Folder for the files; it is made if it is missing.
        ranks: Processes of the replay; 0 leaves it out.
        progress: Who wants to know how far it is.
    """
    progress = progress or Progress()
    output.mkdir(parents=True, exist_ok=True)
    compared = compare(study, progress.part(0.0, 0.6))
    files = _save_schedules(compared, output)
    certification, uncertified = _certify(study, compared[0][0], progress.part(0.6, 0.82))
    progress.say("looking for causes of waiting", 0.82)
    causes = what_if(study, study.contenders[-1])
    progress.say("replaying on real processes", 0.86)
    parity = _replays(study, compared, output, ranks) if ranks else ()
    results = tuple(result for result, _ in compared)
    return StudyOutcome(
        name=study.name,
        data=study.data,
        target_loss=study.target_loss(),
        infimum=study.infimum(),
        start_loss=study.start_loss(),
        target=study.target,
        confidence=study.confidence,
        contenders=results,
        savings=savings(study, results),
        certification=certification,
        uncertified=uncertified,
        causes=causes,
        parity=parity,
        manifest=manifest(study, {result.name: result.digests for result in results}),
        files=files,
    )


def save_outcome(outcome: StudyOutcome, output: Path) -> StudyOutcome:
    """Write result.json and manifest.json with the digests of all files; return the outcome."""
    write_json(output / "result.json", outcome)
    files = outcome.files | {"result": "result.json"}
    digests = {name: file_digest(output / name) for name in files.values()}
    write_json(output / "manifest.json", outcome.manifest | {"files_sha256": digests})
    return replace(outcome, files=files | {"manifest": "manifest.json"})


def load_outcome(path: Path) -> StudyOutcome:
    """The outcome that `save_outcome` wrote as result.json.

    Raises:
        ValueError: If the file holds something else.
    """
    try:
        return restored(StudyOutcome, json.loads(path.read_bytes()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path}: must be a result.json of elastic run or demo: {error}"
        ) from error


def _save_schedules(compared: Compared, output: Path) -> dict[str, str]:
    files = {}
    for result, schedule in compared:
        stem = f"{_slug(result.name)}-{schedule.metadata.seed}"
        schedule.save(output / f"{stem}.parquet")
        save_timeline(schedule, output / f"{stem}.pftrace")
        files[f"schedule of {result.name}"] = f"{stem}.parquet"
        files[f"timeline of {result.name}"] = f"{stem}.pftrace"
    return files


def _certify(
    study: Study, result: ContenderResult, progress: Progress
) -> tuple[Certification | None, str]:
    """The certificate of the first contender, or why there is none."""
    contender = study.contenders[0]
    if study.certificate is None:
        return None, "the study asks for no certificate"
    shorter = replace(contender, jobs=study.certificate.jobs)
    schedule = schedule_of(study, shorter, study.certificate.timing_seed, result.step_size)
    reason = obstacle(study, contender, schedule)
    if reason:
        return None, reason
    return certify(study, contender, schedule, result.step_size, progress), ""


def _replays(study: Study, compared: Compared, output: Path, ranks: int) -> tuple[ParityCheck, ...]:
    def check(contender: Any, result: ContenderResult, schedule: Schedule) -> ParityCheck:
        path = output / f"{_slug(result.name)}-{schedule.metadata.seed}.parquet"
        rule, settings = with_step_size(contender.rule, result.step_size), ReplaySettings(ranks)
        given = (study.oracle, rule, contender.codec, settings)

        def replayed() -> dict[str, np.ndarray]:
            done = check_parity(path, study.oracle, rule, codec=contender.codec, settings=settings)
            return {"check": np.array(json.dumps(plain(done)))}

        if result.divergences:
            return not_replayed(path, schedule, settings, "the run diverged")
        found = study.finished.arrays((schedule.digest(), has_torch(), *given), replayed)
        return restored(ParityCheck, json.loads(str(found["check"])))

    pairs = zip(study.contenders, compared, strict=True)
    return tuple(check(contender, *pair) for contender, pair in pairs)


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name.lower()).strip("-") or "contender"

"""`elastic inspect`: what a schedule file holds."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from elastic_consistency.cli.output import Json, console, print_json, table
from elastic_consistency.cli.waiting import clock_bar

if TYPE_CHECKING:
    from elastic_consistency.schedule import Schedule
    from elastic_consistency.studies.summaries.schedule_summary import ScheduleSummary


def inspect(
    schedule: Annotated[Path, typer.Argument(help="A schedule as parquet.")],
    timeline: Annotated[
        Path | None, typer.Option(help="Write a trace for https://ui.perfetto.dev here.")
    ] = None,
    json: Json = False,
) -> None:
    """Check a schedule and say where every worker's time went, with the longest waits first."""
    from elastic_consistency.schedule.storage import load_valid_schedule
    from elastic_consistency.schedule.timeline import save_timeline
    from elastic_consistency.studies.expected_reading import seconds_of_rows
    from elastic_consistency.studies.summaries.schedule_summary import summarise

    def work(loaded: "Schedule", drawing: Path | None) -> "ScheduleSummary":
        if drawing is not None:
            save_timeline(loaded, drawing)
        return summarise(loaded)

    def try_out(pilot: "Schedule") -> None:
        with TemporaryDirectory() as aside:
            work(pilot, None if timeline is None else Path(aside) / "trial.pftrace")

    seconds = seconds_of_rows((schedule,), try_out)
    with clock_bar("reading", seconds, quiet=json):
        summary = work(load_valid_schedule(schedule), timeline)
    if json:
        print_json(summary)
    else:
        show_summary(summary)


def show_summary(summary: "ScheduleSummary", *, valid: str = "every invariant holds") -> None:
    """Print a schedule's figures and every worker's time."""
    out = console()
    facts = [
        ("protocol", summary.protocol or "unknown"),
        ("valid", valid),
        ("workers", summary.n_workers),
        ("jobs (of which discarded)", f"{summary.jobs} ({summary.discarded_jobs})"),
        ("steps", summary.steps),
        ("duration [s]", f"{summary.duration_s:.6g}"),
        ("staleness [steps]: mean", f"{summary.mean_staleness:.4g}"),
        ("staleness [steps]: p99, max", f"{summary.p99_staleness:g}, {summary.largest_staleness}"),
        ("most other jobs in flight", summary.largest_in_flight),
        ("set without effect", ", ".join(summary.inert) or "nothing"),
        ("seed", summary.seed),
        ("digest", summary.digest[:16]),
    ]
    out.print(table("", "schedule", "", rows=facts))
    headings = ("worker>", "jobs>", "pull>", "compute>", "wait>", "idle>")
    more = ("a gradient>", "busy>", "staleness>")
    ranked = sorted(summary.workers, key=lambda worker: -(worker.wait_s + worker.idle_s))
    rows = [
        (
            w.worker,
            w.jobs,
            *(f"{seconds:.3g}" for seconds in (w.pull_s, w.compute_s, w.wait_s, w.idle_s)),
            f"{w.mean_compute_s:.3g}",
            f"{w.utilisation:.1%}",
            f"{w.mean_staleness:.3g}",
        )
        for w in ranked
    ]
    title = "Longest waits first (times in s, mean staleness in steps)"
    out.print(table(title, *headings, *more, rows=rows))

"""The report of one schedule: who waited, and how stale the updates were."""

from dataclasses import dataclass
from typing import final

from elastic_consistency.report.drawing import Figure
from elastic_consistency.report.layout import html_page
from elastic_consistency.report.markup import Markup, table, text
from elastic_consistency.report.plots.staleness import staleness_by_worker
from elastic_consistency.report.plots.utilisation import utilisation
from elastic_consistency.report.sections import figures_section, glossary_section
from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.summaries.schedule_summary import ScheduleSummary, summarise
from elastic_consistency.studies.summaries.staleness_figures import (
    StalenessFigures,
    staleness_figures,
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ScheduleFigures:
    """What the page shows.

    Attributes:
        name: Name of the schedule.
        summary: The schedule at a glance.
        staleness: Its staleness, exact.
        digests: Its digest.
    """

    name: str
    summary: ScheduleSummary
    staleness: StalenessFigures
    digests: tuple[str, ...]


def figures_of(schedule: Schedule, name: str) -> ScheduleFigures:
    """What the page shows of a schedule; its time goes with the rows.

    Args:
        schedule: A schedule that passes `check()`.
        name: What to call it.
    """
    summary = summarise(schedule)
    stale = staleness_figures([schedule], confidence=0.95, seed=0)
    return ScheduleFigures(name, summary, stale, (summary.digest,))


def schedule_page(subject: ScheduleFigures) -> str:
    """A self-contained HTML page on one schedule, simulated or recorded."""
    summary = subject.summary
    sections = (
        ("schedule", "The schedule", _facts(summary)),
        ("figures", "Figures", figures_section(_drawn(subject))),
        ("words", "What the words mean", glossary_section()),
    )
    protocol = summary.protocol or "unknown protocol"
    about = f"{protocol}, {summary.n_workers} workers, {summary.duration_s:.4g} s."
    return html_page(subject.name, f'<p class="answer">{text(about)}</p>', sections)


def _drawn(subject: ScheduleFigures) -> tuple[Figure, ...]:
    stale = staleness_by_worker(subject)
    return (utilisation((subject,)), *((stale,) if stale else ()))


def _facts(summary: ScheduleSummary) -> Markup:
    rows = [
        ("seed of the timing", summary.seed),
        ("jobs", summary.jobs),
        ("of which discarded", summary.discarded_jobs),
        ("steps", summary.steps),
        ("duration [s]", summary.duration_s),
        ("mean staleness [steps]", summary.mean_staleness),
        ("99th percentile of staleness [steps]", summary.p99_staleness),
        ("largest staleness [steps]", summary.largest_staleness),
        ("most other jobs in flight", summary.largest_in_flight),
        ("set without effect", ", ".join(summary.inert) or "nothing"),
        ("SHA-256", Markup(f"<code>{summary.digest}</code>")),
    ]
    return table("Schedule", ("figure", "value"), rows, sortable=False)

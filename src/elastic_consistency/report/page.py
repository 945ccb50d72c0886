"""The report: one HTML page that needs nothing but itself."""

from dataclasses import replace
from pathlib import Path

from elastic_consistency.report.card import headline
from elastic_consistency.report.drawing import Figure, standalone
from elastic_consistency.report.layout import html_page
from elastic_consistency.report.markup import text
from elastic_consistency.report.plots.gap import gap_against_bound
from elastic_consistency.report.plots.loss import loss_over_gradients, loss_over_time
from elastic_consistency.report.plots.staleness import staleness_by_worker
from elastic_consistency.report.plots.utilisation import utilisation
from elastic_consistency.report.plots.what_if import causes_of_waiting
from elastic_consistency.report.sections import (
    card_section,
    figures_section,
    glossary_section,
    seeds_section,
    step_size_table,
    verdict_tables,
)
from elastic_consistency.report.tables import save_tables
from elastic_consistency.report.wording import number
from elastic_consistency.studies.on_disk.whole_files import write_whole
from elastic_consistency.studies.outcome import StudyOutcome


def write_report(outcome: StudyOutcome, output: Path) -> StudyOutcome:
    """Write report.html, figures as SVG and PNG, data as parquet; return the outcome with them."""
    figures = report_figures(outcome)
    folder = output / "figures"
    for figure in figures:
        write_whole(folder / f"{figure.name}.svg", standalone(figure.svg))
        write_whole(folder / f"{figure.name}.png", figure.png)
    tables = save_tables(outcome, output / "data")
    named = {f"table of {name}": f"data/{name}.parquet" for name in tables}
    with_data = replace(outcome, files=outcome.files | named)
    write_whole(output / "report.html", page(with_data, figures))
    return replace(with_data, files={"report": "report.html"} | with_data.files)


def report_figures(outcome: StudyOutcome) -> tuple[Figure, ...]:
    """Every figure that has something to show."""
    made = [loss_over_time(outcome), loss_over_gradients(outcome)]
    made += [f for c in outcome.contenders[:1] if (f := staleness_by_worker(c)) is not None]
    made += [utilisation(outcome.contenders), causes_of_waiting(outcome)]
    if outcome.certification is not None and outcome.certification.gaps:
        made.append(gap_against_bound(outcome.certification))
    return tuple(made)


def page(outcome: StudyOutcome, figures: tuple[Figure, ...]) -> str:
    """The whole page."""
    sections = (
        ("verdict", "Verdict card", card_section(outcome)),
        ("figures", "Figures", figures_section(figures)),
        ("bounds", "Bounds", verdict_tables(outcome)),
        ("steps", "Step sizes", step_size_table(outcome)),
        ("seeds", "Study, seeds and files", seeds_section(outcome)),
        ("words", "What the words mean", glossary_section()),
    )
    title = f"{outcome.name}: {outcome.contenders[0].name}"
    if len(outcome.contenders) > 1:
        title += f" against {outcome.contenders[-1].name}"
    return html_page(title, _introduction(outcome), sections)


def _introduction(outcome: StudyOutcome) -> str:
    runs = outcome.contenders[0].runs
    data = f" on {outcome.data}" if outcome.data else ""
    about = (
        f"Target: loss {number(outcome.target_loss, digits=4)}, which leaves {outcome.target:.3g} "
        f"of the way from the start ({number(outcome.start_loss, digits=4)}) to the minimum "
        f"({number(outcome.infimum, digits=4)}){data}. {runs} runs of each contender, with the "
        "same delays and the same samples."
    )
    return f'<p class="answer">{text(headline(outcome))}</p><p class="soft">{text(about)}</p>'

"""The verdict card on a terminal."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elastic_consistency.report.card import CardRow
    from elastic_consistency.studies.outcome import StudyOutcome


def card_panel(outcome: "StudyOutcome") -> Any:
    """The card as something that a console can print."""
    from rich import box
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from elastic_consistency.report.card import card, headline

    body = Table(box=None, show_header=False, pad_edge=False, expand=True)
    body.add_column(ratio=2, overflow="fold")
    body.add_column(ratio=3, overflow="fold")
    section = ""
    for row in card(outcome):
        if row.section != section:
            section = row.section
            body.add_row(Text(section, style="bold"), "")
        body.add_row(Text(f"  {row.label}"), _figure(row))
    title = f"elastic {outcome.name} · {outcome.data}" if outcome.data else outcome.name
    content = Group(Text(headline(outcome), style="bold"), Text(), body)
    return Panel(content, title=title, box=box.ROUNDED, padding=(1, 2))


def _figure(row: "CardRow") -> Any:
    from rich.text import Text

    style = {True: "green", False: "red", None: ""}[row.good]
    text = Text(row.value, style=style)
    if row.note:
        text.append(f"\n{row.note}", style="dim")
    return text

"""All rows as one markdown table."""

from elastic_consistency.validation.papers.records import Record
from elastic_consistency.validation.papers.wording import figure, remark, tally, tests

_HEAD = (
    "| row | claim | the paper's value | ours | verdict | how tested, why | scale | s |\n"
    "|---|---|---|---|---|---|---|---|"
)


def markdown(records: list[Record], *, about: str) -> str:
    """The table, paper by paper.

    Args:
        records: The rows, in the order of the table.
        about: Date, versions and machine.
    """
    counts = ", ".join(f"{count} {verdict}" for verdict, count in tally(records).items())
    seconds = sum(record["seconds"] for record in records)
    head = (
        "# The papers, reproduced\n\n"
        f"{about}\n\n{len(records)} rows: {counts}; {seconds / 60:.1f} minutes of computing.\n\n"
        "A value of a paper is marked with how far it was checked against the paper's text. "
        "Intervals hold 95 % (Student t over seeds unless a figure is exact).\n"
    )
    papers = dict.fromkeys(record["paper"] for record in records)
    return head + "".join(_section(paper, records) for paper in papers)


def _section(paper: str, records: list[Record]) -> str:
    rows = "\n".join(_row(record) for record in records if record["paper"] == paper)
    return f"\n## {paper}\n\n{_HEAD}\n{rows}\n"


def _row(record: Record) -> str:
    value = record["value"]
    cells = (
        f"`{record['name']}`",
        record["statement"],
        f"{value['text']} ({value['place']}; *{value['status']}*)",
        "<br>".join(figure(measured) for measured in record["measured"]),
        f"**{record['verdict']}**",
        "<br>".join(filter(None, (*tests(record), remark(record)))),
        f"{record['extent']}: {record['scale']}",
        f"{record['seconds']:.1f}",
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

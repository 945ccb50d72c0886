"""All rows as one HTML page that needs nothing else: no network, no script."""

from html import escape
from itertools import groupby

from elastic_consistency.validation.papers.curve import Curve, chart
from elastic_consistency.validation.papers.records import Record
from elastic_consistency.validation.papers.wording import figure, number, remark, tally, tests

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a202c }
article { border-top: 1px solid #cbd5e0; padding: .6rem 0 }
h3 { margin: .3rem 0 }
svg { width: 36rem; max-width: 100%; font: 10px system-ui; display: block }
summary { cursor: pointer }
.v { padding: .1rem .5rem; border-radius: .6rem; color: #fff; font-size: .85em }
.reproduced { background: #2f855a }
.shape { background: #2b6cb0 }
.not { background: #c53030 }
.needs { background: #718096 }
dl { display: grid; grid-template-columns: 8rem 1fr; gap: .1rem .8rem; margin: .3rem 0 }
dt { color: #4a5568 }
dd { margin: 0 }
td { padding: .15rem .6rem; text-align: left; vertical-align: top }
@media (prefers-color-scheme: dark) {
  body { background: #1a202c; color: #e2e8f0 }
  dt { color: #a0aec0 }
  svg text { fill: #e2e8f0 }
}
"""
_CLASS = {
    "reproduced": "reproduced",
    "reproduced in shape": "shape",
    "not reproduced": "not",
    "needs hardware": "needs",
}


def html(records: list[Record], *, about: str) -> str:
    """The page: a summary, then one article a row.

    Args:
        records: The rows, in the order of the page.
        about: Date, versions and machine.
    """
    counts = tally(records).items()
    summary = " ".join(f"{_badge(verdict)} {count}" for verdict, count in counts)
    papers = dict.fromkeys(record["paper"] for record in records)
    sections = (
        f"<h2>{escape(paper)}</h2>"
        + "".join(_article(record) for record in records if record["paper"] == paper)
        for paper in papers
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        "<!-- Written by elastic papers run; the template is validation/papers/page.py. -->"
        '<meta name="viewport" content="width=device-width">'
        f"<title>The papers, reproduced</title><style>{_STYLE}</style>"
        f"<h1>The papers, reproduced</h1><p>{escape(about)}</p><p>{summary}</p>"
        f"{_contents(records)}{''.join(sections)}</html>"
    )


def _badge(verdict: str) -> str:
    return f'<span class="v {_CLASS[verdict]}">{escape(verdict)}</span>'


def _contents(records: list[Record]) -> str:
    rows = "".join(
        f'<tr><td><a href="#{r["name"]}">{r["name"]}</a></td><td>{_badge(r["verdict"])}</td>'
        f"<td>{number(r['seconds'])} s</td></tr>"
        for r in records
    )
    return f"<details open><summary>All rows</summary><table>{rows}</table></details>"


def _article(record: Record) -> str:
    value = record["value"]
    terms = (
        ("paper's value", f"{value['text']} — {value['place']}; {value['status']}"),
        ("ours", "\n".join(figure(measured) for measured in record["measured"])),
        ("tested", "\n".join(tests(record))),
        ("remarks", remark(record)),
        ("scale", f"{record['extent']}: {record['scale']}"),
    )
    shown = "".join(
        f"<dt>{name}</dt><dd>{escape(text).replace(chr(10), '<br>')}</dd>"
        for name, text in terms
        if text
    )
    head = f'<h3 id="{record["name"]}">{record["name"]} {_badge(record["verdict"])}</h3>'
    statement = f"<p>{escape(record['statement'])}</p>"
    return f"<article>{head}{statement}<dl>{shown}</dl>{_charts(record)}</article>"


def _charts(record: Record) -> str:
    curves = [_curve(curve) for curve in record["curves"]]
    return "".join(chart(tuple(group)) for _, group in groupby(curves, key=lambda c: c.axes))


def _curve(record: Record) -> Curve:
    x, y = (tuple(map(float, record[name])) for name in ("x", "y"))
    return Curve(
        record["name"], x, y, (record["axes"][0], record["axes"][1]), record["logarithmic"]
    )

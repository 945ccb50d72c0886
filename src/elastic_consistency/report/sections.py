"""The parts of a page that are text and tables."""

import json
from collections.abc import Mapping, Sequence

from elastic_consistency.bounds.symbols import symbol_table
from elastic_consistency.report.card import CardRow, card
from elastic_consistency.report.drawing import Figure
from elastic_consistency.report.glossary import entries
from elastic_consistency.report.markup import Markup, breakable, table, text
from elastic_consistency.report.wording import readable, verdict_word
from elastic_consistency.studies.outcome import StudyOutcome


def card_section(outcome: StudyOutcome) -> Markup:
    """The verdict card."""
    parts: dict[str, list[CardRow]] = {}
    for row in card(outcome):
        parts.setdefault(row.section, []).append(row)
    sections = "".join(
        f"<section><h3>{text(name)}</h3><dl>{''.join(map(_card_row, rows))}</dl></section>"
        for name, rows in parts.items()
    )
    return Markup(f'<div class="card">{sections}</div>')


def figures_section(figures: Sequence[Figure]) -> Markup:
    """Every figure with its caption and the numbers behind it."""
    return Markup(f'<div class="figures">{"".join(map(_figure, figures))}</div>')


def verdict_tables(outcome: StudyOutcome) -> Markup:
    """Every verdict, and what each bound consists of."""
    certification = outcome.certification
    if certification is None:
        return Markup(f"<p>Not applicable: {text(outcome.uncertified)}.</p>")
    judged = list(zip(certification.verdicts, certification.informative, strict=True))
    rows = [
        (
            breakable(v.bound),
            f"{v.quantity.value.replace('_', ' ')} ({v.sequence.value})",
            verdict_word(v, informative=informative),
            v.estimate.value,
            v.estimate.lower,
            v.estimate.upper,
            v.bound_value,
            v.tightness,
        )
        for v, informative in judged
    ]
    columns = ("bound", "of the", "verdict", "measured", "lower", "upper", "bound value")
    verdicts = table("Verdicts", (*columns, "measured / bound"), rows)
    terms = [
        (
            breakable(v.bound),
            readable(term.expression),
            term.effect.value,
            term.value,
            100 * term.share,
        )
        for v, _ in judged
        for term in v.terms
    ]
    columns = ("bound", "term", "pays for", "value", "share of the bound [%]")
    by_term = table("Bounds by term", columns, terms)
    return Markup(verdicts.html + by_term.html + _symbols(certification.values).html)


def _symbols(values: Mapping[str, float]) -> Markup:
    """The symbols of the bounds with their values in this study."""
    known = symbol_table()
    rows = [
        (name, value, known[name].dimension.text(), known[name].meaning)
        for name, value in sorted(values.items())
    ]
    return table("Symbols", ("symbol", "value", "unit", "meaning"), rows)


def step_size_table(outcome: StudyOutcome) -> Markup:
    """Every step size that was tried."""
    rows = [
        (
            contender.name,
            candidate.step_size,
            candidate.step_share,
            candidate.reached,
            candidate.runs,
            candidate.mean_time_s,
            candidate.mean_last_loss,
            "chosen" if candidate is contender.candidates[0] else "",
        )
        for contender in outcome.contenders
        for candidate in contender.candidates
    ]
    columns = ("contender", "step size [length^2/loss]", "in units of 1/L", "runs at target")
    more = ("runs", "mean time to target [s]", "mean last loss", "choice")
    return table("Step sizes, on seeds of their own", (*columns, *more), rows)


def seeds_section(outcome: StudyOutcome) -> Markup:
    """The study with every seed, version and digest, and the files beside the page."""
    files = [
        (Markup(f'<a href="{text(name)}"><code>{text(name)}</code></a>'), what)
        for what, name in outcome.files.items()
    ]
    digests = [
        (contender.name, seed, Markup(f"<code>{digest}</code>"))
        for contender in outcome.contenders
        for seed, digest in zip(outcome.manifest["seeds"]["timing"], contender.digests, strict=True)
    ]
    dump = json.dumps(outcome.manifest, indent=1)
    return Markup(
        table("Files beside this page", ("file", "what it holds"), files).html
        + table("Schedules", ("contender", "timing seed", "SHA-256"), digests).html
        + "<details><summary>All seeds, parameters and versions</summary>"
        + f'<pre tabindex="0">{text(dump)}</pre></details>'
    )


def glossary_section() -> Markup:
    """What each figure means, its unit and its formula."""
    words = "".join(
        f"<dt>{breakable(e.name).html}</dt><dd>{text(e.sentence)}"
        f'<span class="note">unit {text(e.unit)}; <code>{text(e.formula)}</code></span></dd>'
        for e in entries()
    )
    return Markup(f"<dl>{words}</dl>")


def _figure(figure: Figure) -> str:
    return (
        f'<figure id="{figure.name}"><figcaption><strong>{text(figure.title)}</strong>'
        f"{text(figure.caption)}</figcaption>{figure.svg}"
        f"<details><summary>Numbers behind this figure</summary><p>{text(figure.alternative)}</p>"
        f"{figure.data.html}</details></figure>"
    )


def _card_row(row: CardRow) -> str:
    style = {True: ' class="good"', False: ' class="bad"', None: ""}[row.good]
    note = f'<span class="note">{text(row.note)}</span>' if row.note else ""
    return (
        f"<dt>{breakable(row.label).html}</dt><dd><span{style}>{text(row.value)}</span>{note}</dd>"
    )

"""One documentation page a bound, generated from the object."""

from pathlib import Path

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side
from elastic_consistency.bounds.catalogue import list_bounds
from elastic_consistency.bounds.explain import (
    assumption_lines,
    derivation_lines,
    example_line,
    symbol_lines,
)
from elastic_consistency.bounds.rate import Rate
from elastic_consistency.bounds.rate_catalogue import list_rates
from elastic_consistency.bounds.relation_catalogue import list_relations

_SIGNS = {Side.UPPER: r"\le", Side.LOWER: r"\ge", Side.EQUAL: "="}


def page(bound: Bound) -> str:
    """Return the page of a bound in Markdown."""
    quantity = rf"\text{{{bound.quantity.value.replace('_', ' ')}}}"
    formula = f"$$\n{quantity} {_SIGNS[bound.side]} {bound.latex()}\n$$"
    sections = [
        f"# {bound.name}",
        f"{_sentence(bound.title)} Auxiliary sequence: {bound.sequence.value}."
        + (" Tight." if bound.tight else ""),
        formula,
        "## Symbols\n\n" + _list(symbol_lines(bound)),
        "## Assumptions\n\n" + _list(assumption_lines(bound)),
        f"## Source\n\n{bound.source.text}. Status: {bound.status.value}.",
        "## Derivation\n\n```text\n" + "\n".join(derivation_lines(bound)) + "\n```",
        "## Example\n\n" + example_line(bound),
    ]
    if bound.note:
        sections.append(f"## Note\n\n{bound.note}")
    return "\n\n".join(sections) + "\n"


def index() -> str:
    """Return the page that lists bounds, rates and relations."""
    bounds = [
        f"- [{b.name}]({b.name}.md): {b.title} ({b.status.name.lower()})" for b in list_bounds()
    ]
    rates = [_rate_line(rate) for rate in list_rates()]
    relations = [f"- **{relation.name}**: {relation.statement}" for relation in list_relations()]
    rated = ["", "## Rates", "", "Constants are not known.", "", *rates]
    related = ["", "## Relations", "", "Each is checked exactly.", "", *relations, ""]
    return "\n".join(["# Bounds", "", *bounds, *rated, *related])


def write_pages(folder: Path) -> tuple[Path, ...]:
    """Write the index and one page a bound into `folder`, and return their paths.

    Pages of bounds that are gone are removed; files that would not change are left alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"index.md": index()} | {f"{b.name}.md": page(b) for b in list_bounds()}
    for path in folder.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return tuple(folder / name for name in texts)


def _rate_line(rate: Rate) -> str:
    terms = " + ".join(sp.latex(term) for term in rate.terms)
    source = f"{rate.source.text}; {rate.source.status.value}"
    return f"- **{rate.name}**: {rate.title}: $O({terms})$. {source}."


def _list(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."

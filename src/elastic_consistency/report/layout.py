"""The frame of every page: title, links, sections, style and script in one file."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from elastic_consistency.report.markup import Markup, text

_HERE = Path(__file__).parent

Section = tuple[str, str, Markup]
"""Its anchor, its heading and its content."""


def html_page(title: str, introduction: str, sections: Sequence[Section]) -> str:
    """A page that needs nothing but itself.

    Args:
        title: Of the page, as text.
        introduction: HTML under the title.
        sections: In order.
    """
    body = "".join(_section(*section) for section in sections)
    links = "".join(f'<li><a href="#{name}">{text(words)}</a></li>' for name, words, _ in sections)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{text(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_asset('page.css')}</style></head><body>"
        f'<header class="top"><h1>{text(title[:1].upper() + title[1:])}</h1>{introduction}'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header><main>{body}</main>'
        f"<footer>{_footer()}</footer><script>{_asset('page.js')}</script></body></html>\n"
    )


def _section(name: str, words: str, content: Markup) -> str:
    return f'<section id="{name}"><h2>{text(words)}</h2>{content.html}</section>'


def _footer() -> str:
    return text(
        f"elastic-consistency {version('elastic-consistency')}. Every number is simulated unless "
        "it says replay or live."
    )


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")

r"""Docstrings as reStructuredText.

The docstrings of the package are read in a terminal first: ``|x|`` is a norm there, ``x*`` a
minimiser and ``a_t`` has an index. Whatever reStructuredText would take for markup is escaped,
single backticks become code, and examples are left as they are.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

_CODE = re.compile(r"(``[^`\n]+``|`[^`\n]+`)")
_MARKUP = re.compile(r"[\\*|]|_(?!\w)|(?<!\w)_")
_COLUMNS = re.compile(r"\S {3,}\S")


def process(_app: Any, _kind: str, _name: str, _object: Any, _options: Any, lines: list[str]):
    """Handler of Sphinx's event autodoc-process-docstring; changes `lines` in place."""
    lines[:] = as_restructured_text(lines)


def as_restructured_text(lines: list[str]) -> list[str]:
    """The same text with nothing but code, tables and examples as markup."""
    made: list[str] = []
    for paragraph in _paragraphs(lines):
        if paragraph[0].lstrip().startswith(">>>"):
            made += paragraph
        elif any(_COLUMNS.search(line.strip()) for line in paragraph):
            indent = " " * (len(paragraph[0]) - len(paragraph[0].lstrip()))
            made += [f"{indent}::", "", *(f"    {line}" for line in paragraph)]
        else:
            made += [_escaped(line) for line in paragraph]
        made.append("")
    return made


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    for blank, paragraph in groupby(lines, key=lambda line: not line.strip()):
        if not blank:
            yield list(paragraph)


def _escaped(line: str) -> str:
    parts = _CODE.split(line)
    return "".join(
        _as_code(part) if position % 2 else _plain(part, after_code=position > 0)
        for position, part in enumerate(parts)
    )


def _as_code(part: str) -> str:
    return f"``{part.strip('`')}``"


def _plain(part: str, *, after_code: bool) -> str:
    text = _MARKUP.sub(lambda found: "\\" + found[0], part).replace("`", r"\`")
    # Code that a letter follows, as in the plural of a class, needs an empty word after it.
    return rf"\ {text}" if after_code and text[:1].isalnum() else text

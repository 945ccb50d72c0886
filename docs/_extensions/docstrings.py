r"""Docstrings as reStructuredText.

The docstrings of the package are read in a terminal first: ``|x|`` is a norm there, ``x*`` a
minimiser and ``a_t`` has an index. Whatever reStructuredText would take for markup is escaped,
single backticks become code, and examples are left as they are.
"""

import re
from typing import Any

_CODE = re.compile(r"(``[^`\n]+``|`[^`\n]+`)")
_MARKUP = re.compile(r"[\\*|]|_(?!\w)|(?<!\w)_")


def process(_app: Any, _kind: str, _name: str, _object: Any, _options: Any, lines: list[str]):
    """Handler of Sphinx's event autodoc-process-docstring; changes `lines` in place."""
    lines[:] = as_restructured_text(lines)


def as_restructured_text(lines: list[str]) -> list[str]:
    """The same text with nothing but code and examples as markup."""
    made, in_example = [], False
    for line in lines:
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        made.append(line if in_example else _escaped(line))
    return made


def _escaped(line: str) -> str:
    # A formula may continue over a line break, so a lone backtick at its end is not code.
    parts = _CODE.split(line)
    return "".join(_as_code(part) if position % 2 else _plain(part)
                   for position, part in enumerate(parts))  # fmt: skip


def _as_code(part: str) -> str:
    return f"``{part.strip('`')}``"


def _plain(part: str) -> str:
    return _MARKUP.sub(lambda found: "\\" + found[0], part).replace("`", r"\`")

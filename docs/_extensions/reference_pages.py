"""Sphinx extension: writes the reference that is read off the package itself.

Before anything else is read it writes, into `reference/generated/`, one page for each public
package, the pages of the command line, of the metrics and of the results, and into
`theory/bounds/` one page for each bound. A public name without a
docstring is a warning, and with --fail-on-warning the end of the build.
"""

from pathlib import Path
from typing import Any

import api_pages
import command_line
import docstrings
import metrics
import results
from sphinx.application import Sphinx
from sphinx.util import logging

from elastic_consistency.bounds import write_pages

_LOG = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx; napoleon runs at priority 500, and sees what `docstrings` made."""
    app.connect("builder-inited", _write)
    app.connect("autodoc-process-docstring", docstrings.process, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Sphinx) -> None:
    write_pages(Path(app.srcdir) / "theory" / "bounds")
    folder = Path(app.srcdir) / "reference" / "generated"
    modules = api_pages.public_modules("elastic_consistency")
    for name in api_pages.undocumented(modules):
        _LOG.warning("%s is public and has no docstring", name)
    pages = api_pages.pages(modules)
    pages |= {
        "command_line.md": command_line.page(),
        "metrics.md": metrics.page(),
        "results.md": results.page(Path(app.srcdir)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:  # else Sphinx reads it again
            path.write_text(text, "utf-8")

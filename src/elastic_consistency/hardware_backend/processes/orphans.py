"""Ranks whose parent is killed while they are born end without a word.

Loaded into the fork server, whose children read what they shall do from their parent; the
traceback of one that gets half of it would be all that is left on the screen of who killed it.
"""

import sys
from types import TracebackType

_show = sys.excepthook
_CUT_SHORT = {"EOFError", "UnpicklingError"}  # by name, since nothing here unpickles


def quiet_about_orphans(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show an error as Python does, unless it says that the parent stopped in mid-sentence."""
    if kind.__name__ not in _CUT_SHORT:
        _show(kind, error, trace)


sys.excepthook = quiet_about_orphans

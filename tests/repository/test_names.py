"""A module is named after the one thing that it holds."""

from pathlib import PurePosixPath

NAMES_WITHOUT_AN_EDGE = {"common", "core", "helpers", "manager", "misc", "util", "utils"}


def test_no_module_has_a_name_that_could_hold_anything(sources):
    offenders = [
        path
        for path in sources
        if NAMES_WITHOUT_AN_EDGE & {part.strip("_") for part in PurePosixPath(path[:-3]).parts}
    ]

    assert offenders == []

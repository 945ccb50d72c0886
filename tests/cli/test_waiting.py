"""What is said to those who wait."""

import pytest

from elastic_consistency.cli.waiting import announce, clock_bar


@pytest.mark.parametrize(
    ("seconds", "finished", "told"),
    [
        (1.99, 0, ""),
        (2.0, 0, "elastic: about 2 s\n"),
        (123.4, 0, "elastic: about 120 s\n"),
        (12.34, 5, "elastic: about 12 s; 5 parts of it are finished already\n"),
    ],
)
def test_only_long_waits_are_announced(capsys, seconds, finished, told):
    announce(seconds, quiet=False, finished=finished)

    assert capsys.readouterr() == ("", told)


def test_nothing_is_said_to_a_program(capsys):
    announce(1e6, quiet=True)
    with clock_bar("waiting", 1e6, quiet=True):
        pass

    assert capsys.readouterr() == ("", "")


def test_a_bar_that_follows_the_clock_lets_errors_through(capsys):
    with pytest.raises(ValueError, match="no"), clock_bar("waiting", 50.0, quiet=False):
        raise ValueError("no")

    assert capsys.readouterr().err == "elastic: about 50 s\n"

"""Errors become one line on stderr and an exit code that scripts can use."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, final

import typer

FINE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

# The base of all errors of usage, wherever this version of typer keeps it.
_UsageProblem: Any = typer.BadParameter.__mro__[2]
_DISK_TROUBLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
_GOES_ON = "and the same command goes on from there"


@final
class BadInputError(ValueError):
    """What the user gave cannot be used; the message says what is allowed."""


@final
class RunFailedError(RuntimeError):
    """The input was fine, but the run did not come to its end."""


@final
class InterruptedWorkError(RuntimeError):
    """Somebody pressed Ctrl-C; the message says what is kept."""


@contextmanager
def keeping(kept: Callable[[], str]) -> Iterator[None]:
    """Where finished parts are kept: whoever is cut short hears where, and how to go on.

    Args:
        kept: Says it, as in "3 finished parts are in answer/unfinished".
    """
    try:
        yield
    except KeyboardInterrupt as error:
        raise InterruptedWorkError(f"interrupted; {kept()}, {_GOES_ON}") from error
    except OSError as error:
        if error.errno in _DISK_TROUBLE:
            error.add_note(f"{kept()}, {_GOES_ON}")
        raise


def exit_code_of(command: Callable[[], Any], *, traceback: bool = False) -> int:
    """Run `command`; say what went wrong in one line on stderr and return the exit code.

    Args:
        command: What to run; it may return an exit code.
        traceback: Let errors through, for those who look for a mistake in the code.
    """
    try:
        returned = command()
        sys.stdout.flush()
    except _UsageProblem as problem:
        return _refuse_usage(problem)
    except KeyboardInterrupt:
        return _interrupted()
    except InterruptedWorkError as interruption:
        return _say(str(interruption), INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # rich turns the one into the other
        _print_what_can_be_printed()
        return FINE  # whoever read our output has seen enough
    except (
        ValueError,
        KeyError,
        TypeError,
        OSError,
        ArithmeticError,
        RuntimeError,
        MemoryError,
    ) as error:
        if traceback:
            raise
        return _say(_line(error), _code(error))
    if returned == INTERRUPTED:  # typer has caught the interruption
        return _interrupted()
    return returned if isinstance(returned, int) else FINE


def _interrupted() -> int:
    line = "interrupted; files are as they were or whole, and the same command starts again"
    return _say(line, INTERRUPTED)


def _refuse_usage(problem: Any) -> int:
    if type(problem).__name__ == "NoArgsIsHelpError":
        # Its message is the help, or empty where typer has shown the help already.
        sys.stdout.write(f"{problem.format_message()}\n".lstrip("\n"))
        return BAD_INPUT
    return _say(_usage_line(problem), BAD_INPUT)


def _usage_line(problem: Any) -> str:
    context = getattr(problem, "ctx", None)
    verb = context.command_path if context else "elastic"
    message = " ".join(problem.format_message().split())
    return f"{message} (see {verb} --help)"


def _line(error: Exception) -> str:
    return "; ".join((_message(error), *getattr(error, "__notes__", ())))


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or str(error)).lower()}"
    if isinstance(error, OSError) and error.errno in _DISK_TROUBLE:
        _print_what_can_be_printed()
        return f"standard output or temporary files: {os.strerror(error.errno).lower()}"
    if isinstance(error, MemoryError):
        return "this needs more memory than there is" + (f": {error}" if str(error) else "")
    # str() of a KeyError is the repr of its message.
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return " ".join(text.split()) or type(error).__name__


def _code(error: Exception) -> int:
    if isinstance(error, OSError):
        return FAILED if error.errno in _DISK_TROUBLE else BAD_INPUT
    return BAD_INPUT if isinstance(error, ValueError | KeyError | TypeError) else FAILED


def _say(line: str, code: int) -> int:
    sys.stderr.write(f"elastic: {line}\n")
    return code


def _print_what_can_be_printed() -> None:
    """Flush; what cannot be printed is dropped, or Python would try again and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):  # no stream of this process
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""Errors become one line on stderr and an exit code that scripts can use."""

import errno
import sys
from collections.abc import Callable
from typing import Any, final

import typer

FINE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

# The base of all errors of usage, wherever this version of typer keeps it.
_UsageProblem: Any = typer.BadParameter.__mro__[2]
_DISK_TROUBLE = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS}


@final
class BadInputError(ValueError):
    """What the user gave cannot be used; the message says what is allowed."""


@final
class RunFailedError(RuntimeError):
    """The input was fine, but the run did not come to its end."""


def exit_code_of(command: Callable[[], Any], *, traceback: bool = False) -> int:
    """Run `command`; say what went wrong in one line on stderr and return the exit code.

    Args:
        command: What to run; it may return an exit code.
        traceback: Let errors through, for those who look for a mistake in the code.
    """
    try:
        returned = command()
    except _UsageProblem as problem:
        return _refuse_usage(problem)
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        return FINE  # whoever read our output has seen enough
    except (ValueError, KeyError, TypeError, OSError, ArithmeticError, RuntimeError) as error:
        if traceback:
            raise
        return _say(_line(error), _code(error))
    if returned == INTERRUPTED:  # typer has caught the interruption
        return _interrupted()
    return returned if isinstance(returned, int) else FINE


def _interrupted() -> int:
    line = "interrupted; what was finished is kept, and the same command goes on from there"
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
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or str(error)).lower()}"
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

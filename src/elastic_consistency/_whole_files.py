"""Files that appear whole or not at all, whatever ends the process that writes them."""

import errno
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ENDING = ".part"


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name beside `path` for the content, which takes the place of `path` at the end.

    Whoever is interrupted, or has no room, leaves the old file as it was.

    Args:
        path: The file; its folder is made if it is missing.

    Raises:
        OSError: If the file cannot be written; it names `path`.
    """
    if path.is_dir():  # "." has no name to write beside
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    mark = f"{platform.node()}-"
    beside = path.with_name(f"{path.name}.{mark}{os.getpid()}{_ENDING}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_parts_of_the_dead(path, mark)
        yield beside
        beside.replace(path)
    except OSError as error:
        raise _about(path, error) from error
    finally:
        with suppress(OSError):
            beside.unlink()


def _about(path: Path, error: OSError) -> OSError:
    """The same error with the name of the file that was wanted; Arrow gives none of its own."""
    if error.errno is None:
        return error
    if error.errno == errno.EEXIST:
        return NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent))
    return OSError(error.errno, os.strerror(error.errno), str(path))


def _remove_parts_of_the_dead(path: Path, mark: str) -> None:
    """Remove what processes of this machine left that were killed while they wrote `path`."""
    start = f"{path.name}.{mark}"
    for left in path.parent.glob(f"{_literal(start)}*{_ENDING}"):
        number = left.name.removeprefix(start).removesuffix(_ENDING)
        if number.isdigit() and not _is_alive(int(number)):
            left.unlink(missing_ok=True)


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # asking by a signal would end the process there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True

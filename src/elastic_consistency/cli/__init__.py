"""The command line: `elastic VERB`; what is heavy is imported inside the verbs."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: Words after `elastic`; those of the process by default.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from elastic_consistency.cli.application import run
    except KeyboardInterrupt:
        sys.stderr.write("elastic: interrupted before it began\n")
        return 130
    return run(words)

"""The command line: `elastic VERB`; what is heavy is imported inside the verbs."""

import sys

# Python shows a traceback to whoever interrupts imports, so there is nothing else up here.


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: Words after `elastic`; those of the process by default.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        from elastic_consistency.cli.application import run

        return run(words)
    except KeyboardInterrupt:  # before the verb began, or while its end was being told
        sys.stderr.write("elastic: interrupted\n")
        return 130


def command() -> None:
    """The command `elastic` as a process."""
    code = main()
    from signal import SIG_DFL, SIGINT, signal

    # All has been said: whoever interrupts what Python tidies up gets no traceback.
    signal(SIGINT, SIG_DFL)
    sys.exit(code)

"""The page that lists what experiments wrote: papers, benchmarks, hardware."""

from pathlib import Path

_PATTERNS = ("papers/**/*.md", "benchmarks*.md", "hardware_results/**/*.md")


def page(source: Path) -> str:
    """The page in Markdown, with whatever results there are.

    Args:
        source: Folder of the documentation.
    """
    found = [path for pattern in _PATTERNS for path in sorted(source.glob(pattern))]
    names = [f"/{path.relative_to(source).with_suffix('').as_posix()}" for path in found]
    parts = ["# Results", "Written by the programs that measured them."]
    if names:
        parts.append("\n".join(("```{toctree}", ":maxdepth: 1", "", *names, "```")))
    return "\n\n".join(parts) + "\n"

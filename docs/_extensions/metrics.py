"""The page of the metrics: the glossary that `elastic explain` answers from."""

from elastic_consistency.report.glossary import entries


def page() -> str:
    """The page in Markdown, figures in alphabetical order."""
    parts = [
        "# Metrics",
        (
            "Every figure in cards, reports and JSON. `elastic explain NAME` says the same in a "
            "terminal. A unit of 1 marks a pure number."
        ),
    ]
    for entry in sorted(entries(), key=lambda entry: entry.name.lower()):
        parts += [
            f"## {entry.name}",
            entry.sentence.replace("*", r"\*").replace("|", r"\|"),
            f"Unit: `{entry.unit}`.",
            f"```text\n{entry.formula}\n```",
        ]
    return "\n\n".join(parts) + "\n"

"""What a shell offers for an argument that is one of many names; loaded when it asks."""


def presets_from(incomplete: str) -> list[tuple[str, str]]:
    """The presets whose names begin with `incomplete`, and what they describe."""
    from elastic_consistency.studies.files.presets import presets

    return [(known.name, known.about) for known in presets() if known.name.startswith(incomplete)]


def figures_from(incomplete: str) -> list[tuple[str, str]]:
    """The explained figures whose names begin with `incomplete`, and what they mean."""
    from elastic_consistency.report.glossary import entries

    return [
        (known.name, known.sentence) for known in entries() if known.name.startswith(incomplete)
    ]


def claims_from(incomplete: str) -> list[tuple[str, str]]:
    """The claims of the papers whose names begin with `incomplete`, and what they say."""
    from elastic_consistency.validation.papers.catalogue import CLAIMS

    return [(claim.name, claim.statement) for claim in CLAIMS if claim.name.startswith(incomplete)]

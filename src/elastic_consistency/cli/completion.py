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


def bounds_from(incomplete: str) -> list[tuple[str, str]]:
    """The bounds whose names begin with `incomplete`, and what they say."""
    from elastic_consistency.bounds import list_bounds

    return [
        (known.name, known.title) for known in list_bounds() if known.name.startswith(incomplete)
    ]


def live_protocols_from(incomplete: str) -> list[str]:
    """The protocols of live runs whose names begin with `incomplete`."""
    from elastic_consistency.studies.real_processes.live_check import LIVE_PROTOCOLS

    return [name for name in LIVE_PROTOCOLS if name.startswith(incomplete)]


def predictable_from(incomplete: str) -> list[str]:
    """The protocols of live runs that are foretold and whose names begin with `incomplete`."""
    from elastic_consistency.studies.held_out.prediction import PREDICTABLE

    return [name for name in PREDICTABLE if name.startswith(incomplete)]

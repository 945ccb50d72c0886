"""The words and numbers of a record as table and page show them."""

from elastic_consistency.validation.papers.records import Record


def number(value: float | str | None) -> str:
    """A number with four digits; infinities as they are."""
    return "" if value is None else f"{float(value):.4g}"


def figure(measured: Record) -> str:
    """name = value [lower, upper] (replicates, seed)."""
    estimate = measured["estimate"]
    text = f"{measured['name']} = {number(estimate['value'])}"
    if estimate["method"] == "exact":
        return text
    ends = f"[{number(estimate['lower'])}, {number(estimate['upper'])}]"
    seed = "" if estimate["seed"] is None else f", first seed {estimate['seed']}"
    return f"{text} {ends} ({estimate['n_replicates']} seeds{seed})"


def tests(record: Record) -> list[str]:
    """One line for each property that was tested."""
    return [
        f"{'yes' if feature['holds'] else 'NO'}: {feature['name']}"
        + (f" ({feature['evidence']})" if feature["evidence"] else "")
        for feature in record["features"]
    ]


def remark(record: Record) -> str:
    """What is worth knowing of a row; every row that was not reproduced has some cause."""
    if record["why"] or record["verdict"] != "not reproduced":
        return record["why"]
    return f"the features that say NO were not seen at this scale ({record['extent']})"


def tally(records: list[Record]) -> dict[str, int]:
    """Number of rows with each verdict."""
    counts: dict[str, int] = {}
    for record in records:
        counts[record["verdict"]] = counts.get(record["verdict"], 0) + 1
    return counts

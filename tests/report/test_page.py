"""The page is one file, valid, escaped, and says everything in words too."""

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from elastic_consistency.bounds import get
from elastic_consistency.report.glossary import entries
from elastic_consistency.report.markup import table
from elastic_consistency.report.page import page as make_page
from elastic_consistency.report.tables import report_tables
from elastic_consistency.validation import Estimate, Method, judge

VOID = {"meta", "br", "wbr", "link", "img"}


class Outline(HTMLParser):
    """Tags in order, and whether each one is closed where it should be."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.words = ""
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


@pytest.fixture(scope="module")
def outline(page) -> Outline:
    return Outline(page)


def test_every_tag_is_closed(outline):
    assert outline.open == []


def test_the_page_loads_nothing_from_elsewhere(outline):
    """Links lead to sections of the page and to files beside it."""
    sources = [a[k] for _, a in outline.tags for k in ("src", "href", "xlink:href") if k in a]

    assert [s for s in sources if not re.fullmatch(r"#[\w-]+|(data/)?[\w.-]+", s)] == []
    assert not {"script", "link"} & {tag for tag, a in outline.tags if "src" in a or "rel" in a}


def test_identifiers_are_unique(outline):
    counts = Counter(a["id"] for _, a in outline.tags if "id" in a)

    assert [name for name, count in counts.items() if count > 1] == []


def test_every_reference_has_its_target(outline, page):
    targets = {a["id"] for _, a in outline.tags if "id" in a}
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', page)

    assert set(used) <= targets


def test_names_are_escaped(page, outline):
    assert "<b>bold" not in page
    assert "R&D <async>" in outline.words


def test_every_figure_has_a_text_alternative_and_its_numbers(outline, figures):
    drawings = [a for tag, a in outline.tags if tag == "svg"]

    assert len(drawings) == len(figures) == 6
    assert all(a["role"] == "img" and len(a["aria-label"]) > 40 for a in drawings)
    assert all("<table>" in figure.data.html for figure in figures)


def test_no_figure_has_a_colour_of_its_own(figures):
    """Colours come from the page, so that they follow light and dark."""
    for figure in figures:
        coloured = set(re.findall(r"#[0-9a-f]{6}\b", figure.svg))
        assert coloured <= {"#ffffff", "#000000"}


def test_the_drawings_beside_the_page_stand_alone(reported):
    files = sorted((reported[1] / "figures").glob("*.svg"))

    assert len(files) == 6
    for file in files:
        text = file.read_text()
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert "var(--" not in text


def test_sections_and_headings_are_in_order(outline):
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]

    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_no_number_is_missing(outline):
    assert re.findall(r"\b(nan|None|NaN)\b", outline.words.split("All seeds")[0]) == []


def test_every_seed_is_on_the_page(outline, reported):
    for contender in reported[0].contenders:
        for digest in contender.digests:
            assert digest in outline.words
    assert '"first_sample_seed": 1000000' in outline.words


def test_columns_with_units_name_them(outline):
    """Times in s, gaps and moments in loss/length, step sizes in length^2/loss."""
    seconds = [f"{phase} [s]" for phase in ("pull", "compute", "wait", "idle", "simulated time")]
    for column in (
        *seconds,
        "mean time to target [s]",
        "step size [length^2/loss]",
        "rms gap / step size [loss/length]",
        "staleness [steps]",
    ):
        assert column in outline.words
    assert " [ms]" not in outline.words


@pytest.mark.parametrize(
    ("figure", "labels"),
    [
        ("loss-over-time", ("simulated time [s]",)),
        ("gap-against-bound", ("simulated time [s]", "gap / step size [loss/length]")),
        ("staleness-by-worker", ("staleness [steps]", "worker")),
        ("utilisation", ("share of the run", "worker")),
    ],
)
def test_the_axes_of_a_figure_name_their_unit(figures, figure, labels):
    (drawing,) = [f.svg for f in figures if f.name == figure]
    words = Outline(drawing).words

    assert all(label in words for label in labels)


def test_units_of_the_words_fit_together():
    """With losses and lengths as the only units, all others follow from formulas of theory."""
    unit = {e.name: e.unit for e in entries()}

    assert {unit[name] for name in ("gap", "B", "M", "sigma")} == {"loss / length"}  # a gradient
    assert unit["L"] == unit["c"] == "loss / length^2"  # a gradient per length
    assert unit["step_size"] == unit["certified_step_size"] == "length^2 / loss"  # length / gap
    assert unit["started_sequence"] == unit["applied_sequence"] == "length"
    assert (unit["time_to_target"], unit["wait"]) == ("s", "s")
    assert (unit["staleness"], unit["in_flight"]) == ("steps", "jobs")
    pure = ("saving", "verdict", "error_rate", "tightness", "replay_parity", "utilisation")
    assert {unit[name] for name in pure} == {"1"}


def test_a_study_without_a_certificate_says_so(without_certificate, figures):
    outline = Outline(make_page(without_certificate, figures[:2]))

    assert "Not applicable: no theorem fits." in outline.words
    assert "NOT APPLICABLE" in outline.words


def test_the_report_is_the_same_every_time(reported, page, figures):
    before = {what: name for what, name in reported[0].files.items() if what != "report"}

    assert make_page(replace(reported[0], files=before), figures) == page


def test_every_figure_is_also_a_png_in_the_light_colours(reported, figures):
    """No pixel has a colour that stands for one of the page, on white all the same."""
    from matplotlib.image import imread

    for figure in figures:
        path = reported[1] / "figures" / f"{figure.name}.png"
        pixels = (imread(path)[:, :, :3] * 255).round().astype(int)

        assert path.read_bytes() == figure.png
        assert (pixels[0, 0] == 255).all()
        assert pixels.min(axis=2).max() == 255
        assert not (pixels.max(axis=2) <= 0x15).any()  # the darkest ink is #1c2024


def test_the_tables_hold_every_number_of_the_outcome(reported):
    from pyarrow import parquet

    outcome, folder = reported
    read = {p.stem: parquet.read_table(p).to_pylist() for p in (folder / "data").iterdir()}

    first = outcome.contenders[0]
    times = [r["seconds"] for r in read["times_to_target"] if r["contender"] == first.name]
    assert times == first.times_s.ravel().tolist()
    counted = sum(r["updates"] for r in read["staleness"] if r["contender"] == first.name)
    assert counted == first.staleness.counts.sum()
    curve = [r["mean"] for r in read["loss_over_time"] if r["contender"] == first.name]
    assert curve == first.over_time.mean.tolist()
    assert {"contenders", "workers", "gaps", "causes_of_waiting"} <= read.keys()
    told = [verdict.outcome.value for verdict in outcome.certification.verdicts]
    assert [row["outcome"] for row in read["verdicts"]] == told
    assert {f"data/{name}.parquet" for name in read} <= set(outcome.files.values())


def test_numbers_sort_by_values_that_a_browser_can_read():
    """NumPy's own notation, np.float64(1.5), is none of them."""
    made = table("t", ("a",), [(np.float64(1.5),), (2,)]).html

    assert re.findall(r'data-value="([^"]*)"', made) == ["1.5", "2.0"]


def test_slack_is_what_the_bound_leaves_and_terms_add_up_to_it(reported):
    """B measured 1 against (n - 1) M = 3 * 2."""
    measured = Estimate(1.0, 0.9, 1.1, 0.99, Method.EMPIRICAL_BERNSTEIN)
    bound, values = get("server_started_gap"), {"n": 4, "M": 2.0}
    labelled = replace(measured, quantity=bound.quantity, sequence=bound.sequence)
    verdict = judge(labelled, bound, values, error_rate=0.01)
    judged = replace(reported[0].certification, verdicts=(verdict,))

    tables = report_tables(replace(reported[0], certification=judged))

    (row,) = tables["verdicts"]
    assert (row["outcome"], row["bound_value"], row["slack"]) == ("consistent", 6.0, 5.0)
    assert sum(term["value"] for term in tables["bounds_by_term"]) == 6.0

"""What the command line shows: explanation, report, pages."""

import pytest

from elastic_consistency.bounds import (
    Status,
    evaluate,
    explain,
    get,
    list_bounds,
    list_relations,
    verify_all,
    write_pages,
)
from elastic_consistency.bounds.bound import Bound
from elastic_consistency.bounds.verification import looseness_table


def test_an_explanation_has_all_its_parts():
    text = explain(get("nonconvex_single_step"))

    for part in ("Symbols", "Assumptions", "Source", "Derivation", "Example", "alpha <= 1/L"):
        assert part in text
    assert "(alpha/2) x lipschitz_gradient" in text


def test_a_recalled_bound_says_that_its_text_was_not_checked():
    assert "text not checked" in explain(get("topk_convex_theorem"))


def test_evaluate_is_the_method_of_the_bound():
    assert evaluate(get("server_started_gap"), {"n": 8, "M": 1.0}) == 7.0


def test_the_report_lists_bounds_steps_and_failures():
    some = [get("server_started_gap"), get("heavy_ball_gap")]
    report = verify_all(bounds=some)

    assert [row.name for row in report.rows] == ["server_started_gap", "heavy_ball_gap"]
    assert [row.steps for row in report.rows] == [3, 4]
    assert report.failures == ()
    assert report.relations == len(list_relations())
    assert report.summary().startswith("2 bounds, 7 steps")
    assert all(row.mutants and row.undecided_share == 0.0 for row in report.rows)


def test_whoever_waits_for_the_report_hears_how_far_it_is():
    heard = []
    some = [get("server_started_gap"), get("heavy_ball_gap")]
    verify_all(bounds=some, mutants=False, listener=lambda what, done: heard.append((what, done)))

    assert heard == [("server_started_gap", 0), ("heavy_ball_gap", 1 / 3), ("relations", 2 / 3)]


def test_a_false_bound_is_reported_as_a_failure():
    true = get("server_started_gap")
    false = Bound(
        name="false",
        title="claims that n workers have the gap of n - 2",
        quantity=true.quantity,
        sequence=true.sequence,
        side=true.side,
        expression=true.expression - get("server_started_gap").symbols[0],
        assumptions=true.assumptions,
        requirements=true.requirements,
        source=true.source,
        proof=true.proof,
    )
    report = verify_all(bounds=[false], mutants=False)

    assert len(report.failures) == 1
    assert "the bound claims" in report.failures[0]


def test_there_is_one_page_a_bound_and_an_index(tmp_path):
    paths = write_pages(tmp_path)
    index = (tmp_path / "index.md").read_text(encoding="utf-8")

    assert len(paths) == len(list_bounds()) + 1
    for bound in list_bounds():
        assert f"[{bound.name}]({bound.name}.md)" in index
        assert "## Assumptions" in (tmp_path / f"{bound.name}.md").read_text(encoding="utf-8")


def test_the_pages_of_the_documentation_are_what_the_bounds_say(tmp_path, pytestconfig):
    """`make docs` writes them; whoever alters a bound commits its page with it."""
    kept = pytestconfig.rootpath / "docs" / "theory" / "bounds"
    written = {path.name: path.read_text(encoding="utf-8") for path in write_pages(tmp_path)}

    assert {path.name: path.read_text(encoding="utf-8") for path in kept.glob("*.md")} == written


def test_the_page_of_a_bound_that_is_gone_is_removed(tmp_path):
    (tmp_path / "no_such_bound.md").write_text("# gone", encoding="utf-8")

    write_pages(tmp_path)

    assert not (tmp_path / "no_such_bound.md").exists()


def test_proof_pages_that_bounds_name_exist(pytestconfig):
    for bound in list_bounds():
        if bound.source.text.startswith("docs/"):
            assert (pytestconfig.rootpath / bound.source.text).is_file(), bound.source.text


@pytest.mark.slow
def test_the_whole_catalogue_verifies_and_is_as_loose_as_the_page_says(pytestconfig):
    """To write the table anew: paste what `looseness_table(verify_all())` returns."""
    report = verify_all()
    page = pytestconfig.rootpath / "docs" / "theory" / "looseness.md"

    assert report.failures == ()
    assert looseness_table(report) in page.read_text(encoding="utf-8")
    assert sum(row.steps for row in report.rows) > 140
    assert all(row.steps or row.status is not Status.DERIVED for row in report.rows)

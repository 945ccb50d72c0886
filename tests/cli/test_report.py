"""`elastic report`: pages from what was computed before."""

import json


def test_a_schedule_becomes_a_page_with_its_figures(elastic, study_file, tmp_path):
    path = tmp_path / "a.parquet"
    elastic("simulate", study_file, "--output", path)
    summary = json.loads(elastic("inspect", path, "--json").out)

    answer = elastic("report", path)

    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert (answer.code, answer.out) == (0, f"{tmp_path / 'a.html'}\n")
    assert summary["digest"] in page
    assert page.count("<figure") == 2


def test_a_study_gets_the_page_that_its_run_wrote(elastic, study_file, tmp_path):
    folder = tmp_path / "out"
    elastic("run", study_file, "--output", folder)
    first = (folder / "report.html").read_text(encoding="utf-8")
    again = tmp_path / "again.html"

    told = json.loads(elastic("report", folder, "--output", again, "--json").out)

    assert told == {"report": str(again)}
    assert _without_files(again.read_text(encoding="utf-8")) == _without_files(first)


def _without_files(page):
    """The table of files grows while they are written."""
    begin = page.index("Files beside this page</caption>")
    return page[:begin] + page[page.index("</table>", begin) :]


def test_what_is_no_result_is_one_line(elastic, tmp_path):
    path = tmp_path / "result.json"
    path.write_text('{"name": "x"}')

    answer = elastic("report", path)

    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "StudyOutcome must have the fields" in answer.err
    assert "contenders" in answer.err

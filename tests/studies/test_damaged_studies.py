"""Study files that no parser likes: one line that names the file."""

import pytest

from elastic_consistency.studies.files import load_study
from elastic_consistency.studies.files.errors import StudyFileError
from elastic_consistency.studies.files.presets import preset_text
from elastic_consistency.studies.files.reading import read_file

REFUSED = {
    "deep.toml": (b"x = " + b"[" * 5000, "is nested too deeply"),
    "deep.yaml": (b"[" * 20_000, "is nested too deeply"),
    "long.toml": (b"x = " + b"9" * 5000, "has a number that is too long"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_parsers_fail_on_is_refused(tmp_path, name):
    content, told = REFUSED[name]
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(StudyFileError, match=told):
        read_file(path)


@pytest.mark.parametrize(("name", "text"), [("a.toml", b"x = 1\n"), ("a.yaml", b"x: 1\n")])
def test_a_byte_order_mark_is_no_content(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbf" + text)

    assert read_file(path) == {"x": 1}


def test_more_than_a_billion_of_anything_is_refused(tmp_path):
    path = tmp_path / "endless.toml"
    path.write_text(preset_text("laptop").replace("gradients = 800", "gradients = 1" + 400 * "0"))

    with pytest.raises(StudyFileError, match=r"contenders\[0\]\.gradients must be less than"):
        load_study(path)

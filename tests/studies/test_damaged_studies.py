"""Study files that no parser likes: one line that names the file."""

import pytest

from elastic_consistency.studies.files import load_study
from elastic_consistency.studies.files.errors import StudyFileError
from elastic_consistency.studies.files.presets import preset_text
from elastic_consistency.studies.files.reading import read_file

REFUSED = {
    "deep.toml": (b"x = " + b"[" * 5000, "is nested too deeply"),
    "deep.yaml": (b"[" * 20_000, "is nested too deeply"),
    "again.yaml": (b"a: {x: 1, y: 2, x: 3}\n", r"the key 'x' must stand once.*line 1, column 17"),
    "bomb.yaml": (
        b"a: &a [1,1,1,1,1,1,1,1,1,1]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (k + 1, k + 1, b",".join([b"*%c" % k] * 10))
            for k in range(ord("a"), ord("g"))
        ),
        "aliases unfold to more than 1000000 values",
    ),
    "snake.yaml": (b"a: &a [*a]\n", "aliases unfold to more than"),
    "day.yaml": (b"a: 2020-02-31\n", "is not plain YAML: day"),
    "empty.yaml": (b"# nothing\n", "must hold a table of fields, got nothing"),
    "object.yaml": (b"!!python/object/apply:os.getcwd []\n", "is not plain YAML"),
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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1.5E+2", 150.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("-12", -12),
        ("true", True),
        ("010", "010"),
        ("1:30", "1:30"),
        ("yes", "yes"),
        ("0x10", "0x10"),
        ("~", None),
    ],
)
def test_plain_values_of_yaml_are_those_of_version_1_2(tmp_path, text, value):
    path = tmp_path / "a.yaml"
    path.write_text(f"x: {text}\n")

    found = read_file(path)["x"]

    assert (type(found), found) == (type(value), value)


def test_a_link_may_be_written_once_and_meant_twice(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n")

    assert read_file(path) == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}}


FEWER = "must be less than or equal to 1000000"
WRONG = [
    ("count = 3", "count = 1000001", rf"workers\[0\]\.count {FEWER}"),
    ("format = 1", "format = '1'", "format must be 1, got '1'"),
    ("format = 1", "format = true", "format must be 1, got True"),
    ("format = 1", "format = 1.0", "format must be 1, got 1.0"),
    ("batch = ", "batch = 2.5 #", "problem.batch must be a whole number, got 2.5"),
    ("batch = ", "batch = 1000001 #", f"problem.batch {FEWER}, got 1000001"),
    ("replicates = 8", "replicates = 1000001", f"seeds.replicates {FEWER}"),
    ("replicates = 256", "replicates = 1000001", f"certificate.replicates {FEWER}"),
    ("name = ", "name = [1] #", r"name must be a text, got \[1\]"),
    ("name = ", 'name = "a\\nb" #', r"name must be a text on one line, got 'a\\nb'"),
    ('name = "async', 'name = "\\tasync', r"contenders\[0\]\.name must be a text on one line"),
]


@pytest.mark.parametrize(("found", "wrong", "told"), WRONG)
def test_a_value_of_another_type_is_told_in_words(tmp_path, found, wrong, told):
    path = tmp_path / "a.toml"
    text = preset_text("laptop")
    assert found in text
    path.write_text(text.replace(found, wrong, 1))

    with pytest.raises(StudyFileError, match=told):
        load_study(path)


def test_a_long_value_is_cut_in_the_message(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(preset_text("laptop").replace("format = 1", f"format = '{'x' * 9999}'"))

    with pytest.raises(StudyFileError, match="got 'xxx") as refused:
        load_study(path)

    assert len(str(refused.value)) < 250 + len(str(path))


def test_workers_are_a_million_together(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(preset_text("laptop").replace("count = 3", "count = 1000000"))

    with pytest.raises(StudyFileError, match="must be 1000000 workers or fewer together, got"):
        load_study(path)


def test_more_than_a_billion_of_anything_is_refused(tmp_path):
    path = tmp_path / "endless.toml"
    path.write_text(preset_text("laptop").replace("gradients = 800", "gradients = 1" + 400 * "0"))

    with pytest.raises(StudyFileError, match=r"contenders\[0\]\.gradients must be less than"):
        load_study(path)

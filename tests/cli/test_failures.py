"""What goes wrong is one line on stderr and an exit code."""

import errno

import pytest

from elastic_consistency.cli.failures import exit_code_of

BAD = {
    "no such verb": (["frobnicate"], "frobnicate"),
    "no such option": (["demo", "--colour"], "--colour"),
    "not a number": (["demo", "--workers", "many"], "--workers"),
    "missing argument": (["inspect"], "chedule"),
    "no such file": (["inspect", "nowhere.parquet"], "nowhere.parquet"),
    "no such bound": (["bounds", "show", "server_started"], "server_started_gap"),
    "no such metric": (["explain", "stalenes"], "staleness"),
    "no such claim": (["papers", "run", "sampled-client"], "did you mean 'sampled-clients'?"),
    "no such preset": (["new", "two-nodes"], "did you mean 'two_nodes'?"),
    "no such symbol": (["bounds", "evaluate", "server_started_gap", "--set", "q=1"], "q"),
    "no value": (["bounds", "evaluate", "server_started_gap", "--set", "n=2"], "M needs a value"),
    "not an assignment": (["bounds", "evaluate", "server_started_gap", "--set", "n"], "SYMBOL="),
    "assumption": (
        ["bounds", "evaluate", "heavy_ball_gap", "--set", "mu=1.5", "--set", "M=1"],
        "mu < 1",
    ),
    "too few workers": (["demo", "--workers", "1"], "workers must be a number of workers >= 2"),
    "no data of that name": (["demo", "--data", "cifar"], "one of breast_cancer, digits"),
    "negative ranks": (["demo", "--ranks", "-1"], "--ranks must be a number >= 0, got -1"),
    "a folder for a file": (["new", "laptop", "--output", "."], "file '.' is a directory"),
    "target out of range": (["demo", "--target", "2"], "target must be a share in (0, 1)"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gives_one_line_and_exit_code_2(elastic, case):
    words, told = BAD[case]

    answer = elastic(*words)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("elastic: ")
    assert answer.err.count("\n") == 1
    assert told in answer.err


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all"])
def test_a_file_that_is_no_schedule_is_bad_input(elastic, tmp_path, content):
    path = tmp_path / "x.parquet"
    path.write_bytes(content)

    answer = elastic("inspect", path)

    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "x.parquet" in answer.err


def test_traceback_lets_the_error_through(elastic):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        elastic("--traceback", "inspect", "nowhere.parquet")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("x must be > 0,\n  got -1."), 2),
        (KeyError("no such name"), 2),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.toml"), 2),
        (OSError(errno.ENOSPC, "No space left on device", "b.parquet"), 1),
        (RuntimeError("rank 1 was killed"), 1),
        (ArithmeticError("not finite"), 1),
        (MemoryError(), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_kind_of_error_has_its_exit_code(capsys, error, code):
    def command():
        raise error

    assert exit_code_of(command) == code
    assert capsys.readouterr().err.count("\n") == 1


def test_a_message_of_several_lines_becomes_one(capsys):
    def command():
        raise ValueError("a must be > 0,\n   got -1.")

    exit_code_of(command)

    assert capsys.readouterr().err == "elastic: a must be > 0, got -1.\n"


def test_what_does_not_fit_into_memory_is_told_in_words(capsys):
    def command(*words):
        raise MemoryError(*words)

    assert exit_code_of(command) == 1
    assert exit_code_of(lambda: command("8 TiB")) == 1

    told = "elastic: this needs more memory than there is"
    assert capsys.readouterr().err == f"{told}\n{told}: 8 TiB\n"


@pytest.mark.parametrize("words", [("demo", "--colour"), ("bounds", "show")])
def test_bad_usage_names_the_help_of_its_verb(elastic, words):
    verb = " ".join(word for word in words if not word.startswith("-"))

    assert elastic(*words).err.endswith(f" (see elastic {verb} --help)\n")


def test_a_failed_file_is_named_first(capsys):
    def command():
        raise PermissionError(errno.EACCES, "Permission denied", "out/report.html")

    exit_code_of(command)

    assert capsys.readouterr().err == "elastic: out/report.html: permission denied\n"

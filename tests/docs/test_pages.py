"""What the pages of the documentation show is what happens."""

import re

import pytest


def test_a_page_does_what_it_says(script, page):
    run = script(full=False)

    failures = run.run(page)

    assert run.n_examples > 0
    assert not failures, "\n\n".join(map(str, failures))


@pytest.mark.slow
def test_a_long_page_does_what_it_says_as_it_stands(script, long_page):
    failures = script(full=True).run(long_page)

    assert not failures, "\n\n".join(map(str, failures))


@pytest.mark.parametrize(
    "wrong",
    [
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```pycon\n>>> 1 / 0\n2\n```\n",
        "```console\n$ elastic explain staleness\nsomething else\n```\n",
        "```console\n$ elastic explain no-such-figure\n$ echo $?\n0\n```\n",
        "```{code-cell} python\nprint(1)\n```\n\n<!-- prints\n2\n-->\n",
        "```{code-cell} python\nraise ValueError('no')\n```\n",
        "```{code-cell} python\n:tags: [raises-exception]\nprint(1)\n```\n\n<!-- prints\n1\n-->\n",
    ],
    ids=["value", "error", "output", "code", "cell", "cell-error", "cell-without-error"],
)
def test_a_page_that_says_something_wrong_is_noticed(script, wrong):
    assert script(full=False).run(wrong) != []


def test_every_block_of_python_is_one_that_runs(docs):
    """A block that nobody runs is right until the next change."""
    idle = [
        f"{path.relative_to(docs)}: {kind}"
        for path in docs.rglob("*.md")
        if not {"generated", "theory", "papers"} & set(path.parts)
        for kind, body in re.findall(
            r"^```([^\n]*)\n(.*?)^```$", path.read_text("utf-8"), re.S | re.M
        )
        if "python" in kind
        if not kind.startswith(("{code-cell}", "{code-block}"))
        or (kind.startswith("{code-block}") and not body.startswith(":caption: "))
    ]

    assert idle == []

"""Files and functions stay small enough to be read at once."""

import ast
import io
import tokenize

LONGEST_FILE = 400
LONGEST_FUNCTION = 40

_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def _code_lines(source: str) -> set[int]:
    """Numbers of the lines that hold more than comments and blanks."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        line
        for token in tokens
        if token.type not in _NOT_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }


def _own_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[int]:
    """Numbers of the lines of a function, its decorators and docstring apart."""
    lines = set(range(function.lineno, (function.end_lineno or 0) + 1))
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        lines -= set(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return lines


def test_no_file_has_more_than_400_lines(sources):
    lengths = {path: len(text.splitlines()) for path, text in sources.items()}

    too_long = {path: length for path, length in lengths.items() if length > LONGEST_FILE}

    assert too_long == {}


def test_no_function_has_more_than_40_lines_of_code(sources, package_trees):
    too_long = {}

    for path, tree in package_trees.items():
        code = _code_lines(sources[path])
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = len(_own_lines(node) & code)
                if length > LONGEST_FUNCTION:
                    too_long[f"{path}:{node.lineno} {node.name}"] = length

    assert too_long == {}


def test_code_lines_leave_out_comments_blanks_and_docstrings():
    source = 'def f(\n    a,\n):\n    """One.\n\n    Two.\n    """\n\n    # why\n    return a\n'
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)

    assert _own_lines(function) & _code_lines(source) == {1, 2, 3, 10}

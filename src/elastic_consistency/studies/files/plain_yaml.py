"""YAML without its traps: keys are unique, numbers and truths are written as in YAML 1.2.

010 and 1:30 are no numbers, yes and no are no truths, 1e9 is a number; what aliases unfold to has
a limit. Nothing in the text is executed.
"""

import re
from typing import Any

import yaml

_MOST_VALUES = 1_000_000
_PLAIN = {
    "tag:yaml.org,2002:int": (re.compile(r"[-+]?(0|[1-9][0-9]*)$"), "-+0123456789"),
    "tag:yaml.org,2002:float": (
        re.compile(
            r"[-+]?([0-9]+\.[0-9]*([eE][-+]?[0-9]+)?|\.[0-9]+([eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
            r"|\.inf|\.Inf|\.INF)$|(\.nan|\.NaN|\.NAN)$"
        ),
        "-+0123456789.",
    ),
    "tag:yaml.org,2002:bool": (re.compile(r"(true|True|TRUE|false|False|FALSE)$"), "tTfF"),
}


def load(text: str) -> Any:
    """The plain values of a YAML text.

    Raises:
        yaml.YAMLError: If it is none, a key stands twice, or aliases unfold to too much.
        ValueError: If a date or a number is impossible.
    """
    return yaml.load(text, Loader=_PlainLoader)


class _PlainLoader(yaml.SafeLoader):
    """A safe loader with the rules of this module."""

    yaml_implicit_resolvers = {  # noqa: RUF012  (the name that the parent class reads)
        first: [(tag, pattern) for tag, pattern in known if tag not in _PLAIN]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def get_single_data(self) -> Any:
        node = self.get_single_node()
        if node is None:
            return None
        _require_small(node)
        return self.construct_document(node)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002
        _require_unique(node)
        return yaml.SafeLoader.construct_mapping(self, node, deep)


for _tag, (_pattern, _first) in _PLAIN.items():
    _PlainLoader.add_implicit_resolver(_tag, _pattern, list(_first))


def _require_unique(node: Any) -> None:
    seen = set()
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name is not None and name != "<<" and name in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {name[:100]!r} must stand once, got it twice", key.start_mark
            )
        seen.add(name)


def _require_small(root: Any) -> None:
    """Count the values with every alias unfolded; a node that holds itself is endless."""
    count, left = 0, [root]
    while left:
        node = left.pop()
        count += 1
        if count > _MOST_VALUES:
            raise yaml.constructor.ConstructorError(
                None, None, f"aliases unfold to more than {_MOST_VALUES} values", root.start_mark
            )
        if isinstance(node, yaml.SequenceNode):
            left += node.value
        elif isinstance(node, yaml.MappingNode):
            left += [part for pair in node.value for part in pair]

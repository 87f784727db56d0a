"""YAML text read as JSON: the core schema of YAML 1.2 (10.3), in which `no` and `2020-01-01` are strings.

PyYAML parses the text into nodes, which are converted here: its own constructors support only YAML 1.1 and
lose duplicate keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import yaml  # type: ignore[import-untyped]  # types-PyYAML would be needed for this line only
from yaml.composer import Composer  # type: ignore[import-untyped]

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.shapes.foreign.reader.document import DEEPEST

_MOST_VALUES: Final = 2_000_000
"""Maximum number of values in a document with expanded aliases."""
_PLAIN: Final = "plain"
"""Internal tag of an unquoted scalar without an explicit tag."""
_READ: Final = (_PLAIN, *(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")))
"""Tags of scalars whose text is interpreted; all others are strings."""
_CONSTANTS: Final[dict[str, Json]] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,1000}")
_BASED: Final = re.compile(r"0o[0-7]{1,1000}|0x[0-9a-fA-F]{1,1000}")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TOO_DEEP: Final = f"it is nested more than {DEEPEST} levels deep"


_COMPOSER: Final[Any] = Composer
_PARSER: Final[Any] = getattr(yaml, "CLoader", yaml.Loader)


class _Composer(_COMPOSER):  # type: ignore[misc]  # PyYAML has no types
    """Composer that allows an anchor to be reused (YAML 1.2, 3.2.2.2)."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if not isinstance(event, yaml.AliasEvent):
            self.anchors.pop(event.anchor, None)
        return super().compose_node(parent, index)


class _Loader(_Composer, _PARSER):  # type: ignore[misc]  # whichever parser is installed
    """Loader with the C parser if available, and with the composer of this module."""

    def __init__(self, text: str) -> None:
        _PARSER.__init__(self, text)
        self.anchors: dict[str, Any] = {}

    def resolve(self, kind: Any, value: Json, implicit: Any) -> str:
        """Return the tag of an untagged node; lists and objects need none."""
        return _PLAIN if kind is yaml.ScalarNode and implicit[0] else ""


def read_yaml(text: str, file: str) -> Json:
    """Return the single document in a text.

    Raises:
        ToolgenError: The text is not YAML, or cannot be expressed in JSON; the message has reason and place.
    """
    try:
        node = _Loader(text).get_single_node()
    except yaml.YAMLError as error:
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        where = _place(getattr(error, "problem_mark", None))
        raise ToolgenError(f"{file} is not YAML: {what}{where}", hint="correct the file") from error
    except RecursionError:
        raise ToolgenError(f"{file}: {_TOO_DEEP}", hint="correct the file") from None
    return None if node is None else _Values(file).of(node, 0)


class _Values:
    """Converts nodes to values; the value of an alias is repeated at each place."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._count = 0

    def of(self, node: Any, depth: int) -> Json:
        """Return the value of a node at a nesting depth."""
        self._count += 1
        if self._count > _MOST_VALUES:
            self._fail(f"its aliases expand to more than {_MOST_VALUES:,} values", node)
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if depth == DEEPEST:
            self._fail(_TOO_DEEP, node)
        if isinstance(node, yaml.SequenceNode):
            return [self.of(item, depth + 1) for item in node.value]
        items = [self.of(value, depth + 1) for _, value in node.value]
        return _merged(dict(zip(self._keys(node), items, strict=True)))

    def _keys(self, node: Any) -> list[str]:
        keys: dict[str, None] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._fail("a key is not a string", key)
            if key.value in keys:
                self._fail(f"the key {key.value!r:.80} appears twice", key)
            keys[key.value] = None
        return list(keys)

    def _fail(self, problem: str, node: Any) -> NoReturn:
        raise ToolgenError(f"{self._file}: {problem}{_place(node.start_mark)}", hint="correct the file")


def _place(mark: Any) -> str:
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def _merged(value: dict[str, Json]) -> dict[str, Json]:
    """Return an object with the keys merged in by `<<` (YAML 1.1, "Merge Key"), which many files use."""
    if "<<" not in value:
        return value
    own = {key: child for key, child in value.items() if key != "<<"}
    return {key: child for part in _parts(value["<<"]) for key, child in part.items()} | own


def _parts(value: Json) -> Iterator[dict[str, Json]]:
    for part in reversed(value) if isinstance(value, list) else [value]:
        if isinstance(part, dict):
            yield part


def _scalar(node: Any) -> Json:
    text: str = node.value
    if node.tag not in _READ:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    return float(text) if _FLOAT.fullmatch(text) else text

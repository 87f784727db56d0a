"""YAML from text, read as JSON: the core schema of YAML 1.2 (10.3), in which `no` and `2020-01-01` are texts.

Values are made from the parser's events: PyYAML's own composer calls itself for every level, knows only
YAML 1.1, and loses keys that stand twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NoReturn

import yaml  # type: ignore[import-untyped]  # types-PyYAML would be needed for this line only

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json

from .json_text import DEEPEST

_MOST_VALUES: Final = 2_000_000
"""Values of a document with its aliases expanded."""
_NULL: Final = frozenset(["", "~", "null", "Null", "NULL"])
_BOOLEAN: Final = {
    text: value for value in (True, False) for text in (str(value), str(value).lower(), str(value).upper())
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,1000}")
_BASED: Final = re.compile(r"0o[0-7]{1,1000}|0x[0-9a-fA-F]{1,1000}")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


class _Open:
    """A list or an object whose end has not come yet."""

    __slots__ = ("anchor", "height", "key", "size", "value")

    def __init__(self, value: list[Json] | dict[str, Json], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.size = 1
        self.height = 1


def read_yaml(text: str, file: str) -> Json:
    """Return the one document of a text.

    Raises:
        ToolgenError: it is no YAML, or cannot be written as JSON; says why and where.
    """
    try:
        return _Composer(file).value(yaml.parse(text, Loader=getattr(yaml, "CLoader", yaml.Loader)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ToolgenError(f"{file} is not YAML: {what}{where}", hint="correct the file") from error


class _Composer:
    """Makes one value of events, with a stack of its own."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Json, int, int]] = {}
        self.roots: list[Json] = []

    def value(self, events: Iterable[object]) -> Json:
        for event in events:
            self._take(event)
        return self.roots[0] if self.roots else None

    def _take(self, event: object) -> None:
        match event:
            case yaml.ScalarEvent(anchor=anchor):
                value = _scalar(event)
                if anchor is not None:
                    self.anchors[anchor] = value, 1, 0
                self._add(value, 1, 0, event)
            case yaml.SequenceStartEvent(anchor=anchor):
                self._open([], anchor, event)
            case yaml.MappingStartEvent(anchor=anchor):
                self._open({}, anchor, event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                done = self.stack.pop()
                value = _merged(done.value)
                if done.anchor is not None:
                    self.anchors[done.anchor] = value, done.size, done.height
                self._add(value, done.size, done.height, event)
            case yaml.AliasEvent(anchor=anchor):
                if anchor not in self.anchors:
                    self._fail(f"the alias *{anchor:.80} stands for nothing that is complete", event)
                self._add(*self.anchors[anchor], event)
            case yaml.DocumentStartEvent() if self.roots:
                self._fail("a second document begins", event)
            case _:
                pass

    def _open(self, value: list[Json] | dict[str, Json], anchor: str | None, event: object) -> None:
        self.stack.append(_Open(value, anchor))
        self._check_depth(len(self.stack), event)

    def _add(self, value: Json, size: int, height: int, event: object) -> None:
        if not self.stack:
            self.roots.append(value)
            return
        place = self.stack[-1]
        place.size += size
        place.height = max(place.height, height + 1)
        self._check_depth(len(self.stack) + height, event)
        if place.size > _MOST_VALUES:
            self._fail(f"its aliases stand for more than {_MOST_VALUES:,} values", event)
        if isinstance(place.value, list):
            place.value.append(value)
        elif place.key is None:
            place.key = self._key(value, event)
            if place.key in place.value:
                self._fail(f"the key {place.key!r:.80} stands twice", event)
        else:
            place.value[place.key] = value
            place.key = None

    def _check_depth(self, levels: int, event: object) -> None:
        if levels > DEEPEST:
            self._fail(f"it is nested more than {DEEPEST} levels deep", event)

    def _key(self, value: Json, event: object) -> str:
        if isinstance(value, (list, dict)):
            self._fail("a key is no text", event)
        return event.value if isinstance(event, yaml.ScalarEvent) else str(value)

    def _fail(self, problem: str, event: object) -> NoReturn:
        mark = event.start_mark if isinstance(event, yaml.Event) else None
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ToolgenError(f"{self.file}: {problem}{where}", hint="correct the file")


def _merged(value: list[Json] | dict[str, Json]) -> Json:
    """Return an object with what its key `<<` brings in (YAML 1.1, "Merge Key"), which many files use."""
    if not isinstance(value, dict) or "<<" not in value:
        return value
    own = {key: child for key, child in value.items() if key != "<<"}
    return {key: child for part in _parts(value["<<"]) for key, child in part.items()} | own


def _parts(value: Json) -> Iterator[dict[str, Json]]:
    for part in reversed(value) if isinstance(value, list) else [value]:
        if isinstance(part, dict):
            yield part


def _scalar(event: yaml.ScalarEvent) -> Json:
    text: str = event.value
    if not event.implicit[0] and not (event.tag or "").endswith((":null", ":bool", ":int", ":float")):
        return text
    if text in _NULL:
        return None
    if text in _BOOLEAN:
        return _BOOLEAN[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    return float(text) if _FLOAT.fullmatch(text) else text

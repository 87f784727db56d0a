"""The form in which third-party schemas and texts of a tool are stored, shown and sent.

A schema is rebuilt from the keywords that toolgen knows, so that a model reads nothing else. Texts for
readers are cleaned and shortened. Names and values are part of the contract and stay unchanged; a name or a
value that is not fully visible is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from toolgen.contract.json_pointer import escaped, tokens_of
from toolgen.contract.json_value import Json, values_in
from toolgen.contract.printable import hides, plain_spaces, printable, visible, visible_lines

from ..constraints import CONSTRAINTS, OF_BYTES
from ..keywords import BRANCHES, CONDITIONS, MAPS, REFERENCES, VALUES

LONGEST_TEXT: Final = 4_096
"""Maximum length of a text for readers, of a value or of a pattern, in characters."""
LONGEST_KEY: Final = 256
"""Maximum length of the name of a property or a definition, in characters."""
_LONGEST_SHOWN: Final = 100
"""Maximum length of a location, and of a text, in an error, in characters."""
_DEEPEST: Final = 128
"""Maximum depth that is rebuilt; the readers of schemas reject a deeper one."""
SCHEMAS: Final = frozenset(
    ("additionalItems", "additionalProperties", "contains", "contentSchema", "items", "not", "prefixItems")
).union(("propertyNames", "unevaluatedItems", "unevaluatedProperties"), BRANCHES, CONDITIONS)
"""Keywords whose value is a schema or a list of schemas."""
_TEXTS: Final = frozenset(["description", "title"])
"""Keywords for readers (JSON Schema 2020-12 Validation 9.1); `$comment` is for authors, and omitted."""
_NOTES: Final = frozenset(["contentEncoding", "contentMediaType", "format"])
"""Keywords whose text is a note, so that only the note is omitted if it has hidden characters."""
_OTHERS: Final = frozenset(
    "$anchor $dynamicAnchor $id $recursiveAnchor $schema additionalItems dependencies dependentRequired "
    "deprecated maxContains minContains readOnly required type writeOnly".split()
).union(REFERENCES, (row.keyword for row in (*CONSTRAINTS, *OF_BYTES)))
KEYWORDS: Final = SCHEMAS | _TEXTS | _NOTES | _OTHERS | MAPS | VALUES
_LINK: Final = re.compile(
    r"(?<![\w+.-])(?!https?:)(?=(?:[a-z][a-z0-9+.-]{1,30}://|(?:data|javascript|mailto|vbscript):\S))",
    re.IGNORECASE,
)
"""The beginning of an address that is not the address of a web page (RFC 3986, 3.1)."""
_MARK: Final = "[no web page] "
_BREAK: Final = re.compile(r"[\t\n\r]")
"""Characters that a name cannot have, though a value can."""


class UnsafeError(ValueError):
    """A schema has a name or a value that cannot be shown unchanged."""

    def __init__(self, pointer: str, fault: str) -> None:
        """Take the JSON Pointer of the location, and the fault there, as the end of a sentence about it."""
        super().__init__(f"{printable(pointer[:_LONGEST_SHOWN]) or 'its root'} {fault}")
        self.pointer = pointer
        self.fault = fault


def safe_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return the beginning of a text for readers, with plain white space.

    Hidden characters are escaped, and unusual addresses marked.
    """
    text = plain_spaces(text).strip()
    shown = visible_lines(text[:longest])
    if ":" in shown:
        shown = _LINK.sub(_MARK, shown)
    return shown if max(len(text), len(shown)) <= longest else f"{shown[:longest]}…"


def described_link(uri: str, text: str) -> str:
    """Return the description of a link, with a mark in front if its address is not a web page."""
    return text if uri.lower().startswith(("https://", "http://")) else f"{_MARK}{text}".strip()


def normal_form(schema: object, longest: int = LONGEST_TEXT) -> Any:
    """Return a schema with only known keywords; `longest` is the maximum length of its texts, in characters.

    The value of an unknown keyword stays if a reference leads to it.

    Raises:
        UnsafeError: a name or a value has hidden characters, or is too long to be shown.
    """
    form = _Form(longest)
    rebuilt = form.schema(schema, "", 0)
    if isinstance(schema, dict) and isinstance(rebuilt, dict):
        form.keep_targets(schema, rebuilt)
    return rebuilt


class _Form:
    """Rebuilds one document."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._references: list[str] = []

    def schema(self, schema: Any, pointer: str, depth: int) -> Any:
        if isinstance(schema, list):
            return [self.schema(part, f"{pointer}/{at}", depth + 1) for at, part in enumerate(schema)]
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return schema
        rebuilt = {}
        for key, value in schema.items():
            if key in KEYWORDS and (normal := self._keyword(key, value, pointer, depth)) is not _NOTHING:
                rebuilt[key] = normal
        return rebuilt

    def _keyword(self, key: str, value: Any, within: str, depth: int) -> object:
        """Return the value of a known keyword; `_NOTHING` if it is omitted."""
        if key in _TEXTS:
            return safe_text(value, self._longest) if isinstance(value, str) else _NOTHING
        if key in _NOTES or key == "default":
            return _NOTHING if _fault(value) else value
        pointer = f"{within}/{key}"
        if key in MAPS or (key == "dependencies" and isinstance(value, dict)):
            return self._map(key, value, pointer, depth)
        if key in SCHEMAS:
            return self.schema(value, pointer, depth + 1)
        if key == "pattern" and isinstance(value, str):
            return _pattern(value, pointer)
        if key in REFERENCES and isinstance(value, str):
            self._references.append(value)
        if key == "examples":
            examples = value if isinstance(value, list) else []
            return [example for example in examples if not _fault(example)] or _NOTHING
        if fault := _fault(value, is_name=key not in VALUES):
            raise UnsafeError(pointer, fault)
        return value

    def _map(self, key: str, value: Any, pointer: str, depth: int) -> object:
        if not isinstance(value, dict):
            return value
        rebuilt = {}
        for name, part in value.items():
            inner = f"{pointer}/{escaped(name)}"
            shown = _pattern(name, inner) if key == "patternProperties" else _name(name, inner)
            is_names = isinstance(part, list)  # in `dependencies`
            rebuilt[shown] = (
                [_name(each, inner) for each in part] if is_names else self.schema(part, inner, depth + 1)
            )
        return rebuilt

    def keep_targets(self, schema: dict[str, Json], rebuilt: dict[str, Json]) -> None:
        """Add the targets of references that no known keyword holds, at their original locations."""
        done: set[str] = set()
        while self._references:
            reference = self._references.pop()
            if not reference.startswith("#/") or reference in done:
                continue
            done.add(reference)
            self._keep(tokens_of(unquote(reference[1:])), schema, rebuilt)

    def _keep(self, tokens: list[str], schema: Json, rebuilt: Json) -> None:
        """Add the target of one reference, unless it is already there or does not exist."""
        pointer = ""
        for at, token in enumerate(tokens):
            pointer += f"/{escaped(token)}"
            if not isinstance(schema, dict) or token not in schema or not isinstance(rebuilt, dict):
                return
            schema = schema[token]
            if token not in rebuilt:
                _name(token, pointer)
                is_target = at == len(tokens) - 1
                rebuilt[token] = (
                    self.schema(schema, pointer, at) if is_target or isinstance(schema, list) else {}
                )
            rebuilt = rebuilt[token]


_NOTHING: Final = object()


def _name(name: object, pointer: str) -> object:
    """Return a name that can be shown.

    Raises:
        UnsafeError: the name cannot be shown.
    """
    if isinstance(name, str) and len(name) > LONGEST_KEY:
        raise UnsafeError(pointer, f"is a name of {len(name)} characters; at most {LONGEST_KEY} are allowed")
    if fault := _fault(name, is_name=True):
        raise UnsafeError(pointer, fault)
    return name


def _fault(value: object, *, is_name: bool = False) -> str:
    """Return the fault of a value in a contract; "" if there is none."""
    if isinstance(value, (bool, int, float)) or value is None:
        return ""
    if isinstance(value, str) and value.isascii() and value.isprintable() and len(value) <= LONGEST_TEXT:
        return ""
    for text in _texts(value):
        if len(text) > LONGEST_TEXT:
            return f"has a text of {len(text)} characters; at most {LONGEST_TEXT} are allowed"
        if hides(text) or (is_name and _BREAK.search(text)):
            return f"has invisible characters: {printable(text[:_LONGEST_SHOWN])!r}"
    return ""


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a value, including keys."""
    if isinstance(value, str):
        yield value
        return
    for part in values_in(value):
        texts = part if isinstance(part, dict) else [part]
        yield from (text for text in texts if isinstance(text, str))


def _pattern(pattern: str, pointer: str) -> str:
    """Return a pattern that matches the same, with hidden characters as `\\\\uXXXX` (ECMA-262, 22.2.1).

    Raises:
        UnsafeError: a character has no such escape there.
    """
    if len(pattern) > LONGEST_TEXT:
        raise UnsafeError(
            pointer, f"has a pattern of {len(pattern)} characters; at most {LONGEST_TEXT} are allowed"
        )
    if visible(pattern) == pattern:
        return pattern
    shown = ""
    for char in pattern:
        if visible(char) == char:
            shown += char
        elif ord(char) > 0xFFFF or (len(shown) - len(shown.rstrip("\\"))) % 2:
            raise UnsafeError(pointer, f"has invisible characters: {printable(pattern[:_LONGEST_SHOWN])!r}")
        else:
            shown += f"\\u{ord(char):04x}"
    return shown

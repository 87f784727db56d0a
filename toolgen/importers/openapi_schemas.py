"""Schemas of an OpenAPI document as JSON Schema 2020-12, each with the components that it uses.

OpenAPI 3.1 and later write JSON Schema (OAS 3.1.1, 4.8.24); the dialect of 3.0 (OAS 3.0.4, 4.7.24) is
translated: `nullable`, the boolean bounds, and `$ref` beside which nothing counts.
"""

from __future__ import annotations

from collections import deque
from typing import Final
from urllib.parse import quote, unquote

from toolgen.contract.json_pointer import tokens_of
from toolgen.findings import Finding
from toolgen.schema_reader.keywords import IN_PLACE, ONE_SCHEMA, SEVERAL
from toolgen.shapes.foreign.schema import MAPS

from .codes import BAD_OPERATION, finding_at
from .pointers import joined, resolve
from .records import a_kind

_NO_KEYWORDS: Final = frozenset(["discriminator", "example", "externalDocs", "nullable", "xml"])
"""What OpenAPI adds; nothing of it is checked of a value, but `nullable`, which is translated."""
_MOST_REFERENCES: Final = 20
"""References in a row before something that is not one."""


class UnreadableError(Exception):
    """A part of the document that cannot be read; the operation that uses it is left out."""

    def __init__(self, pointer: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer
        self.message = message
        self.hint = hint

    def finding(self, tool: str) -> Finding:
        return finding_at(BAD_OPERATION, self.pointer, self.message, hint=self.hint, tool=tool)


class Components:
    """The referenced schemas of a document, by pointer; each is translated once for all operations."""

    def __init__(self, document: object, *, is_3_0: bool) -> None:
        self.document = document
        self.is_3_0 = is_3_0
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._translated: dict[str, tuple[object, tuple[str, ...]]] = {}

    def name(self, pointer: str) -> str:
        """Return the name in `$defs`: a component's own, or one made of the pointer."""
        if pointer not in self._names:
            tokens = tokens_of(pointer)
            name = "_".join(tokens[2:] if tokens[:2] == ["components", "schemas"] else tokens) or "document"
            free = name
            while free in self._taken:
                number = self._numbers[name] = self._numbers.get(name, 1) + 1
                free = f"{name}_{number}"
            self._names[pointer] = free
            self._taken.add(free)
        return self._names[pointer]

    def translated(self, pointer: str) -> tuple[object, tuple[str, ...]]:
        """Return the schema at a pointer, and the pointers that it refers to.

        Raises:
            UnreadableError: a reference in it leads nowhere, or out of the document.
        """
        if pointer not in self._translated:
            schemas = Schemas(self)
            schema = schemas.translated(find(self.document, pointer), pointer)
            self._translated[pointer] = schema, schemas.used
        return self._translated[pointer]


class Schemas:
    """Turns the schemas of one tool's arguments, or of its result, into parts of one JSON Schema."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self._used: dict[str, None] = {}

    @property
    def used(self) -> tuple[str, ...]:
        """The pointers that the schemas so far refer to, in order of first use."""
        return tuple(self._used)

    def translated(self, schema: object, pointer: str) -> object:
        """Return the schema that stands at the pointer; its references lead into `definitions`.

        Raises:
            UnreadableError: a reference leads out of the document.
        """
        if not isinstance(schema, dict):
            return schema
        result: dict[str, object] = {}
        for key, value in schema.items():
            place = joined(pointer, key)
            if key == "$ref" and isinstance(value, str):
                result[key] = self._reference(value, place)
            elif key in ONE_SCHEMA:
                result[key] = self.translated(value, place)
            elif key in SEVERAL and isinstance(value, list):
                result[key] = [self.translated(part, joined(place, n)) for n, part in enumerate(value)]
            elif key in MAPS and isinstance(value, dict):
                result[key] = {
                    name: self.translated(part, joined(place, name)) for name, part in value.items()
                }
            elif key not in _NO_KEYWORDS:
                result[key] = value
        if "example" in schema and "examples" not in schema:
            result["examples"] = [schema["example"]]
        return _from_3_0(schema, result) if self._components.is_3_0 else result

    def definitions(self) -> dict[str, object]:
        """Return the schemas that are referred to so far, directly or not, by name.

        Raises:
            UnreadableError: a reference leads nowhere, or out of the document.
        """
        result: dict[str, object] = {}
        waiting = deque(self._used)
        while waiting:
            pointer = waiting.popleft()
            name = self._components.name(pointer)
            if name not in result:
                result[name], used = self._components.translated(pointer)
                waiting += used
        return result

    def _reference(self, reference: str, place: str) -> str:
        pointer = local(reference, place)
        find(self._components.document, pointer, place)
        self._used[pointer] = None
        return "#" + quote(joined("/$defs", self._components.name(pointer)), safe="/~!$&'()*+,;=:@")


def local(reference: str, place: str) -> str:
    """Return the pointer of a reference into the same document (RFC 6901, 6: percent-encoded).

    Raises:
        UnreadableError: it leads to another document, or to a name.
    """
    if reference[:1] != "#" or reference[1:2] not in ("", "/"):
        raise UnreadableError(
            place,
            f"the reference {reference!r} leads out of the document",
            hint="bundle all files into one document, with references such as '#/components/schemas/Name'",
        )
    return unquote(reference[1:])


def find(document: object, pointer: str, place: str = "") -> object:
    """Return the value at the pointer.

    Raises:
        UnreadableError: nothing does; the error stands at `place`.
    """
    try:
        return resolve(document, tokens_of(pointer))
    except LookupError as error:
        message = f"the reference '#{pointer}' leads to nothing"
        raise UnreadableError(place or pointer, message, hint="correct it, or add what it names") from error


def followed(document: object, value: object, pointer: str) -> tuple[dict[str, object], str]:
    """Return the object at the pointer, or the one that its `$ref` leads to, with its own pointer.

    Raises:
        UnreadableError: it is no object, or its reference leads to none.
    """
    for _ in range(_MOST_REFERENCES):
        if not isinstance(value, dict):
            raise UnreadableError(pointer, f"an object belongs here, not {a_kind(value)}")
        if not isinstance(reference := value.get("$ref"), str):
            return value, pointer
        place = joined(pointer, "$ref")
        pointer = local(reference, place)
        value = find(document, pointer, place)
    raise UnreadableError(pointer, "the reference leads back to itself")


def _from_3_0(schema: dict[str, object], result: dict[str, object]) -> dict[str, object]:
    """Return the translation of a schema whose dialect is that of OpenAPI 3.0."""
    if "$ref" in result:
        return {key: result[key] for key in ("$ref", "description") if key in result}
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(flag := result.get(exclusive), bool):
            del result[exclusive]
            if flag and bound in result:
                result[exclusive] = result.pop(bound)
    return _or_null(result) if schema.get("nullable") is True else result


def _or_null(schema: dict[str, object]) -> dict[str, object]:
    """Return the schema with null accepted.

    By the letter (OAS 3.0.4, 4.7.24.1) `nullable` counts beside `type` only; documents mean it everywhere.
    """
    outer: dict[str, object] = {
        key: schema[key] for key in ("title", "description", "default", "examples") if key in schema
    }
    inner = {key: value for key, value in schema.items() if key not in outer}
    if not inner:
        return schema
    if isinstance(type_ := inner.get("type"), str) and not any(key in inner for key in IN_PLACE):
        values = inner.get("enum")
        listed = {"enum": values if None in values else [*values, None]} if isinstance(values, list) else {}
        return {**schema, "type": [type_, "null"], **listed}
    return {**outer, "anyOf": [inner, {"type": "null"}]}

"""A schema for comparisons in JSON Schema 2020-12, with the additional checks of codecs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import count
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

import jsonschema_rs as rs

from toolgen.contract.json_pointer import escaped, resolved
from toolgen.contract.printable import printable
from toolgen.shapes.foreign.reader import SchemaProblem, upgraded
from toolgen.shapes.keywords import format_pointers

from .limits import FORMATS, KEYWORDS

_SAFE: Final = "/~"
_NUMBERS = count()
_MOST_VALIDATORS: Final = 4_096


class SchemaNode(NamedTuple):
    """A schema at its place in a document."""

    document: SchemaDocument
    pointer: str
    """JSON Pointer (RFC 6901) from the root of the document."""
    schema: Any
    """An object, true or false."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SchemaNode) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[int, str]:
        """Key that is equal for the same place of the same document."""
        return self.document.number, self.pointer

    def child(self, *tokens: str | int) -> SchemaNode:
        """Return the schema at these keywords, names or indexes below this one."""
        schema, pointer = self.schema, self.pointer
        for token in tokens:
            schema = schema[token]
            pointer += f"/{escaped(str(token))}"
        return SchemaNode(self.document, pointer, schema)

    def children(self, keyword: str) -> Iterator[tuple[Any, SchemaNode]]:
        """Yield index or name and schema for each entry in the list or object of a keyword."""
        children = self.schema.get(keyword, ())
        names = children if isinstance(children, dict) else range(len(children))
        for name in names:
            yield name, self.child(keyword, name)

    def target(self) -> SchemaNode:
        """Return the target of the `$ref` of this schema."""
        pointer = unquote(self.schema["$ref"].removeprefix("#"))
        return SchemaNode(self.document, pointer, resolved(self.document.schema, pointer))

    def text(self) -> str:
        """Return a text that is equal for the same schema; "" if it has references."""
        return self.document.text(self)


class SchemaDocument:
    """One schema; `fault` is the reason if it cannot be compared, otherwise ""."""

    def __init__(self, schema: object, noted: Collection[str] | None = ()) -> None:
        """Read a JSON Schema; `noted` has the pointers of formats that no codec checks, None for all."""
        self.number = next(_NUMBERS)
        self.written = schema
        read = upgraded(schema)
        self.fault = ""
        if isinstance(read, SchemaProblem):
            at = f"at {printable(read.pointer)} " if read.pointer else ""
            self.fault, read = f"{at}it {read.message}", {}
        self.schema = read
        for pointer in list(format_pointers(read)) if noted is None else noted:
            holder = resolved(read, pointer.rpartition("/")[0])
            if isinstance(holder, dict):
                holder.pop("format", None)
        self.root = SchemaNode(self, "", read)
        self._texts: dict[str, str] = {}
        self._uri = f"urn:toolgen:{self.number}"
        try:
            self._registry = rs.Registry([(self._uri, read)])
            self.accepts((self.root,), None)
        except (ValueError, rs.ReferencingError) as error:
            self.fault = self.fault or f"it cannot be checked: {printable(str(error).splitlines()[0][:200])}"

    def text(self, node: SchemaNode) -> str:
        """Return the text of a place, "" if it has references."""
        if node.pointer not in self._texts:
            text = json.dumps(node.schema, sort_keys=True)
            self._texts[node.pointer] = "" if '"$ref"' in text else text
        return self._texts[node.pointer]

    def accepts(self, nodes: tuple[SchemaNode, ...], value: Any) -> bool:
        """Return whether places of this document all accept a value."""
        return bool(_validator(self, tuple(node.pointer for node in nodes))(value))

    def validator(self, pointers: tuple[str, ...]) -> Any:
        """Return a function that checks whether all these places of the document accept a value."""
        places = [{"$ref": f"{self._uri}#{quote(pointer, safe=_SAFE)}"} for pointer in pointers]
        return rs.Draft202012Validator(
            {"allOf": places},
            registry=self._registry,
            offline=True,
            validate_formats=True,
            formats=dict(FORMATS),
            keywords=dict(KEYWORDS),
        ).is_valid


@lru_cache(_MOST_VALIDATORS)
def _validator(document: SchemaDocument, pointers: tuple[str, ...]) -> Any:
    return document.validator(pointers)


def accepts(nodes: tuple[SchemaNode, ...], value: object) -> bool:
    """Return whether all these places accept a value."""
    return all(node.document.accepts((node,), value) for node in nodes)


@lru_cache(16_384)
def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern matches somewhere in a text, by the rules of ECMA-262."""
    return bool(rs.Draft202012Validator({"pattern": pattern}).is_valid(text))


def lone(schema: object) -> SchemaNode:
    """Return the root of a new document with this schema, for example `{"type": "string"}`."""
    return _alone(json.dumps(schema, sort_keys=True))


@lru_cache(1_024)
def _alone(text: str) -> SchemaNode:
    return SchemaDocument(json.loads(text)).root

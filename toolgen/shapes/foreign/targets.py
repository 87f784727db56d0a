"""Targets of the references in a schema, inside the schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote, urljoin

from toolgen.contract.json_pointer import tokens_of
from toolgen.contract.json_value import Json

from ..keywords import MAPS, REFERENCES, VALUES

_NAMED: Final = MAPS | {"dependencies"}
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")
_IDS: Final = ("$id", "id")
"""Keywords that name a schema; `id` is one only in draft-04."""
_HOME: Final = "https://root.invalid/"
"""Address of a schema without one."""
_SEGMENT: Final = "[A-Za-z0-9_-][A-Za-z0-9._-]*"
_PLAIN: Final = re.compile(rf"(https?://[a-z0-9.-]+/)?({_SEGMENT}/)*{_SEGMENT}")
"""Addresses that all resolvers of RFC 3986 interpret alike."""
_OF_DRAFTS: Final = "json-schema.org"
"""Host of the metaschemas, which a validator knows by itself."""
_INDEX: Final = re.compile(r"0|[1-9][0-9]*")
_SEVERAL: Final = object()


class Targets:
    """Finds the targets of the references in one schema, for counting."""

    def __init__(self, root: Json) -> None:
        self.fault = ""
        """A name or a reference that can lead to more than one place; "" if there is none."""
        self._root = root
        self._by_reference: dict[tuple[str, str], Json] = {}
        self._bases: dict[int, str] = {}
        """The address of the schema that contains each part, by the `id` of the part."""
        self._resources: dict[str, object] = {_HOME: root}
        self._anchors: dict[str, object] = {}
        self._has_resources = False
        """Whether parts of the schema have their own addresses."""
        self._reads_id = isinstance(root, Mapping) and "draft-04" in str(root.get("$schema"))
        self._index()

    def of(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the targets of a schema's references; the root for an unknown target."""
        for word in REFERENCES:
            if isinstance(reference := schema.get(word), str):
                key = self._bases.get(id(schema), _HOME), reference
                if key not in self._by_reference:
                    self._by_reference[key] = self._find(*key)
                target = self._by_reference[key]
                if target is _SEVERAL or (
                    word == REFERENCES[-1] and (reference != "#" or self._has_resources)
                ):
                    self.fault = self.fault or reference
                    target = self._root
                yield target

    def _index(self) -> None:
        """Index the names of all parts, including parts that no known keyword holds."""
        waiting: list[tuple[Json, str, bool]] = [(self._root, _HOME, True)]
        while waiting:
            part, base, is_schema = waiting.pop()
            if isinstance(part, list):
                waiting += [(inner, base, is_schema) for inner in part]
            elif isinstance(part, Mapping):
                inner_base = self._named(part, base) if is_schema else base
                self._bases[id(part)] = inner_base
                waiting += [
                    (inner, inner_base, not is_schema or word not in _NAMED)
                    for word, inner in part.items()
                    if not is_schema or word not in VALUES
                ]

    def _named(self, schema: Mapping[str, Any], base: str) -> str:
        """Index the names of a schema; return its address."""
        dialect = schema.get("$schema")
        if isinstance(dialect, str) and ("draft-04" in dialect) != self._reads_id:
            self.fault = dialect
        for word in _IDS if self._reads_id else _IDS[:1]:
            if isinstance(name := schema.get(word), str):
                base = self._addressed(schema, base, name)
        for word in _ANCHORS:
            if isinstance(name := schema.get(word), str):
                self._anchors[name] = _SEVERAL if name in self._anchors else schema
        return base

    def _addressed(self, schema: Mapping[str, Any], base: str, name: str) -> str:
        """Index a schema's name, which can be an address; return the schema's address."""
        if name.startswith("#"):  # an anchor, up to draft-07
            self._anchors[name[1:]] = _SEVERAL if name[1:] in self._anchors else schema
            return base
        if schema is not self._root:
            self._has_resources = True
            if not _is_plain(name) or "$ref" in schema or not self._is_plain_root():
                self.fault = name  # up to draft-07, a name beside a reference is ignored
        if not _is_plain(name.removesuffix("#")):
            return base
        address = urljoin(base, name.removesuffix("#"))
        self._resources[address] = _SEVERAL if address in self._resources else schema
        return address

    def _is_plain_root(self) -> bool:
        name = self._own_name()
        return name is None or _is_plain(name.removesuffix("#"))

    def _own_name(self) -> str | None:
        name = self._root.get(_IDS[self._reads_id]) if isinstance(self._root, Mapping) else None
        return name if isinstance(name, str) else None

    def _find(self, base: str, reference: str) -> Any:
        """Return the target of a reference; `_SEVERAL` if it is not certain."""
        address, _, fragment = reference.partition("#")
        if address and not _is_plain(address):
            name = self._own_name() or ""
            is_own = name.removesuffix("#") == address and _OF_DRAFTS not in address
            node = self._root if is_own and not self._has_resources else _SEVERAL
        else:
            node = self._resources.get(urljoin(base, address) if address else base, _SEVERAL)
        if node is _SEVERAL:
            return _SEVERAL
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment, _SEVERAL)
        return self._below(node, tokens_of(fragment))

    def _below(self, node: Any, tokens: list[str]) -> object:
        base = self._bases.get(id(node))
        for token in tokens:
            if isinstance(node, Mapping | list) and id(node) in self._bases and self._bases[id(node)] != base:
                return _SEVERAL  # part of another schema
            if isinstance(node, Mapping) and token in node:
                node = node[token]
            elif isinstance(node, list) and _INDEX.fullmatch(token) and int(token) < len(node):
                node = node[int(token)]
            else:
                return _SEVERAL
        return node if isinstance(node, bool) or id(node) in self._bases else _SEVERAL


def _is_plain(address: str) -> bool:
    return _PLAIN.fullmatch(address) is not None and _OF_DRAFTS not in address

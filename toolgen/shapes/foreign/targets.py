"""What references of a schema lead to, inside the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from toolgen.contract.json_pointer import tokens_of

from .schema import REFERENCES

_ANCHORS: Final = ("$anchor", "$dynamicAnchor")


class Targets:
    """Finds what the references of one schema lead to, for those who count: it resolves no base URI."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._by_reference: dict[str, Any] = {}

    def of(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the schemas that the references of a schema lead to; the root for one that is not found."""
        for word in REFERENCES:
            if isinstance(ref := schema.get(word), str):
                if ref not in self._by_reference:
                    target = self._find(ref)
                    self._by_reference[ref] = target if isinstance(target, Mapping | bool) else self._root
                yield self._by_reference[ref]

    def _find(self, ref: str) -> Any:
        base, _, fragment = ref.partition("#")
        node = self._root
        if base:
            name = base.rstrip("/").rpartition("/")[2]
            node = self._search(lambda part: str(part.get("$id", "")).partition("#")[0].endswith(name))
        if fragment and not fragment.startswith("/"):
            return self._search(lambda part: fragment in (part.get(word) for word in _ANCHORS))
        for key in tokens_of(unquote(fragment)):
            try:
                node = node[int(key) if isinstance(node, list) else key]
            except (KeyError, IndexError, TypeError, ValueError):
                return None
        return node

    def _search(self, fits: Any) -> Any:
        """Return the first part of the schema that fits, wherever it stands; None where none does."""
        waiting = [self._root]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Mapping):
                if fits(part):
                    return part
                waiting += part.values()
            elif isinstance(part, list):
                waiting += part
        return None

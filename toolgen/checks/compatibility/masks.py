"""Changes of the masks of sensitive values, in every type of a tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from toolgen.contract.json_pointer import escaped, tokens_of
from toolgen.contract.json_value import objects_in
from toolgen.contract.printable import printable

from .changes import ContractChange, change
from .contracts import Contract
from .documents import SchemaDocument, SchemaNode

Entry = Mapping[str, Any]

_UNLESS: Final = "~!"
_AGAIN: Final = "~^"
_EVERY: Final = "*"
"""The steps of a place that are not keys (`toolgen.shapes.sensitive`)."""
_OTHERS: Final = "additionalProperties"


def types_by_place(entry: Entry) -> dict[str, tuple[str, Entry]]:
    """Return the pointer and the entry of each part with a schema, by the part's display name."""
    named = {"payload": ("payload",), "result": ("result",), "approval": ("confirmation", "payload")}
    named |= {"acknowledgement": ("long_running", "ack"), "progress": ("long_running", "progress")}
    parts: dict[str, tuple[str, Entry]] = {}
    for words, path in named.items():
        part: Any = entry
        for key in path:
            part = part.get(key, {})
        if part:
            parts[words] = f"/{'/'.join(path)}", part
    for key, words, name in (("artifacts", "artifact", "kind"), ("errors", "error", "name")):
        for at, part in enumerate(entry.get(key, ())):
            parts[f"{words} {part[name]!r}"] = f"/{key}/{at}", part
    return parts


def mask_changes(
    tool: str,
    before: Entry,
    after: Entry,
    sides: tuple[Contract, Contract],
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[ContractChange]:
    """Yield added and removed masks of fields that both sides have; `renamed` has new argument names."""
    old, new = types_by_place(before), types_by_place(after)
    for words in old.keys() & new.keys():
        (where, part), (there, other) = old[words], new[words]
        if words == "payload":
            masks = [_renamed(place, renamed) for place in part.get("sensitive", ())]
            part = {**part, "sensitive": masks}
        if {*part.get("sensitive", ())} == {*other.get("sensitive", ())}:
            continue
        documents = sides[0].document(part), sides[1].document(other)
        places: dict[str, Any] = {"before": f"{where}/schema", "after": f"{there}/schema"}
        for place in _uncovered(other, documents[1], part, documents[0]):
            yield change(
                "sensitive-added",
                tool,
                f"{printable(place)} of the {words} is now masked",
                argument=place,
                **places,
            )
        for place in _uncovered(part, documents[0], other, documents[1]):
            message = f"{printable(place)} of the {words} is no longer masked"
            yield change("sensitive-removed", tool, message, argument=place, **places)


def _renamed(place: str, names: Mapping[str, str]) -> str:
    """Return the place of a mask, with the new name of its argument."""
    for old, new in names.items():
        beginning = f"/{escaped(old)}"
        if place == beginning or place.startswith(f"{beginning}/"):
            return f"/{escaped(new)}{place.removeprefix(beginning)}"
    return place


def _uncovered(
    masked_entry: Entry, masked_document: SchemaDocument, other_entry: Entry, other_document: SchemaDocument
) -> list[str]:
    """Return the masks of one side whose fields the other side can have but does not mask."""
    masks = [mask.split("/")[1:] for mask in other_entry.get("sensitive", ())]
    tags = _texts_in(masked_document.schema)
    return [
        place
        for place in sorted(set(masked_entry.get("sensitive", ())))
        if (other_document.fault or _is_there([other_document.root], place.split("/")[1:]))
        and not any(_covers(mask, place.split("/")[1:], tags) for mask in masks)
    ]


def _covers(mask: Sequence[str], place: Sequence[str], tags: set[str]) -> bool:
    """Return whether a mask covers a place; `tags` are the strings that the schema of the place lists."""
    if not mask:
        return True
    step = place[0] if place else ""
    is_branch = step.startswith(_UNLESS)
    if mask[0].startswith(_UNLESS):
        others = set(mask[0].split(_UNLESS)[2:]) - set(step.split(_UNLESS)[2:] if is_branch else ())
        return others.isdisjoint(tags) and _covers(mask[1:], place[1:] if is_branch else place, tags)
    if is_branch:
        return _covers(mask, place[1:], tags)
    return bool(place) and mask[0] in (_EVERY, step) and _covers(mask[1:], place[1:], tags)


def _texts_in(schema: Any) -> set[str]:
    """Return the strings that a schema lists in `const` and `enum`."""
    values = (each for part in objects_in(schema) for each in [part.get("const"), *_list(part.get("enum"))])
    return {each for each in values if isinstance(each, str)}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_there(nodes: Iterable[SchemaNode], steps: Sequence[str]) -> bool:
    """Return whether these steps lead to a place in one of the schemas."""
    reached = list(nodes)
    for step in steps:
        if step.startswith(_AGAIN):
            break
        if not step.startswith(_UNLESS):
            nodes = spread(reached)
            others = (node for node in nodes if isinstance(node.schema.get(_OTHERS), Mapping))
            reached = list(inside(nodes, step)) or [node.child(_OTHERS) for node in others]
    return bool(reached)


def spread(nodes: Iterable[SchemaNode]) -> list[SchemaNode]:
    """Return the schemas and all further schemas of the same value: references, `allOf` and branches."""
    reached: dict[object, SchemaNode] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node.key in reached or not isinstance(node.schema, Mapping):
            continue
        reached[node.key] = node
        waiting += [node.target()] if "$ref" in node.schema else []
        for keyword in ("allOf", "anyOf", "oneOf"):
            waiting += [part for _, part in node.children(keyword)]
    return list(reached.values())


def inside(nodes: Iterable[SchemaNode], step: str) -> Iterator[SchemaNode]:
    """Yield the schemas under a key, escaped as in a pointer; `*` is every item and every other key."""
    for node in nodes:
        if step == _EVERY:
            for keyword in ("items", _OTHERS):
                if isinstance(node.schema.get(keyword), Mapping):
                    yield node.child(keyword)
            for keyword in ("prefixItems", "patternProperties"):
                yield from (part for _, part in node.children(keyword))
        name = tokens_of(f"/{step}")[0]
        if name in node.schema.get("properties", ()):
            yield node.child("properties", name)

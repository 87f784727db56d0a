"""Repairs of a third-party schema: violations of JSON Schema that have only one sensible meaning.

They run before all readers of schemas, which are strict: in a design, in an import, and for a live server.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from toolgen.contract.json_pointer import ABSENT, escaped, resolved, tokens_of
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from ..keywords import MAPS
from .normal_form import KEYWORDS, SCHEMAS

_DEEPEST: Final = 100
"""Maximum depth that is repaired; the readers of schemas reject a deeper one."""
_MAY_BE_NULL: Final = frozenset(["const", "default", "type"])
"""Keywords that can have the value null, including `type`, whose null can mean the type."""
_OBJECTS: Final = MAPS | {"dependencies", "dependentRequired"}
_HOLDING: Final = _OBJECTS.union(SCHEMAS)
_REPAIRED: Final = _OBJECTS | {"required", "exclusiveMinimum", "exclusiveMaximum"}
"""Keywords that are looked at in one schema, besides null and lists of types."""
_BOUNDS: Final = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))
_IN_FRAGMENT: Final = "/~!$&'()*+,;=:@"


@frozen_record
class Repair:
    """A location that was repaired."""

    pointer: str
    """JSON Pointer into the schema (RFC 6901); empty at the root."""
    message: str
    hint: str


class _Place(NamedTuple):
    pointer: str
    schema: dict[str, Any]
    resource: str
    """Pointer of the innermost enclosing schema with an `$id`, which can be the schema itself."""
    anchor: str
    """Pointer of the innermost enclosing schema with `$recursiveAnchor`."""


def repair(root: object) -> list[Repair]:
    """Rewrite a schema in place to its obvious meaning; return the changes in order of their locations.

    Values are replaced and never changed, so that a copy of its objects is enough.
    """
    if not isinstance(root, dict):
        return []
    return _Repairs(root).run()


class _Repairs:
    def __init__(self, root: dict[str, object]) -> None:
        self._root = root
        self._repairs: list[Repair] = []
        self._places: dict[int, _Place] = {}
        self._references: dict[str, None] = {}
        """All references into the document; more can be added while they are followed."""
        self._words: set[str] = set()
        """All keywords of the document."""
        self._dialect = str(root.get("$schema") or "")

    def run(self) -> list[Repair]:
        self._take_draft_4()
        self._visit("", self._root, "", "", 0)
        followed = 0
        while followed < len(self._references):  # visit schemas that no keyword holds
            for reference in list(self._references)[followed:]:
                followed += 1
                pointer = unquote(reference[1:])
                self._visit(pointer, resolved(self._root, pointer), "", "", pointer.count("/"))
        self._tuples()
        if "$id" in self._words:
            self._ids()
        if not self._words.isdisjoint(("$recursiveAnchor", "$recursiveRef")):
            self._recursion()
        return sorted(self._repairs, key=lambda each: each.pointer)

    def _note(self, pointer: str, message: str, hint: str) -> None:
        self._repairs.append(Repair(pointer=pointer, message=message, hint=hint))

    def _take_draft_4(self) -> None:
        if "json-schema.org/draft-04/" in self._dialect:
            self._root["$schema"] = "http://json-schema.org/draft-06/schema#"
            self._note("/$schema", "names draft-04 and is read as draft-06", "rewrite it in 2020-12")

    def _visit(self, pointer: str, schema: object, resource: str, anchor: str, depth: int) -> None:
        if isinstance(schema, list):
            for at, part in enumerate(schema):
                self._visit(f"{pointer}/{at}", part, resource, anchor, depth + 1)
            return
        if not isinstance(schema, dict) or depth > _DEEPEST or id(schema) in self._places:
            return
        if (
            None in schema.values()
            or isinstance(schema.get("type"), list)
            or not _REPAIRED.isdisjoint(schema)
        ):
            self._local(pointer, schema)
        self._words.update(schema)
        if "$recursiveAnchor" in schema or "$id" in schema:
            anchor = pointer if schema.get("$recursiveAnchor") is True else anchor
            resource = pointer if has_address(schema) else resource
        self._places[id(schema)] = _Place(pointer, schema, resource, anchor)
        if isinstance(reference := schema.get("$ref"), str) and reference.startswith("#/"):
            self._references[reference] = None
        for key, value in () if _HOLDING.isdisjoint(schema) else schema.items():
            if key in SCHEMAS:
                if isinstance(value, (dict, list)):
                    self._visit(f"{pointer}/{key}", value, resource, anchor, depth + 1)
            elif key in _OBJECTS and isinstance(value, dict):
                for name, part in value.items():
                    if isinstance(part, dict):
                        self._visit(f"{pointer}/{key}/{escaped(name)}", part, resource, anchor, depth + 1)

    def _local(self, pointer: str, schema: dict[str, Any]) -> None:
        """Repair a schema without its subschemas."""
        nulls = [word for word, value in schema.items() if value is None] if None in schema.values() else ()
        for word in nulls:
            if word in KEYWORDS and word not in _MAY_BE_NULL:
                del schema[word]
                self._note(f"{pointer}/{word}", "is null and is ignored", "leave it out")
        for word in () if _OBJECTS.isdisjoint(schema) else schema.keys() & _OBJECTS:
            value = schema[word]
            empty = [word] if value == [] else []
            if isinstance(value, dict) and word in MAPS and [] in value.values():
                empty = [f"{word}/{escaped(name)}" for name, part in value.items() if part == []]
            if empty:
                members = {} if value == [] else value
                schema[word] = {name: {} if part == [] else part for name, part in members.items()}
            for place in empty:
                message = "is an empty list and is read as an empty object"
                self._note(f"{pointer}/{place}", message, "write {}")
        if "exclusiveMinimum" in schema or "exclusiveMaximum" in schema:
            self._bounds(pointer, schema)
        for word in ("required", "type"):
            if isinstance(names := schema.get(word), list) and (twice := _twice(names)):
                schema[word] = [*dict.fromkeys(names)]
                message = f"has {twice!r:.120} twice and is read as if once"
                self._note(f"{pointer}/{word}", message, "remove one of them")
        if "properties" in schema or "required" in schema:
            self._required_properties(pointer, schema)

    def _bounds(self, pointer: str, schema: dict[str, Json]) -> None:
        for exclusive, bound in _BOUNDS:
            if exclusive not in schema:
                continue
            flag, limit = schema[exclusive], schema.get(bound, 0)
            if not isinstance(flag, bool) or isinstance(limit, bool) or not isinstance(limit, (int, float)):
                continue
            del schema[exclusive]
            what = "ignored"
            if flag and bound in schema:
                schema[exclusive] = schema.pop(bound)
                what = f"read as the bound {limit}"
            if "draft-04" not in self._dialect:
                message = f"is {str(flag).lower()}, as in draft-04, and is {what}"
                self._note(f"{pointer}/{exclusive}", message, "write the bound itself, as a number")

    def _required_properties(self, pointer: str, schema: dict[str, Any]) -> None:
        if schema.get("required") is False:
            del schema["required"]
            message = "is false, as in draft-03, and is ignored"
            self._note(f"{pointer}/required", message, "leave it out")
        properties, names = schema.get("properties"), schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(names, list):
            return
        required = [
            name
            for name, property_ in properties.items()
            if isinstance(property_, dict) and property_.get("required") is True
        ]
        for name in required:
            del properties[name]["required"]
            message = f"is true, as in draft-03, and is read as requiring {name!r:.120}"
            place = f"{pointer}/properties/{escaped(name)}/required"
            self._note(place, message, "list the property in `required` of the object")
        if required:
            listed_names = {name for name in names if isinstance(name, str)}
            schema["required"] = [*names, *(name for name in required if name not in listed_names)]

    def _tuples(self) -> None:
        """Read `items` as a list, as in drafts before 2020-12, in documents of draft 2020-12."""
        is_2020 = not self._dialect or "2020-12" in self._dialect
        places = [place for place in self._places.values() if isinstance(place.schema.get("items"), list)]
        if not places or not is_2020 or any(map(_leads_into_items, self._references)):
            return
        for place in places:
            schema = place.schema
            if "prefixItems" not in schema:
                first = schema["items"]
                del schema["items"]
                if first:
                    schema["prefixItems"] = first
                if "additionalItems" in schema:
                    schema["items"] = schema.pop("additionalItems")
                message = "is a list, as in drafts before 2020-12, and is read as 'prefixItems'"
                self._note(f"{place.pointer}/items", message, "write prefixItems")

    def _ids(self) -> None:
        """Ignore an `$id` if it is not an address, or if the references show that it is not intended."""
        local: defaultdict[str, list[str]] = defaultdict(list)
        is_referred_to = False
        for place in self._places.values():
            if isinstance(reference := place.schema.get("$ref"), str):
                is_referred_to |= reference[:1] != "#"
                local[place.resource].append(unquote(reference[1:]))
        for place in self._places.values():
            id_, schema = place.schema.get("$id"), place.schema
            if not place.pointer or not isinstance(id_, str):
                continue
            message = ""
            if id_.startswith("#/") and "draft-0" not in self._dialect:
                message = "is a fragment and is ignored"
            elif not (is_referred_to or id_.startswith("#")):
                inner = local[place.pointer]
                astray = next((ref for ref in inner if resolved(schema, ref) is ABSENT), None)
                if astray and all(resolved(self._root, ref) is not ABSENT for ref in inner):
                    missing = f"#{astray}"
                    message = f"is an address without {missing!r:.120} and is ignored"
            if message:
                del schema["$id"]
                self._note(f"{place.pointer}/$id", message, "remove it, or refer to schemas inside it")

    def _recursion(self) -> None:
        """Read the recursion of 2019-09 as plain references.

        They are equivalent if no nested schema has an address.
        """
        if any(place.pointer and has_address(place.schema) for place in self._places.values()):
            return
        is_known = "2019-09" in self._dialect
        for place in self._places.values():
            schema = place.schema
            if isinstance(schema.get("$recursiveAnchor"), bool):
                del schema["$recursiveAnchor"]
                if not is_known:
                    message = "belongs to draft 2019-09 and is read as the target of '$recursiveRef'"
                    self._note(f"{place.pointer}/$recursiveAnchor", message, "remove it, and use $ref")
            if schema.get("$recursiveRef") == "#":
                del schema["$recursiveRef"]
                reference = f"#{quote(place.anchor, safe=_IN_FRAGMENT)}"
                if "$ref" in schema:
                    listed = schema.get("allOf")
                    schema["allOf"] = [*(listed if isinstance(listed, list) else ()), {"$ref": reference}]
                else:
                    schema["$ref"] = reference
                if not is_known:
                    message = f"belongs to draft 2019-09 and is read as the reference {reference!r:.120}"
                    self._note(f"{place.pointer}/$recursiveRef", message, "write it as $ref")


def has_address(schema: dict[str, Json]) -> bool:
    """Return whether a schema has an `$id` that is not an anchor, as `#name` was until draft-07."""
    return isinstance(id_ := schema.get("$id"), str) and not id_.startswith("#")


def _twice(names: list[Json]) -> str:
    """Return the most frequent text in a list of texts; empty if each occurs once."""
    if not all(isinstance(name, str) for name in names) or len(set(names)) == len(names):
        return ""
    return str(Counter(names).most_common(1)[0][0])


def _leads_into_items(reference: str) -> bool:
    tokens = tokens_of(unquote(reference[1:]))
    return "additionalItems" in tokens or any(
        token == "items" and after.isdecimal() for token, after in pairwise(tokens)
    )

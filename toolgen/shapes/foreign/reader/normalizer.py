"""Conversion to the normal form, the part of a schema that Python types hold: `shapes/foreign/nodes.py`.

A node accepts what its schema accepts, or more; if it accepts more, the keyword is noted as lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from ... import naming
from ...constraints import FLAGS, lengths_of
from ..nodes import MEANINGS, Node, inner, leads_on, nodes_in, reference, target, with_enum
from . import scalars, unions
from .keywords import ANNOTATIONS, CONSTRAINTS, TYPED_KEYWORDS, Schema, Subschema, accepts_all, effective
from .merging import NEVER, Merger, named_types
from .names import ClassNames, branch_name
from .objects import ClassBuilder, InnerSchemas, as_map, is_map
from .schema_index import SchemaIndex

_DEEPEST: Final = 40
"""Maximum nesting depth of arrays, maps and unions without an object between them."""
_MOST_BRANCHES: Final = 1_000
"""Maximum number of union branches, except choices among values: type checkers compare each pair."""
_MOST_LEVELS: Final = 50
"""Maximum nesting depth of objects, arrays, maps and unions.

pydantic needs about fourteen stack frames for a level, and Python has a thousand in total.
"""

_UNTYPED: Final = ("not", "if", "$dynamicRef", "$recursiveRef")
"""Keywords for values of any type that no type can hold."""
_PLAIN: Final = frozenset(("type", *ANNOTATIONS))
_SCALARS: Final = ("string", "integer", "number", "boolean")
_UNIONS: Final = frozenset(("anyOf", "enum"))
_FLAGS: Final = tuple(row.keyword for row in FLAGS)
_LEAST, _MOST = lengths_of("array")
_SIZES_OF_MAPS: Final = lengths_of("map")


class SchemaNormalizer:
    """Converts one indexed schema into the normal form; objects become classes."""

    def __init__(self, survey: SchemaIndex, name: str, *, refused_defaults: set[str]) -> None:
        self.unsupported: set[str] = set()
        self.merger = Merger(survey, self.unsupported)
        self.classes: dict[str, Node] = {}
        self.root: Node = {}
        self._survey = survey
        self._names = ClassNames(name)
        self._refused_defaults = refused_defaults
        self._class_of: dict[int, str] = {}
        self._waiting: deque[tuple[str, Schema]] = deque()
        self._done: dict[int, Node] = {}
        self._open: set[int] = set()
        self._exclusive: list[list[Node]] = []
        self._rests: dict[int, Schema] = {}
        self._budget = 10_000 + 20 * len(survey.places)

    def run(self, schema: Schema, *, arguments: bool) -> None:
        """Fill `root`, `classes` and `unsupported`."""
        followed = self.merger.follow(schema)
        if arguments:
            self._take_arguments(schema, followed)
        else:
            self.root = self.node(followed, self._names.root)
        while self._waiting:
            name, flat = self._waiting.popleft()
            self.classes[name] = ClassBuilder(self._inner(), name, flat).node()
        disjointness = unions.Disjointness(self.classes)
        if not all(disjointness.exclusive(nodes) for nodes in self._exclusive):
            self.unsupported.add("oneOf")
        self._flatten()
        self._finish()

    def _take_arguments(self, schema: Schema, followed: Subschema) -> None:
        """Convert the root to a class in any case; arguments of another type never reach it."""
        flat = self.merger.flat(schema)
        if flat is NEVER:
            self.unsupported.add("not")
            flat = {}
        if named_types(flat.get("type", [])) != ["object"] or "enum" in flat or "const" in flat:
            self.unsupported.add("type" if "type" in flat else "$ref")
            flat = {**flat, "type": "object"}
        # A schema that declares `object` itself is this class everywhere it is referenced.
        is_class = isinstance(followed, dict) and self.merger.flat(followed).get("type") == "object"
        name = self._names.take(self._names.root)
        self.unsupported.update(effective(flat, *_UNTYPED, "enum", "const"))
        self._class_of[id(followed if is_class else schema)] = name
        self._waiting.append((name, flat))
        self.root = reference(name)

    def node(self, schema: Subschema, name: str) -> Node:
        """Return the node of a schema; `name` is the class name if it is an object."""
        self._budget -= 1
        if self._budget < 0:
            self.unsupported.add("$ref")
            return {}
        followed = self.merger.follow(schema)
        flat = NEVER if isinstance(followed, bool) else self.merger.flat(followed)
        if isinstance(followed, bool) or flat is NEVER:
            if followed is not True:
                self.unsupported.add("not")
            return {}
        if followed is not schema:
            name = self._referred_name(schema, followed) or name
        key = id(followed)
        if key in self._done:
            self._budget -= sum(1 for _ in nodes_in(self._done[key]))
            return self._done[key]
        if key in self._open or len(self._open) >= _DEEPEST:
            self.unsupported.add("$ref")
            return {}
        self._open.add(key)
        self._done[key] = node = with_enum(self._shape(followed, flat, name), flat)
        self._open.remove(key)
        return node

    def _referred_name(self, schema: Subschema, followed: Schema) -> str:
        """Return the name of a schema's target, empty if the target is inside the schema."""
        at = self._survey.pointer(schema) if isinstance(schema, dict) else None
        pointer = self._survey.pointer(followed)
        is_inside = at is not None and pointer is not None and pointer.startswith(f"{at}/")
        return "" if pointer is None or is_inside else self._names.of_place(pointer)

    def _inner(self) -> InnerSchemas:  # created for each use, because a stored one would be a reference cycle
        return InnerSchemas(
            unsupported=self.unsupported, merger=self.merger, node=self.node, property=self._property
        )

    def _property(self, schema: Subschema, name: str, required: bool) -> Node:
        """Return the node of a property with the annotations beside it."""
        node = self.node(schema, name)
        if not isinstance(schema, dict):
            return node
        flat = schema if "$ref" in node else self.merger.flat(schema)
        notes: Node = {}
        for word in ANNOTATIONS:
            source = schema if word in schema else flat
            if word not in source:
                continue
            if word != "default" or not (required or not self._has_good_default(schema)):
                notes[word] = source[word]
        return {**node, **notes} if notes else node

    def _has_good_default(self, schema: Schema) -> bool:
        pointer = self._survey.pointer(schema)
        return (
            "default" in schema and pointer is not None and f"{pointer}/default" not in self._refused_defaults
        )

    def _shape(self, schema: Schema, flat: Schema, name: str) -> Node:
        if flat.keys() <= _PLAIN and flat.get("type") in _SCALARS:
            return {"type": flat["type"]}
        self.unsupported.update(effective(flat, *_UNTYPED))
        union = effective(flat, "anyOf", "oneOf")
        if "enum" in flat or "const" in flat:
            self.unsupported.update(union)
            nodes = scalars.enumerated(flat, self.unsupported)
            if nodes:
                return unions.join(nodes)
            self.unsupported.add("enum")
            rest = {word: value for word, value in flat.items() if word not in ("enum", "const")}
            return self._typed(schema, rest, name)
        return self._union(schema, flat, union[0], name) if union else self._typed(schema, flat, name)

    def _joined(self, nodes: list[Node]) -> Node:
        if not nodes:
            self.unsupported.add("not")
            return {}
        if len(nodes) == 1 and _UNIONS.isdisjoint(nodes[0]):
            return nodes[0]
        joined = unions.join(nodes)
        if len(joined.get("anyOf", ())) > _MOST_BRANCHES:
            self.unsupported.add("anyOf")
            return {}
        return joined

    def _union(self, schema: Schema, flat: Schema, word: str, name: str) -> Node:
        rest = {key: value for key, value in flat.items() if key != word and key in CONSTRAINTS}
        if rest.get("properties") and "object" in named_types(rest.get("type", "object")):
            if len(named_types(rest.get("type", []))) != 1:
                self.unsupported.add(word)
            return self._typed(schema, flat, name)
        branches = [branch for branch in self._branches(flat, word, rest) if not self.merger.is_never(branch)]
        objects = {id(branch) for branch in branches if self._is_object(branch)}
        nodes: list[Node] = []
        for branch in branches:
            inner_name = self._inner_name(name, "value")
            if len(objects) > 1 and id(branch) in objects and isinstance(branch, dict):
                inner_name = branch_name(name, len(nodes) + 1, self._titled(branch))
            nodes.append(self._explained(self.node(branch, inner_name), branch))
        if word == "oneOf" and len(nodes) > 1:
            self._exclusive.append(nodes)
        return self._joined(nodes)

    def _explained(self, node: Node, branch: Subschema) -> Node:
        """Return the node of a branch; for a single value, its title or description becomes the meaning."""
        if len(node.get("enum", ())) != 1 or not isinstance(branch, dict):
            return node
        followed = self.merger.follow(branch)
        if not isinstance(followed, dict):
            return node
        texts = [
            text.strip()
            for word in ("title", "description")
            for source in ({**self.merger.flat(followed), **branch},)
            if isinstance(text := source.get(word), str) and text.strip() not in ("", str(node["enum"][0]))
        ]
        return {**node, MEANINGS: [": ".join(dict.fromkeys(texts))]} if texts else node

    def _titled(self, branch: Schema) -> Schema:
        """Return a branch, or its target, with its own title."""
        followed = self.merger.follow(branch)
        assert isinstance(followed, dict), "a branch that is an object is no boolean"
        return {**self.merger.flat(followed), **({"title": branch["title"]} if "title" in branch else {})}

    def _branches(self, flat: Schema, word: str, rest: Schema) -> list[Subschema]:
        """Return the branches, each merged with the other keywords of their schema."""
        rest = self._rests.setdefault(id(flat), rest)
        if accepts_all(rest):
            return list(flat[word])
        only_types = named_types(rest["type"]) if list(rest) == ["type"] else None
        branches: list[Subschema] = []
        for branch in flat[word]:
            followed = self.merger.follow(branch)
            types = self.merger.flat(followed).get("type") if isinstance(followed, dict) else None
            says_it = only_types and types and all(kind in only_types for kind in named_types(types))
            branches.append(branch if says_it else self.merger.both(rest, branch))
        return branches

    def _is_object(self, branch: Subschema) -> bool:
        followed = self.merger.follow(branch)
        return isinstance(followed, dict) and "object" in named_types(
            self.merger.flat(followed).get("type", [])
        )

    def _typed(self, schema: Schema, flat: Schema, name: str) -> Node:
        if "type" not in flat:
            self.unsupported.update(["type"] if effective(flat, *TYPED_KEYWORDS) else [])
            return {}
        kinds = named_types(flat["type"])
        inner_name = name if len(kinds) == 1 else self._inner_name(name, "value")
        return self._joined([self._of_type(kind, schema, flat, inner_name) for kind in kinds])

    def _of_type(self, kind: str, schema: Schema, flat: Schema, name: str) -> Node:
        match kind:
            case "string":
                return scalars.string(flat, self.unsupported)
            case "number":
                return scalars.number(flat, self.unsupported)
            case "integer":
                return scalars.integer(flat, self.unsupported)
            case "array":
                return self._array(flat, name)
            case "object":
                return self._object(schema, flat, name)
            case _:
                return {"type": kind}

    def _array(self, flat: Schema, name: str) -> Node:
        node: Node = {"type": "array", **scalars.sizes(flat, "array", self.unsupported)}
        self.unsupported.update(effective(flat, *_FLAGS, "prefixItems", "unevaluatedItems"))
        if effective(flat, "contains"):
            if accepts_all(flat["contains"]) and "maxContains" not in flat:
                node[_LEAST] = max(node.get(_LEAST, 0), int(flat.get("minContains", 1)))
            else:
                self.unsupported.add("contains")
        prefix, items = flat.get("prefixItems", []), flat.get("items", True)
        if self.merger.is_never(items):
            node[_MOST] = min(len(prefix), node.get(_MOST, len(prefix)))
            items = None
        kinds = [*prefix] if items is None else [*prefix, items]
        if any(accepts_all(kind) or self.merger.is_never(kind) for kind in kinds) or not kinds:
            return {**node, "items": {}}
        inner_name = self._inner_name(name, "item")
        return {**node, "items": self._joined([self.node(kind, inner_name) for kind in kinds])}

    def _inner_name(self, name: str, word: str) -> str:
        """Return the name of an object nested in a value with this name; the root's own name stays unused."""
        return naming.class_name(name, word) if name == self._names.root else name

    def _object(self, schema: Schema, flat: Schema, name: str) -> Node:
        if is_map(flat):
            return as_map(self._inner(), flat, self._inner_name(name, "value"))
        key = id(schema)
        if key not in self._class_of:
            self._class_of[key] = self._names.take(name)
            self._waiting.append((self._class_of[key], flat))
        return reference(self._class_of[key])

    def _flatten(self) -> None:
        """Remove nodes that are too deep for Python's stack; each class is entered once."""
        entered: set[str] = set()
        waiting: list[tuple[Node, int]] = [(self.root, 0)]
        while waiting:
            node, level = waiting.pop()
            name = target(node)
            if name in entered:
                continue
            parts = inner(node) if name is None else tuple(self.classes[name]["properties"].values())
            if parts and level + ("anyOf" in node) >= _MOST_LEVELS:
                self.unsupported.add("$ref")
                for word in [word for word in node if word not in ANNOTATIONS]:
                    del node[word]
            else:
                entered.update([name] if name else [])
                waiting += [(part, level + 1) for part in reversed(parts) if leads_on(part)]

    def _finish(self) -> None:
        """Tag the unions; keep only the classes that are used, in order of first use."""
        used: dict[str, Node] = {}
        waiting: list[Any] = [self.root]
        while waiting:
            at = waiting.pop()
            parts = inner(at)
            name = target(at)
            if name is not None and name not in used:
                used[name] = self.classes[name]
                parts = tuple(self.classes[name]["properties"].values())
            elif "anyOf" in at:
                tag = unions.tag_of(parts, self.classes)
                at.update({} if tag is None else {"discriminator": tag})
            if name is None:
                self._lose_sizes(parts)
            waiting += filter(leads_on, reversed(parts))
        self.classes = used

    def _lose_sizes(self, nodes: Iterable[Node]) -> None:
        """Remove the sizes of nested maps; types can only hold the sizes of attributes."""
        for node in nodes:
            for word in _SIZES_OF_MAPS:
                if node.pop(word, None) is not None:
                    self.unsupported.add(word)

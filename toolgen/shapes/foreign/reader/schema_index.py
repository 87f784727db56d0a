"""The index of all schemas in a document with their locations, and of the targets of references."""

from __future__ import annotations

import re
from collections import deque
from typing import Final
from urllib.parse import unquote, urljoin

from toolgen.contract.json_pointer import ABSENT, escaped, resolved

from ..repairs import has_address
from .keywords import IN_PLACE, Schema, Subschema, children, in_place
from .problems import SchemaProblem

MOST_IN_PLACE: Final = 10_000
"""Maximum number of schemas that apply to one value, with references expanded; the public corpora have 24."""
_ANCHOR: Final = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")
_ANCHORS: Final = frozenset(("$anchor", "$dynamicAnchor"))
_METASCHEMA: Final = "https://json-schema.org/draft/2020-12/"


class SchemaIndex:
    """The schemas of a document, found by known keywords and by references to anywhere."""

    def __init__(self, root: Schema, *, base: str = "") -> None:
        self.root = root
        self.places: dict[int, tuple[str, Schema]] = {}
        """JSON Pointer and schema by identity, in order of discovery."""
        self.unnamed: list[str] = []
        """Pointers of schemas that only a reference leads to, and no keyword."""
        self.targets: dict[int, Subschema | None] = {}
        """Targets of `$ref` by schema; None if only the whole contract determines the target."""
        self.problems: list[SchemaProblem] = []
        self._following: dict[int, tuple[int, ...]] = {}
        self._base = base
        self._anchors: dict[str, Schema] = {}
        self._embedded: set[int] = set()
        """Schemas below their own `$id`: references there have another base (Core 8.2.1)."""
        self._collect("", root)
        self._resolve()

    @property
    def has_resources(self) -> bool:
        """Whether nested schemas have their own `$id`, which can be relative to the root's `$id`."""
        return bool(self._embedded)

    def is_embedded(self, schema: Schema) -> bool:
        """Return whether references in a schema are relative to an `$id` inside the document."""
        return id(schema) in self._embedded

    def pointer(self, schema: Schema) -> str | None:
        place = self.places.get(id(schema))
        return place[0] if place else None

    def _collect(self, pointer: str, schema: object) -> list[tuple[str, Schema]]:
        """Add a schema and its nested schemas; return the new ones."""
        added: list[tuple[str, Schema]] = []
        waiting = deque([(pointer, schema, False)])
        while waiting:
            pointer, schema, embedded = waiting.popleft()
            if not isinstance(schema, dict) or id(schema) in self.places:
                continue
            self.places[id(schema)] = pointer, schema
            added.append((pointer, schema))
            embedded = embedded or ("$id" in schema and bool(pointer) and has_address(schema))
            if embedded:
                self._embedded.add(id(schema))
            for word in () if embedded or _ANCHORS.isdisjoint(schema) else _ANCHORS:
                if isinstance(schema.get(word), str):
                    self._anchors.setdefault(schema[word], schema)
            waiting += [
                ("/".join((pointer, *map(escaped, tokens))), child, embedded)
                for tokens, child in children(schema)
                if isinstance(child, dict)
            ]
        return added

    def _resolve(self) -> None:
        waiting = deque(self.places.values())
        known: dict[str, Subschema] = {}
        while waiting:
            pointer, schema = waiting.popleft()
            ref = schema.get("$ref")
            if not isinstance(ref, str):
                continue
            target = None if id(schema) in self._embedded else known.get(ref)
            if target is None:
                target = self._target(pointer, schema, ref)
            if isinstance(target, dict):
                known[ref] = target
            self.targets[id(schema)] = target
            if isinstance(target, dict) and id(target) not in self.places:
                at = unquote(ref[ref.index("#") + 1 :])
                self.unnamed.append(at)
                waiting.extend(self._collect(at, target))

    def _target(self, pointer: str, schema: Schema, ref: str) -> Subschema | None:
        if id(schema) in self._embedded or ref.startswith(_METASCHEMA):
            return None
        local = local_part(ref, self._base)
        if local is None:
            if not self._embedded:
                message = f"refers to {ref!r:.200}, which is another document"
                hint = "copy the target into $defs and refer to it there"
                self._report(pointer, message, hint)
            return None
        target = self._anchors.get(local) if local and local[0] != "/" else resolved(self.root, local)
        if isinstance(target, (dict, bool)):
            return target
        if self._embedded and local[:1] != "/":
            return None
        missing = "which does not exist" if target is ABSENT or target is None else "which is not a schema"
        self._report(
            pointer, f"refers to {ref!r:.200}, {missing}", "add it to $defs, or remove the reference"
        )
        return None

    def cycles(self) -> list[SchemaProblem]:
        """Return each reference that leads back to itself for the same value, so that it never ends."""
        problems: list[SchemaProblem] = []
        done: set[int] = set()
        for start in self.places:
            if start not in done and self._next(start):
                problems += self._cycles_from(start, done)
        return problems

    def _cycles_from(self, start: int, done: set[int]) -> list[SchemaProblem]:
        problems: list[SchemaProblem] = []
        path = {start}
        stack = [(start, [*self._next(start)])]
        while stack:
            at, following = stack[-1]
            if not following:
                stack.pop()
                path.discard(at)
                done.add(at)
                continue
            then = following.pop()
            if then in path:
                pointer, schema = self.places[at]
                what = f"refers to {schema['$ref']!r:.200}" if "$ref" in schema else "uses a schema"
                message = f"{what}, which refers back to this schema for the same value"
                problems.append(
                    SchemaProblem(pointer=pointer, message=message, hint="remove one reference of the cycle")
                )
            elif then not in done:
                path.add(then)
                stack.append((then, [*self._next(then)]))
        return problems

    def multiplied(self) -> list[SchemaProblem]:
        """Return the innermost schema whose references expand to more schemas than can be checked.

        The references must not be circular. A schema that uses the returned one is at least as large.
        """
        sizes: dict[int, int] = {}
        waiting = [(at, False) for at in reversed(self.places) if self._next(at)]
        while waiting:
            at, is_counted = waiting.pop()
            if at in sizes:
                continue
            following = self._next(at)
            if not is_counted:
                waiting += [(at, True), *((then, False) for then in following if self._next(then))]
                continue
            sizes[at] = 1 + sum(sizes.get(then, 1) for then in following)
            if sizes[at] > MOST_IN_PLACE:
                message = f"has references that expand to more than {MOST_IN_PLACE} schemas"
                hint = "refer to each schema once, or remove redundant alternatives"
                return [SchemaProblem(pointer=self.places[at][0], message=message, hint=hint)]
        return []

    def _next(self, at: int) -> tuple[int, ...]:
        """Return the schemas that apply to the same value as this schema."""
        following = self._following.get(at)
        if following is None:
            schema = self.places[at][1]
            after = [] if IN_PLACE.isdisjoint(schema) else [*map(id, in_place(schema))]
            after += [id(self.targets[at])] if at in self.targets else []
            following = tuple([step for step in after if step in self.places]) if after else ()
            self._following[at] = following
        return following

    def _report(self, pointer: str, message: str, hint: str) -> None:
        self.problems.append(SchemaProblem(pointer=pointer, message=message, hint=hint))


def local_part(ref: str, base: str) -> str | None:
    """Return the fragment of a reference into the same document, or None for another document."""
    document, _, fragment = ref.partition("#")
    if document and not (base and urljoin(base, document) == base):
        return None
    return unquote(fragment)


def is_anchor(name: str) -> bool:
    return _ANCHOR.fullmatch(name) is not None

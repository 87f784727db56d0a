"""Reader of the schemas of types and objects, in which marks represent types."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final

from toolgen.contract.record import frozen_record
from toolgen.shapes.foreign.nodes import Classes, Node, reference, target, targets
from toolgen.shapes.foreign.reader import Reading, read

from . import codes
from .clauses_built import NotExpressibleError
from .openapi_cuts import Cut, TypeKey, mark_of, notes_of_part, plain_object


@frozen_record(kw_only=False)
class ReadObject:
    """Normal form of an object, or of an object whose single property is a union."""

    root: Node
    classes: Classes
    inexact: tuple[str, ...] = ()
    """Properties whose complete schema the types cannot express."""


_LONGEST_KNOWN: Final = 10_000


class CutReader:
    """Reader of schemas; `find` receives the findings."""

    def __init__(self, find: Callable[..., None]) -> None:
        self._find = find
        self._known: dict[str, Reading] = {}
        """Readings of objects without unmarked types, by text, because many answers are alike."""

    def union(self, cut: Cut, name: str, failed: Collection[TypeKey]) -> ReadObject:
        """Return an object whose single property is the union.

        Raises:
            NotExpressibleError: A branch is not an object, or `failed` to become a type.
        """
        reading = read({**cut.of({"x": cut.schema}), "required": ["x"]}, name=name, arguments=True)
        if reading.foreign is None or not reading.foreign.is_exact:
            raise NotExpressibleError("the types cannot express the whole union")
        root, classes = reading.foreign.root, reading.foreign.classes
        union = classes[target(root) or ""]["properties"]["x"]
        if "discriminator" not in union:
            raise NotExpressibleError("the union has branches that are not objects")
        branches = [cut.keys.get(mark_of(classes[branch], cut)) for branch, _ in targets(union)]
        if any(branch and branch.tag and branch in failed for branch in branches):
            raise NotExpressibleError("a branch of the union cannot be a type")
        return ReadObject(root, classes)

    def object(self, cut: Cut, name: str) -> ReadObject:
        """Return an object; the schemas of inexact properties are left out.

        Raises:
            NotExpressibleError: The types cannot express the whole schema.
        """
        reading = self._whole(cut, name)
        if reading.foreign is not None:
            self._find_problems(reading, cut)
        if reading.foreign is not None and reading.foreign.is_exact:
            return ReadObject(reading.foreign.root, reading.foreign.classes)
        properties, required, is_open = plain_object(cut)
        inexact = [key for key, part in properties.items() if not _is_exact(part, cut, name)]
        rest = {key: {**notes_of_part(part)} if key in inexact else part for key, part in properties.items()}
        schema = {**cut.of(rest), "required": required}
        if not is_open:
            schema["additionalProperties"] = False
        reading = read(schema, name=name, arguments=True)
        if reading.foreign is None or not reading.foreign.is_exact:
            raise NotExpressibleError("the types cannot express the whole schema")
        return ReadObject(reading.foreign.root, reading.foreign.classes, tuple(inexact))

    def _whole(self, cut: Cut, name: str) -> Reading:
        text = repr(cut.complete_schema)
        if (known := self._known.get(text)) is not None and (renamed := _renamed(known, name)) is not None:
            return renamed
        reading = read(cut.complete_schema, name=name, arguments=True)
        foreign = reading.foreign
        if len(text) <= _LONGEST_KNOWN and foreign is not None and foreign.is_exact:
            own = target(foreign.root) or ""
            named = {to for node in foreign.classes[own]["properties"].values() for to, _ in targets(node)}
            if own not in named and all(mark_of(foreign.classes[each], cut) for each in named):
                self._known[text] = reading
        return reading

    def _find_problems(self, reading: Reading, cut: Cut) -> None:
        """Report the repairs in a schema, and the defaults that it rejects."""
        for problem in reading.problems:
            code = codes.REPAIRED_SCHEMA if problem.is_repair else codes.ODD_SCHEMA
            self._find(code, cut.source(problem.pointer), problem.message, problem.hint)


def _renamed(reading: Reading, name: str) -> Reading | None:
    """Return the reading of an object under another name; None if a class already has the name."""
    foreign = reading.foreign
    assert foreign is not None, "only what was read is known"
    own = target(foreign.root)
    if own != name and name in foreign.classes:
        return None
    classes = {name if each == own else each: class_ for each, class_ in foreign.classes.items()}
    return replace(reading, foreign=replace(foreign, root=reference(name), classes=classes))


def _is_exact(part: object, cut: Cut, name: str) -> bool:
    reading = read(cut.of({"x": part}), name=name, arguments=True)
    return reading.foreign is not None and reading.foreign.is_exact

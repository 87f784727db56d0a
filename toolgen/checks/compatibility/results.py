"""Changes of the result, the artifacts and the errors of a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .changes import ContractChange, change, key_of, place, properties_of
from .containment import contains
from .contracts import Contract
from .documents import SchemaDocument
from .proof import Gap

_LATE: Final = {"ack": "the acknowledgement", "progress": "the progress"}
_OF_BOUNDED: Final = frozenset(("returned", "total", "truncated", "refinement_hint", "next_cursor"))
"""Fields of a bounded result, which the change of `bounded` covers."""

Entry = Mapping[str, Any]


def late_changes(
    tool: str, before: Entry, after: Entry, sides: tuple[Contract, Contract]
) -> Iterator[ContractChange]:
    """Yield the changes of the acknowledgement and the progress of a long-running tool."""
    old, new = before.get("long_running"), after.get("long_running")
    if old is None or new is None:
        return
    for key, words in _LATE.items():
        part = f"/long_running/{key}"
        if key in old and key in new:
            documents = sides[0].document(old[key]), sides[1].document(new[key])
            yield from result_changes(tool, *documents, is_bounded_new=False, part=part, words=words)
        elif key in old:
            yield change("result-field-removed", tool, f"{words} no longer has a schema", before=part)


def result_changes(
    tool: str,
    before: SchemaDocument,
    after: SchemaDocument,
    *,
    is_bounded_new: bool,
    part: str = "/result",
    words: str = "the result",
) -> Iterator[ContractChange]:
    """Yield the changes of a result; `is_bounded_new` is true if its bounds were added or removed."""
    old, new = properties_of(before), properties_of(after)
    bounds = _OF_BOUNDED if is_bounded_new else frozenset()
    is_wrong = bool(before.fault or after.fault)  # its fields are unknown
    removed = [name for name in old if name not in new and name not in bounds and not is_wrong]
    for name in removed:
        where: dict[str, Any] = {"before": place(part, f"/properties/{name}"), "argument": name}
        yield change("result-field-removed", tool, f"field {name!r} of {words} was removed", **where)
    for gap in contains(before, after):
        name = key_of(gap)
        if (gap.path[:1] or (gap.name,))[0] in {*removed, *bounds}:
            continue
        places: dict[str, Any] = {
            "before": place(part, gap.large),
            "after": place(part, gap.small),
            "argument": name,
        }
        if gap.keyword == "required":
            message = f"field {name!r} of {words} became optional"
            yield change("result-optional", tool, message, gap=gap, **places)
        elif gap.keyword == "additionalProperties" and gap.name:
            message = f"field {name!r} of {words} was added, but the old schema allows no other fields"
            yield change("result-field-added", tool, message, gap=gap, **places)
        else:
            what = f"field {name!r} of {words}" if name else words
            message = f"{what} can have values that it could not have: the old schema {gap.reason}"
            yield change("result-widened", tool, message, gap=gap, **places)
    added = [name for name in new if name not in old and name not in bounds]
    if added and not contains(before, after):
        for name in added:
            place_of_it: dict[str, Any] = {"after": place(part, f"/properties/{name}"), "argument": name}
            message = f"field {name!r} of {words} was added"
            yield change("result-field-added", tool, message, breaks="", **place_of_it)
    yield from _narrowed(tool, before, after, {*removed, *added, *bounds}, part, words)


def _narrowed(
    tool: str, before: SchemaDocument, after: SchemaDocument, listed: set[str], part: str, words: str
) -> Iterator[ContractChange]:
    """Yield new restrictions for the executor; undecided gaps are skipped."""
    for gap in contains(after, before):
        name = key_of(gap)
        if gap.is_undecided or (gap.path[:1] or (gap.name,))[0] in listed:
            continue
        places: dict[str, Any] = {
            "before": place(part, gap.small),
            "after": place(part, gap.large),
            "argument": name,
        }
        if gap.keyword == "required":
            message = f"field {name!r} of {words} is now always present"
            yield change("result-required", tool, message, **places)
        elif gap.keyword == "additionalProperties" and gap.name:
            yield change(
                "result-field-removed", tool, f"field {name!r} of {words} was removed", gap=gap, **places
            )
        else:
            what = f"field {name!r} of {words}" if name else words
            yield change(
                "result-narrowed", tool, f"{what} is narrower: the new schema {gap.reason}", gap=gap, **places
            )


def artifact_changes(
    tool: str, before: Entry, after: Entry, sides: tuple[Contract, Contract]
) -> Iterator[ContractChange]:
    """Yield the changes of artifacts, by their kinds."""
    old, new = (_by(entry, "artifacts", "kind") for entry in (before, after))
    for kind in old.keys() - new.keys():
        yield change("artifact-removed", tool, f"artifacts of the kind {kind!r} were removed", argument=kind)
    for kind in new.keys() - old.keys():
        yield change("artifact-added", tool, f"artifacts of the kind {kind!r} were added", argument=kind)
    yield from _parts("artifact-widened", tool, old, new, sides, "artifacts of the kind", "artifacts")


def error_changes(
    tool: str, before: Entry, after: Entry, sides: tuple[Contract, Contract]
) -> Iterator[ContractChange]:
    """Yield the changes of declared errors, by their names."""
    old, new = (_by(entry, "errors", "name") for entry in (before, after))
    for name in new.keys() - old.keys():
        yield change("error-added", tool, f"the error {name!r} was added", argument=name)
    for name in old.keys() - new.keys():
        yield change("error-removed", tool, f"the error {name!r} was removed", argument=name)
    yield from _parts("error-widened", tool, old, new, sides, "details of the error", "errors")


def _parts(
    code: str,
    tool: str,
    old: Mapping[str, Entry],
    new: Mapping[str, Entry],
    sides: tuple[Contract, Contract],
    what: str,
    key: str,
) -> Iterator[ContractChange]:
    """Yield a change for each part whose new schema accepts more than the old one, or lacks a field."""
    places = {name: f"/{key}/{at}" for at, name in enumerate(new)}
    for at, name in enumerate(old):
        if name not in new:
            continue
        before, after = sides[0].document(old[name]), sides[1].document(new[name])
        was, now = f"/{key}/{at}", places[name]
        for gap in removed_fields(after, before):
            message = f"field {key_of(gap)!r} of {what} {name!r} was removed"
            where = {"before": place(was, gap.small), "after": place(now, gap.large)}
            yield change("result-field-removed", tool, message, gap=gap, argument=name, **where)
        for gap in contains(before, after):
            message = f"{what} {name!r} can have values that they could not have: the old schema {gap.reason}"
            where = {"before": place(was, gap.large), "after": place(now, gap.small)}
            yield change(code, tool, message, gap=gap, argument=name, **where)


def removed_fields(after: SchemaDocument, before: SchemaDocument) -> list[Gap]:
    """Return the gaps of old fields that the new schema does not accept."""
    return [
        gap
        for gap in contains(after, before)
        if gap.keyword == "additionalProperties" and gap.name and not gap.is_undecided
    ]


def _by(entry: Entry, key: str, name: str) -> dict[str, Entry]:
    return {str(part[name]): part for part in entry.get(key, ())}

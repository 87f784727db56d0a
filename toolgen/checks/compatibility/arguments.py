"""Changes of the arguments of a tool, for callers and for executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from toolgen.contract.json_pointer import resolved
from toolgen.contract.json_value import Json, identity, objects_in

from .changes import ContractChange, change, key_of, place, properties_of
from .conjunctions import LIMITS, flatten, kind_of, required_of
from .containment import contains
from .defaults import default_changes
from .documents import SchemaDocument, SchemaNode
from .keywords import RULES
from .masks import spread
from .proof import Gap

_ABSENT: Final = object()
_TEXTS: Final = frozenset(("title", "description", "examples", "deprecated", "default", "$comment"))
_PART: Final = "/payload"
_OF_VALUES: Final = frozenset(("enum", "anyOf", "oneOf"))
"""Keywords whose gaps do not tell which limit a value exceeds."""


def argument_changes(
    tool: str, before: SchemaDocument, after: SchemaDocument, *, injected: tuple[set[str], set[str]]
) -> Iterator[ContractChange]:
    """Yield the changes of arguments; `injected` has the fields that the server filled before and after."""
    is_faulty = bool(before.fault or after.fault)
    new_arguments = set() if is_faulty else properties_of(after).keys() - properties_of(before).keys()
    for name in sorted(injected[0] - injected[1] - new_arguments):
        message = f"the server no longer fills {name!r}"
        yield change("inject-removed", tool, message, argument=name, breaks="")
    if is_faulty:
        yield from _of_faulty(tool, before, after)
        return
    old, new = properties_of(before), properties_of(after)
    removed, added = _without(old, new), _without(new, old)
    renamed = dict(_renamed(removed, added, old, new))
    for name in removed:
        if name in renamed:
            message = f"argument {name!r} was renamed to {renamed[name]!r}"
            witness = _witness(before, after, name)
            yield _change("argument-renamed", tool, message, name, witness, to=renamed[name])
        elif name in injected[1] - injected[0]:
            yield _change(
                "inject-added",
                tool,
                f"argument {name!r} is now filled by the server",
                name,
                _witness(before, after, name),
            )
        else:
            message, witness = f"argument {name!r} was removed", _witness(before, after, name)
            yield _change("argument-removed", tool, message, name, witness)
    required = required_of(flatten((after.root,)))
    gaps = contains(after, before)
    by_name = {gap.name: gap for gap in gaps if not gap.path and gap.keyword == "required"}
    for name in added:
        if name in renamed.values():
            continue
        if name in injected[0] - injected[1]:
            message = f"models have to send {name!r}, which the server filled before"
            made = _change("inject-removed", tool, message, name, by_name.get(name), is_new=True)
            yield made if name in required else replace(made, breaks="c")
        elif name in required:
            message = f"argument {name!r} was added, and is required"
            yield _change("argument-added-required", tool, message, name, by_name.get(name), is_new=True)
        else:
            yield _change("argument-added", tool, f"argument {name!r} was added", name, None, is_new=True)
    yield from _narrowed(tool, gaps, {*removed, *added})
    yield from _loosened(tool, before, after, {*removed, *added})
    yield from default_changes(tool, before, after)


def _of_faulty(tool: str, before: SchemaDocument, after: SchemaDocument) -> Iterator[ContractChange]:
    yield from _narrowed(tool, contains(after, before), set())
    if _has_limits(before.written):
        message = "the arguments might have looser limits: one of the schemas cannot be compared"
        yield change("limit-loosened", tool, message, after=_PART)


def _narrowed(tool: str, gaps: tuple[Gap, ...], listed: set[str]) -> Iterator[ContractChange]:
    for gap in gaps:
        name = key_of(gap)
        if not gap.path and gap.keyword in ("required", "additionalProperties") and gap.name in listed:
            continue
        places: dict[str, Any] = {
            "before": place(_PART, gap.small),
            "after": place(_PART, gap.large),
            "argument": name,
        }
        if gap.keyword == "required":
            yield change("argument-required", tool, f"argument {name!r} is now required", gap=gap, **places)
        elif gap.keyword == "additionalProperties" and gap.name:
            yield change("argument-removed", tool, f"argument {name!r} was removed", gap=gap, **places)
        else:
            message = f"{_subject(name, 'is', 'are')} narrower: the new schema {gap.reason}"
            yield change("argument-narrowed", tool, message, gap=gap, **places)


def _subject(name: str, singular: str, plural: str) -> str:
    """Return the subject of a sentence about one argument, all arguments, or arguments without names."""
    if name in ("", "[]"):
        return f"{'further' if name else 'the'} arguments {plural}"
    return f"argument {name!r} {singular}"


def _loosened(
    tool: str, before: SchemaDocument, after: SchemaDocument, listed: set[str]
) -> Iterator[ContractChange]:
    """Yield values that are newly accepted; undecided changes count only for limits."""
    for gap in contains(before, after):
        name = key_of(gap)
        is_limit = gap.keyword in LIMITS or _limits_values(before, gap)
        if gap.is_undecided or gap.keyword not in RULES:  # for example `if`: what it limits is unknown
            is_limit |= _has_limits(resolved(before.schema, gap.large))
        if (gap.is_undecided and not is_limit) or (gap.path[:1] or (gap.name,))[0] in listed:
            continue
        places: dict[str, Any] = {
            "before": place(_PART, gap.large),
            "after": place(_PART, gap.small),
            "argument": name,
        }
        if gap.keyword == "required":
            part = after.root.schema.get("properties", {}).get(gap.name) if not gap.path else None
            code = "argument-optional" if _default(part) is _ABSENT else "argument-defaulted"
            yield change(code, tool, f"argument {name!r} became optional", **places)
        elif gap.keyword == "additionalProperties" and gap.name:
            yield change("argument-added", tool, f"argument {name!r} was added", **places)
        elif is_limit:
            message = f"{_subject(name, 'has', 'have')} a looser limit: the old schema {gap.reason}"
            if gap.is_undecided:
                message += " (the limit might still hold)"
            shown = None if gap.is_undecided else gap
            yield change("limit-loosened", tool, message, gap=shown, **places)
        else:
            message = f"{_subject(name, 'takes', 'take')} more: the old schema {gap.reason}"
            yield change("argument-widened", tool, message, gap=gap, **places)


def _has_limits(schema: object) -> bool:
    return any(not LIMITS.isdisjoint(part) for part in objects_in(schema))


def _limits_values(before: SchemaDocument, gap: Gap) -> bool:
    """Return whether the old schema limited the kind of a new value that its enum or branches refuse."""
    if gap.keyword not in _OF_VALUES:
        return False
    nodes = spread([SchemaNode(before, gap.large, resolved(before.schema, gap.large))])
    limited = [flatten((node,)).kinds for node in nodes if not LIMITS.isdisjoint(node.schema)]
    kinds = {kind_of(value) for document in gap.witnesses for value in _values_at(document, gap.path)}
    return any(kinds & each for each in limited)


def _values_at(document: Json, path: Sequence[str]) -> list[Json]:
    """Return the values of a document at the path of a gap."""
    values = [document]
    for step in path:
        nested = [each for each in values if isinstance(each, list | dict)]
        pairs = [
            pair for each in nested for pair in (each.items() if isinstance(each, dict) else enumerate(each))
        ]
        values = [value for key, value in pairs if step in ("*", str(key))]
    return values


def _default(part: Any) -> object:
    return part.get("default", _ABSENT) if isinstance(part, Mapping) else _ABSENT


def _renamed(
    removed: list[str], added: list[str], old: Mapping[str, Json], new: Mapping[str, Json]
) -> Iterator[tuple[str, str]]:
    """Yield removed arguments for which exactly one added argument has the same schema."""
    for name in removed:
        alike = [other for other in added if _plain(old[name]) == _plain(new[other])]
        rivals = [other for other in removed if _plain(old[other]) == _plain(old[name])]
        if len(alike) == len(rivals) == 1:
            yield name, alike[0]


def _plain(part: Json) -> object:
    return identity(
        {key: value for key, value in part.items() if key not in _TEXTS}
        if isinstance(part, Mapping)
        else part
    )


def _witness(before: SchemaDocument, after: SchemaDocument, name: str) -> Gap | None:
    """Return the gap of a removed argument; None if the new schema accepts any key."""
    gaps = contains(after, before)
    return next(
        (gap for gap in gaps if not gap.path and gap.keyword == "additionalProperties" and gap.name == name),
        None,
    )


def _change(
    code: str, tool: str, message: str, name: str, gap: Gap | None, *, to: str = "", is_new: bool = False
) -> ContractChange:
    """Return a change of one argument of the root."""
    facts: dict[str, Any] = {"argument": name}
    if not is_new:
        facts["before"] = place(_PART, f"/properties/{name}")
    if is_new or to:
        facts["after"] = place(_PART, f"/properties/{to or name}")
    shown = gap if gap is not None and not gap.is_undecided else None
    return change(code, tool, message, gap=shown, **facts)


def _without(these: Mapping[str, Json], those: Mapping[str, Json]) -> list[str]:
    return [name for name in these if name not in those]

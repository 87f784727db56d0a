"""Changes of the approvals, limits, hints and texts of a tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from toolgen.contract.json_pointer import escaped, tokens_of
from toolgen.contract.json_value import Json, identity
from toolgen.contract.printable import printable

from .changes import ContractChange, TextChange, change, key_of, place
from .conjunctions import LIMITS
from .containment import contains
from .contracts import Contract, hints_of

Entry = Mapping[str, Any]

_APPROVAL: Final = "/confirmation/payload"
_NOTHING: Final[Mapping[str, Json]] = {"schema": {"type": "object", "additionalProperties": False}}
"""Payload of an approval without a type."""
_DERIVED: Final = frozenset(("id", "name", "service", "toolset", "digest", "output", "assumed_destructive"))
"""Keys of an entry that are derived or compared elsewhere, so their changes are not listed as texts."""
_ABOUT: Final = {
    "argument": "payload",
    "default": "payload",
    "inject": "inject",
    "result": "result",
    "bounded": "bounded",
    "artifact": "artifacts",
    "error": "errors",
    "confirmation": "confirmation",
    "long": "long_running",
    "deprecated": "deprecated",
}
"""Entry key of a change without pointers, by the first word of its code."""
_TEXTS: Final = frozenset(
    (
        *"title description instructions toolset_title toolset_instructions".split(),
        *"result_reminder hint call result".split(),
    )
)
"""Keys whose texts models and people read."""
_TEXTS_BY_NAME: Final = frozenset(("prompts",))
"""Keys of objects whose values are texts for models and people."""
_NAMES: Final = ("id", "kind", "name", "toolset", "const")
"""Keys that identify the objects of an array."""
_RUN_LIMITS: Final = (
    "max_tool_calls",
    "max_consecutive_failed_tool_calls",
    "time_budget",
    "plan_timeout",
    "tool_timeout",
)
"""Limits in the policy of an agent; without a key there is no limit."""
_SAFE: Final = {
    "readOnlyHint": True,
    "idempotentHint": True,
    "destructiveHint": False,
    "openWorldHint": False,
}
"""The value of each hint that promises more."""
_HINT_TEXTS: Final = {
    "readOnlyHint": ("is now read-only", "is no longer read-only"),
    "idempotentHint": ("is now idempotent", "is no longer idempotent"),
    "destructiveHint": ("no longer destroys anything", "can now destroy something"),
    "openWorldHint": ("now stays within its own system", "now reaches beyond its own system"),
}


def guard_changes(tool: str, before: Entry, after: Entry) -> Iterator[ContractChange]:
    """Yield the changes of approvals, limits, hints, acknowledgements and bounds."""
    yield from _confirmation(tool, before.get("confirmation"), after.get("confirmation"))
    yield from _run_limits(tool, before, after)
    old, new = hints_of(before), hints_of(after)
    for hint, safe in _SAFE.items():
        if old[hint] != new[hint]:
            is_gained = new[hint] == safe
            code = "hint-gained" if is_gained else "hint-lost"
            yield change(code, tool, f"it {_HINT_TEXTS[hint][not is_gained]}", argument=hint)
    if ("long_running" in before) != ("long_running" in after):
        is_new = "long_running" in after
        code, now = ("long-running-added", "later") if is_new else ("long-running-removed", "at once")
        yield change(code, tool, f"its result now comes {now}")
    if ("bounded" in before) != ("bounded" in after):
        is_new = "bounded" in after
        code = "bounded-added" if is_new else "bounded-removed"
        yield change(code, tool, f"its result is {'now bounded' if is_new else 'no longer bounded'}")


def _confirmation(tool: str, before: Entry | None, after: Entry | None) -> Iterator[ContractChange]:
    if before is None and after is not None:
        yield change("confirmation-added", tool, "a person now has to approve it")
    elif before is not None and after is None:
        yield change("confirmation-removed", tool, "it no longer needs approval")
    elif before is not None and after is not None:
        old, new = before.get("when", {}), after.get("when", {})
        if not _is_within(new, old):
            yield change("confirmation-added", tool, "a person has to approve it for more values than before")
        if not _is_within(old, new):
            yield change(
                "confirmation-narrowed", tool, "a person has to approve it for fewer values than before"
            )
        if after.get("grantable", False) and not before.get("grantable", False):
            yield change("confirmation-narrowed", tool, "one answer can now approve later calls too")


def _run_limits(tool: str, before: Entry, after: Entry) -> Iterator[ContractChange]:
    """Yield the looser limits of a tool: time, concurrent calls and number of calls."""
    if is_looser(before.get("timeout"), after.get("timeout")):
        yield _loosened(tool, "/timeout", before.get("timeout"), after.get("timeout"))
    turns = [(entry.get("sequential"), entry.get("sequential_by", "")) for entry in (before, after)]
    if turns[0][0] and turns[1] != turns[0] and not (turns[1][0] and not turns[1][1]):
        by_key = f"only calls with the same {turns[1][1]!r} now run one after another"
        message = by_key if turns[1][0] else "it now runs concurrently with other calls"
        yield _looser(tool, "/sequential", message)
    if after.get("bookkeeping") and not before.get("bookkeeping"):
        yield _looser(tool, "/bookkeeping", "its calls no longer count against the limits of a run")


def policy_changes(agent: str, before: Entry, after: Entry) -> Iterator[ContractChange]:
    """Yield the limits of the runs of an agent that are looser."""
    old, new = before.get("policy", {}), after.get("policy", {})
    for name in _RUN_LIMITS:
        if is_looser(old.get(name), new.get(name)):
            yield _loosened(agent, f"/policy/{name}", old.get(name), new.get(name))


def is_looser(old_value: Json, new_value: Json) -> bool:
    """Return whether a limit was raised or removed."""
    return isinstance(old_value, int | float) and not (
        isinstance(new_value, int | float) and new_value <= old_value
    )


def _loosened(tool: str, pointer: str, old_value: Json, new_value: Json) -> ContractChange:
    now = "none" if new_value is None else repr(new_value)
    return _looser(tool, pointer, f"the limit {tokens_of(pointer)[-1]} changed from {old_value!r} to {now}")


def _looser(tool: str, pointer: str, message: str) -> ContractChange:
    name = tokens_of(pointer)[-1]
    return change("limit-loosened", tool, message, argument=name, before=pointer, after=pointer)


def _is_within(when: Entry, other: Entry) -> bool:
    """Return whether the other condition requires approval whenever this one does, field by field."""
    return all(
        name in when and {*map(identity, when[name])} <= {*map(identity, values)}
        for name, values in other.items()
    )


def approval_changes(
    tool: str, before: Entry, after: Entry, sides: tuple[Contract, Contract]
) -> Iterator[ContractChange]:
    """Yield the changes of the payload of an approval; a missing payload counts as an empty object."""
    old, new = before.get("confirmation"), after.get("confirmation")
    if old is None or new is None or "payload" not in {*old, *new}:
        return
    documents = [
        side.document(each.get("payload", _NOTHING)) for side, each in zip(sides, (old, new), strict=True)
    ]
    for gap in contains(documents[1], documents[0]):
        places = {"before": place(_APPROVAL, gap.small), "after": place(_APPROVAL, gap.large)}
        message = f"the payload of an approval is narrower: the new schema {gap.reason}"
        yield change("argument-narrowed", tool, message, gap=gap, argument=key_of(gap), **places)
    for gap in contains(documents[0], documents[1]):
        facts: dict[str, Any] = {
            "before": place(_APPROVAL, gap.large),
            "after": place(_APPROVAL, gap.small),
            "argument": key_of(gap),
        }
        if gap.keyword == "required":
            message = f"an approval no longer requires {gap.name!r}"
            yield change("confirmation-narrowed", tool, message, **facts)
        elif gap.keyword in LIMITS:
            message = f"the payload of an approval has a looser limit: the old schema {gap.reason}"
            yield change("limit-loosened", tool, message, **facts)


def text_changes(
    tool: str, before: Entry, after: Entry, changes: Iterable[ContractChange]
) -> Iterator[ContractChange]:
    """Yield the remaining differences of an entry, and its deprecation."""
    explained = {_about(each) for each in changes}
    if "deprecated" in after and "deprecated" not in before:
        explained.add("deprecated")
        reason = printable(after["deprecated"].get("reason", ""))
        yield change("deprecated", tool, f"it is now deprecated: {reason}".rstrip(": "))
    old, new = _own_parts(before), _own_parts(after)
    yield from remaining_changes(tool, old, new, explained)


def remaining_changes(
    tool: str, before: Entry, after: Entry, explained: Iterable[str]
) -> Iterator[ContractChange]:
    """Yield the changed texts of an entry, and the keys that differ without another change."""
    texts = tuple(_texts(before, after, ""))
    known = {*explained}
    differing = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    keys = dict.fromkeys(key for key in differing if key not in known)
    keys |= dict.fromkeys(tokens_of(text.pointer)[0] for text in texts)
    if keys:
        message = f"changed texts or settings: {', '.join(keys)}"
        yield change("text-changed", tool, message, texts=texts)


def _about(change: ContractChange) -> str:
    """Return the key of an entry that a change is about."""
    tokens = (change.after or change.before).split("/")
    return tokens[1] if len(tokens) > 1 else _ABOUT.get(change.code.partition("-")[0], "")


def _own_parts(entry: Entry) -> dict[str, Json]:
    """Return the entry without derived keys, and without the hints, which have their own changes."""
    own_parts = {key: value for key, value in entry.items() if key not in _DERIVED}
    hints = {**hints_of(entry), **entry.get("annotations", {})}
    hints = {key: value for key, value in hints.items() if key not in _SAFE}
    return {**own_parts, "annotations": hints}


def _texts(before: Any, after: Any, pointer: str) -> Iterator[TextChange]:
    """Yield the texts that differ in parts that both sides have."""
    if isinstance(before, list) and isinstance(after, list):
        before, after = _by_name(before), _by_name(after)
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return
    of_names = pointer.rpartition("/")[2] in _TEXTS_BY_NAME
    for key in {**before, **after}:
        old_value, new_value = before.get(key, ""), after.get(key, "")
        where = f"{pointer}/{escaped(str(key))}"
        if not isinstance(old_value, str) or not isinstance(new_value, str):
            yield from _texts(old_value, new_value, where)
        elif old_value != new_value and (of_names or key in _TEXTS):
            yield TextChange(pointer=where, before=old_value, after=new_value)


def _by_name(items: Sequence[Json]) -> dict[object, Json]:
    """Return the items of an array by their name, or by index if they have none."""
    return {
        next((item[key] for key in _NAMES if isinstance(item.get(key), str)), place)
        if isinstance(item, Mapping)
        else place: item
        for place, item in enumerate(items)
    }

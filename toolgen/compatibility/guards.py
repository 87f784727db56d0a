"""What changed in how a tool is run: who is asked, what is promised and said of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from toolgen.contract.json_value import identity

from .changes import Change, change, key_of, place
from .containment import contains
from .contracts import Contract, hints_of

Entry = Mapping[str, Any]

_APPROVAL: Final = "/confirmation/payload"
_NOTHING: Final[Mapping[str, Any]] = {"schema": {"const": {}}}
"""What an approval without a type holds."""
_DERIVED: Final = frozenset(("id", "name", "service", "toolset", "digest", "output"))
"""Keys of an entry that say nothing of their own."""
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
"""The key that a change without a place is about, by the first word of its code."""
_PARTS: Final = ("payload", "result", "artifacts", "errors")
_SAFE: Final = {"readOnlyHint": True, "idempotentHint": True, "destructiveHint": False}
"""The value of each hint that promises more."""
_HINT_TEXTS: Final = {
    "readOnlyHint": ("only reads", "does not only read any more"),
    "idempotentHint": ("is idempotent", "is not idempotent any more"),
    "destructiveHint": ("destroys nothing any more", "may destroy something"),
}


def guard_changes(tool: str, before: Entry, after: Entry) -> Iterator[Change]:
    """Yield the changes of questions, hints and acknowledgements."""
    yield from _confirmation(tool, before.get("confirmation"), after.get("confirmation"))
    old, new = hints_of(before), hints_of(after)
    for hint, safe in _SAFE.items():
        if old[hint] != new[hint]:
            is_gained = new[hint] == safe
            code = "hint-gained" if is_gained else "hint-lost"
            yield change(code, tool, f"it {_HINT_TEXTS[hint][not is_gained]}", argument=hint)
    if ("long_running" in before) != ("long_running" in after):
        is_new = "long_running" in after
        code, now = ("long-running-added", "later") if is_new else ("long-running-removed", "at once")
        yield change(code, tool, f"its result comes {now} now")
    if ("bounded" in before) != ("bounded" in after):
        is_new = "bounded" in after
        code = "bounded-added" if is_new else "bounded-removed"
        yield change(
            code, tool, f"its result is {'a window on more now' if is_new else 'no window any more'}"
        )


def _confirmation(tool: str, before: Entry | None, after: Entry | None) -> Iterator[Change]:
    if before is None and after is not None:
        yield change("confirmation-added", tool, "a person has to agree, and nobody was asked before")
    elif before is not None and after is None:
        yield change("confirmation-removed", tool, "nobody is asked any more before it runs")
    elif before is not None and after is not None:
        old, new = before.get("when", {}), after.get("when", {})
        if not _is_within(new, old):
            yield change("confirmation-added", tool, "a person has to agree for more values than before")
        if not _is_within(old, new):
            yield change("confirmation-narrowed", tool, "a person is asked for fewer values than before")


def _is_within(when: Entry, other: Entry) -> bool:
    """Return whether the other condition asks a person wherever this one does; each field has to fit."""
    return all(
        name in when and {*map(identity, when[name])} <= {*map(identity, values)}
        for name, values in other.items()
    )


def approval_changes(
    tool: str, before: Entry, after: Entry, sides: tuple[Contract, Contract]
) -> Iterator[Change]:
    """Yield what a person may not add to an approval any more, or has to; nothing is an empty object."""
    old, new = before.get("confirmation"), after.get("confirmation")
    if old is None or new is None or "payload" not in {*old, *new}:
        return
    documents = [
        side.document(each.get("payload", _NOTHING)) for side, each in zip(sides, (old, new), strict=True)
    ]
    for gap in contains(documents[1], documents[0]):
        places = {"before": place(_APPROVAL, gap.small), "after": place(_APPROVAL, gap.large)}
        message = f"what a person adds to an approval is narrower: the new schema {gap.reason}"
        yield change("argument-narrowed", tool, message, gap=gap, argument=key_of(gap), **places)


def text_changes(tool: str, before: Entry, after: Entry, changes: Iterable[Change]) -> Iterator[Change]:
    """Yield what else is otherwise in an entry than the changes say, and whether it is deprecated now."""
    explained = {_about(each) for each in changes}
    if "deprecated" in after and "deprecated" not in before:
        explained.add("deprecated")
        yield change(
            "deprecated", tool, f"it is deprecated: {after['deprecated'].get('reason', '')}".rstrip(": ")
        )
    old, new = _left(before), _left(after)
    keys = [key for key in {**old, **new} if key not in explained and old.get(key) != new.get(key)]
    keys += [part for part in _PARTS if part in explained and _has_other_texts(old.get(part), new.get(part))]
    if keys:
        yield change("text-changed", tool, f"other words or settings: {', '.join(keys)}")


def _about(change: Change) -> str:
    """Return the key of an entry that a change is about."""
    tokens = (change.after or change.before).split("/")
    return tokens[1] if len(tokens) > 1 else _ABOUT.get(change.code.partition("-")[0], "")


def _left(entry: Entry) -> dict[str, Any]:
    """Return the entry without what is derived, and without the hints that have changes of their own."""
    left = {key: value for key, value in entry.items() if key not in _DERIVED}
    hints = {**hints_of(entry), **entry.get("annotations", {})}
    hints = {key: value for key, value in hints.items() if key not in _SAFE}
    return {**left, "annotations": hints}


def _has_other_texts(before: Any, after: Any) -> bool:
    """Return whether a title or a description is another one where both sides have one."""
    if isinstance(before, list) and isinstance(after, list):
        return any(map(_has_other_texts, before, after))
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return False
    return any(
        before[key] != after[key]
        if key in ("title", "description") and isinstance(before[key], str)
        else _has_other_texts(before[key], after[key])
        for key in before.keys() & after.keys()
    )

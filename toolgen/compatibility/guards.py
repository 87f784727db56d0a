"""What changed in how a tool is run: who is asked, what is promised and said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolgen.contract.json_value import identity

from .changes import Change, change
from .contracts import hints_of

Entry = Mapping[str, Any]

_TEXTS: Final = (
    *("title", "description", "tags", "icons", "hints", "timeout", "instructions", "result_reminder", "meta"),
    *(
        "toolset_title",
        "toolset_instructions",
        "needs",
        "sequential",
        "sequential_by",
        "terminal",
        "bookkeeping",
    ),
    *("bind_to", "kind", "agent", "annotations"),
)
"""Keys of an entry that say something of a tool, and refuse no document."""
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


def text_changes(tool: str, before: Entry, after: Entry) -> Iterator[Change]:
    """Yield what is said otherwise of a tool, and whether it is deprecated now."""
    if "deprecated" in after and "deprecated" not in before:
        yield change(
            "deprecated", tool, f"it is deprecated: {after['deprecated'].get('reason', '')}".rstrip(": ")
        )
    skipped = {"annotations"} if hints_of(before) != hints_of(after) else set()
    keys = [key for key in _TEXTS if key not in skipped and before.get(key) != after.get(key)]
    keys += [part for part in _PARTS if _has_other_texts(before.get(part), after.get(part))]
    if keys:
        yield change("text-changed", tool, f"other words or settings: {', '.join(keys)}")


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

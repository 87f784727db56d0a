"""Sensitive values that a planner sees: in the calls of its conversation and in the call that it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from weakref import WeakKeyDictionary

from pydantic_core import from_json, to_json

from toolgen.calls.results import ToolStatus
from toolgen.calls.sensitive import note_document
from toolgen.calls.specs import ToolSpec
from toolgen.calls.toolsets.snapshot import Snapshot
from toolgen.events.redaction import note_result
from toolgen.waiting.work_texts import note_work

from ..planner.messages import AssistantMessage, Message, ToolMessage, UserMessage


class SensitiveTools:
    """Tools of a snapshot with sensitive values, including disabled tools; computed once per snapshot."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        listed = tuple(specs)
        self.by_name: Mapping[str, ToolSpec] = {spec.name: spec for spec in listed if spec.is_sensitive}
        """The tools by wire name."""
        shown = frozenset(spec.name for spec in listed if not spec.payload.sensitive)
        self.streamed = None if len(shown) == len(listed) else shown
        """Wire names of tools whose arguments are shown while a model writes them; None for any name."""


_OF_SNAPSHOTS: Final = WeakKeyDictionary[Snapshot, SensitiveTools]()


def sensitive_tools(snapshot: Snapshot) -> SensitiveTools:
    """Return the tools of a snapshot with sensitive values."""
    tools = _OF_SNAPSHOTS.get(snapshot)
    if tools is None:
        tools = _OF_SNAPSHOTS[snapshot] = SensitiveTools(snapshot.directory.specs)
    return tools


def note_messages(
    messages: Iterable[Message], specs: Mapping[str, ToolSpec], answered: ToolSpec | None
) -> None:
    """Add the sensitive values of a conversation to the secrets of the current planning.

    `specs` are the agent's tools with sensitive values by wire name; `answered` is the tool whose call the
    run answers. Its arguments are recognized only if they are the whole message, without a prompt around
    them.
    """
    if not specs and answered is None:
        return
    for message in messages:
        match message:
            case AssistantMessage(calls=calls):
                for call in calls:
                    if call.name in specs:
                        note_document(specs[call.name].payload, call.arguments)
            case ToolMessage(answers=answers):
                for answer in answers:
                    if answer.name in specs:
                        note_seen(specs[answer.name], answer.status, answer.text)
            case UserMessage(source="runtime", text=text):
                note_work(text, specs.values())
            case UserMessage(source="agent", text=text) if answered is not None:
                note_document(answered.payload, text)
            case _:
                pass


def note_seen(spec: ToolSpec, status: ToolStatus, text: str) -> None:
    """Add the sensitive values of a call's result as the model saw it, complete or truncated."""
    try:
        seen = from_json(text)
    except ValueError:
        return
    match status, seen:
        case "ok", {"truncated_by": str(), "beginning": str(beginning)}:
            note_result(spec, beginning, is_whole=False)
        case "ok", _:
            note_result(spec, text, is_whole=True)
        case "pending", _ if spec.long_running and spec.long_running.ack:
            note_document(spec.long_running.ack, text)
        case "error", {"code": str(code), "details": details} if code in spec.errors:
            if (codec := spec.errors[code].codec) is not None:
                note_document(codec, to_json(details))
        case _:
            pass

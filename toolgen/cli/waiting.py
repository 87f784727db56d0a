"""Texts that show a suspended call to a person before an answer: all that will run, nothing truncated."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from toolgen.contract.printable import printable
from toolgen.contract.secrets import HIDDEN
from toolgen.runtime import Suspended
from toolgen.shapes.constraints import LIMITS
from toolgen.shapes.sensitive import redacted

_LIMITS: Final = (*(row.keyword for row in LIMITS), "pattern", "format", "default")

RESOLUTIONS: Final = " with --result JSON, --failed TEXT or --not-run"
"""What `toolgen runs resolve RUN CALL` takes, one of them."""


def describe_suspended(suspended: Suspended) -> str:
    """Return the lines that describe a suspended call: question, arguments, expected answer."""
    lines = [f"{suspended.tool} waits until {_until(suspended)}: {suspended.kind}"]
    asked = suspended.question or (f"it goes on as {suspended.handle!r}" if suspended.handle else "")
    lines += [text for text in (asked, suspended.preview) if text]
    part = "this shows only a part of the arguments; all of them:"
    if suspended.run_id:
        lines += [f"run: {suspended.run_id}"]
    if suspended.requested_by:
        lines += [f"requested by {suspended.requested_by}"]
    if suspended.reason:
        lines += [f"asked again: {suspended.reason}"]
    lines += [part if suspended.is_shortened else "arguments:"]
    shown = _shown(suspended)
    lines += [f"  {_json(name)}: {_json(value)}" for name, value in shown.items()] or ["  none"]
    if suspended.request:
        lines += [f"missing: {_json(dict(suspended.request))}"]
    schema = suspended.answer_schema
    lines += [f"answer: {_expected(schema)}{_noted(_limits(schema))}"]
    return "\n".join(map(printable, lines))


def summarize_suspended(suspended: Suspended) -> str:
    """Return a two-line summary of a suspended call."""
    text = suspended.question or suspended.preview or suspended.handle
    facts = f"{suspended.id}  {suspended.kind}  {suspended.tool}  until {_until(suspended)}  {text}"
    return f"{printable(facts)}\n  {printable(_json(_shown(suspended)))}"


def suspended_record(suspended: Suspended) -> dict[str, Any]:
    """Return what a program gets of a suspended call: all but what answers it or compares its arguments."""
    hidden = ("token", "arguments_mac", "outer", "sensitive")
    facts = {
        field.name: getattr(suspended, field.name) for field in fields(suspended) if field.name not in hidden
    }
    request = None if suspended.request is None else dict(suspended.request)
    schema = dict(suspended.answer_schema)
    return {**facts, "arguments": _shown(suspended), "answer_schema": schema, "request": request}


def _shown(suspended: Suspended) -> dict[str, Any]:
    """Return the arguments, with a placeholder for each sensitive value."""
    shown: dict[str, Any] = redacted(dict(suspended.arguments), suspended.sensitive, HIDDEN)
    return shown


def _until(suspended: Suspended) -> str:
    if not suspended.expires_at:
        return "its run ends"
    try:
        return dt.datetime.fromtimestamp(suspended.expires_at, dt.UTC).isoformat(timespec="minutes")
    except (OverflowError, ValueError, OSError):  # beyond the year 9999
        return "the end of time"


def _expected(schema: Mapping[str, Any]) -> str:
    """Return a short text of the answers that a JSON Schema accepts."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        values = schema.get("enum")
        return " or ".join(map(_json, values)) if values else str(schema.get("type", "any JSON"))
    required = schema.get("required", ())
    parts = []
    for name, part in properties.items():
        notes = [*_limits(part), *([] if name in required else ["may be left out"])]
        parts.append(f"{_json(name)}: {_expected(part)}{_noted(notes)}")
    return f"{{{', '.join(parts)}}}"


def _noted(notes: Sequence[str]) -> str:
    return f" ({', '.join(notes)})" if notes else ""


def _limits(schema: Mapping[str, Any]) -> list[str]:
    """Return the limits and the default of a value, by the keywords of JSON Schema."""
    return [f"{word} {_json(schema[word])}" for word in _LIMITS if word in schema]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

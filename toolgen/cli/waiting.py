"""A call that waits, as a person at a terminal sees it before an answer: all that will run, nothing cut."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

from toolgen.contract.printable import printable
from toolgen.runtime import Suspended


def described(suspended: Suspended) -> str:
    """Return what is asked, the whole arguments, and what an answer may hold; each on lines of its own."""
    lines = [f"{suspended.tool} waits until {_until(suspended)}: {suspended.kind}"]
    asked = suspended.question or (f"it goes on as {suspended.handle!r}" if suspended.handle else "")
    lines += [text for text in (asked, suspended.preview) if text]
    part = "this shows only a part of the arguments; all of them:"
    if suspended.requested_by:
        lines += [f"requested by {suspended.requested_by}"]
    if suspended.reason:
        lines += [f"asked again: {suspended.reason}"]
    lines += [part if suspended.is_shortened else "arguments:"]
    lines += [f"  {_json(name)}: {_json(value)}" for name, value in suspended.arguments.items()] or ["  none"]
    if suspended.request:
        lines += [f"missing: {_json(dict(suspended.request))}"]
    lines += [f"answer: {_expected(suspended.answer_schema)}"]
    return "\n".join(map(printable, lines))


def line_of(suspended: Suspended) -> str:
    """Return the same on two lines, without what an answer may hold."""
    text = suspended.question or suspended.preview or suspended.handle
    facts = f"{suspended.id}  {suspended.kind}  {suspended.tool}  until {_until(suspended)}  {text}"
    return f"{printable(facts)}\n  {printable(_json(dict(suspended.arguments)))}"


def _until(suspended: Suspended) -> str:
    return dt.datetime.fromtimestamp(suspended.expires_at, dt.UTC).isoformat(timespec="minutes")


def _expected(schema: Mapping[str, Any]) -> str:
    """Return what a JSON Schema asks for, in short."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        values = schema.get("enum")
        return " or ".join(map(_json, values)) if values else str(schema.get("type", "any JSON"))
    required = schema.get("required", ())
    parts = [
        f"{_json(name)}: {_expected(part)}{'' if name in required else ' (may be left out)'}"
        for name, part in properties.items()
    ]
    return f"{{{', '.join(parts)}}}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

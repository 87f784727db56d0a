"""Texts about pending work in a conversation: final results and intermediate results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from pydantic_core import from_json, to_json

from toolgen.calls.sensitive import note_document
from toolgen.calls.specs import ToolSpec
from toolgen.events.redaction import note_result

OUTCOMES: Final = {"ok": "is done", "error": "has failed", "unknown": "has an unknown outcome"}
"""Texts by status, for work that continued while its run ended."""
NO_RESULT: Final = "ended without a result"
"""Text for other work, which was canceled or has expired."""
INTERMEDIATE_RESULT: Final = "has an intermediate result"
_SAID: Final = "|".join((*OUTCOMES.values(), NO_RESULT, INTERMEDIATE_RESULT))
_TEXT: Final = re.compile(rf"The work of (\S+) \(.*?\) (?:{_SAID}): (.*)", re.DOTALL)


def work_text(tool: str, call: str, what: str, result: str) -> str:
    """Return the text about the work of a call; `result` is JSON."""
    return f"The work of {tool} ({call}) {what}: {result}"


def note_work(text: str, specs: Iterable[ToolSpec]) -> None:
    """Register the sensitive values of the result in a `work_text`, if it belongs to one of these tools."""
    if (parts := _TEXT.fullmatch(text)) is None:
        return
    tool, result = parts.groups()
    try:
        seen: Any = from_json(result)
    except ValueError:
        return
    for spec in specs:
        if spec.is_sensitive and spec.id.rpartition(".")[2] == tool:
            _note_result(spec, result, seen)


def _note_result(spec: ToolSpec, text: str, seen: object) -> None:
    match seen:
        case {"truncated_by": str(), "beginning": str(beginning)}:
            note_result(spec, beginning, is_whole=False)
        case {"code": str(code), "details": details} if code in spec.errors:
            if (codec := spec.errors[code].codec) is not None:
                note_document(codec, to_json(details))
        case _:
            note_result(spec, text, is_whole=True)
            if spec.long_running is not None and spec.long_running.progress is not None:
                note_document(spec.long_running.progress, text)

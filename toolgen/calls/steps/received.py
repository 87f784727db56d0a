"""Results of lenient tools whose service returned values that do not fit, with warnings and a note."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pydantic_core import from_json, to_json

from toolgen.contract.limits import render_template
from toolgen.contract.names import BOUNDS_FIELDS
from toolgen.contract.printable import visible
from toolgen.contract.secrets import HIDDEN, noting
from toolgen.shapes.issues import LEFT_OUT, MOST_WARNINGS, FieldIssue
from toolgen.shapes.parts import Parts
from toolgen.shapes.sensitive import redacted, values_at

from ..content import TextContent
from ..errors import MalformedResultError, UnfitAnswerError
from ..results import ToolResult
from ..sensitive import unvalidated_places
from .result_encoding import bounds_of

if TYPE_CHECKING:
    from toolgen.contract.bounds import Bounds

    from ..call import CallMeta
    from ..specs import ToolSpec

_MOST_NAMED: Final = 3
"""Maximum number of warnings in the note for the model."""


def received_result(spec: ToolSpec, error: UnfitAnswerError, meta: CallMeta) -> ToolResult:
    """Return the result of a lenient tool whose service returned values that do not fit.

    Raises:
        UnfitAnswerError: the tool is not lenient; the error contains the response unless a value of the tool
            is sensitive.
    """
    if not spec.is_lenient:
        error.is_shown = not (error.is_sensitive or spec.is_sensitive)
        raise error
    parts = read_parts(spec, error.document)
    issues = tuple(dict.fromkeys((*error.warnings, *parts.issues)))  # the client's own issues first
    parts = replace(parts, issues=issues[:MOST_WARNINGS])
    places = unvalidated_places(spec.result, parts.issues)
    if places and (secrets := noting()) is not None:
        secrets.add(values_at(parts.json, places), spec.result.keys)
    content = [_note(spec, parts), *([spec.reminder] if spec.reminder else [])]
    display = ""
    if spec.result_hint and isinstance(parts.json, dict):
        display = render_template(spec.result_hint, redacted(parts.json, places, HIDDEN))
    return ToolResult(
        tool=spec.id,
        status="ok",
        json=to_json(parts.json),
        tool_call_id=meta.tool_call_id,
        result=parts.value,
        bounds=_bounds(spec, parts),
        warnings=parts.issues,
        content=tuple([TextContent(text=text) for text in content]),
        display=display,
        is_final=spec.is_terminal,
    )


def read_parts(spec: ToolSpec, document: bytes) -> Parts:
    """Return the parts of a response, without issues about bounds that a transform would have computed."""
    parts = spec._parts.read(from_json(document))
    if spec.bounded is None:
        return parts
    absent = [
        FieldIssue(keys=(name,), constraint="missing_field", message=LEFT_OUT) for name in BOUNDS_FIELDS
    ]
    return replace(parts, issues=tuple(issue for issue in parts.issues if issue not in absent))


def _bounds(spec: ToolSpec, parts: Parts) -> Bounds | None:
    """Return the bounds of a result; None if they cannot be read."""
    window = spec.bounded
    if window is None:
        return None
    names = (*BOUNDS_FIELDS, window.next_cursor, window.items)
    at_root = [issue.keys for issue in parts.issues if len(issue.keys) < 2]
    if parts.more or () in at_root or any(key in names for keys in at_root for key in keys):
        return None
    try:
        return bounds_of(spec, parts.value)
    except (AttributeError, MalformedResultError):
        return None


def _note(spec: ToolSpec, parts: Parts) -> str:
    """Return the note for the model about a response that does not fit."""
    issues = parts.issues[:_MOST_NAMED]
    if spec.result.sensitive:  # any other key may be sensitive
        issues = tuple(issue.without_other_keys(spec.result.keys) for issue in issues)
    named = "; ".join(map(str, issues))
    others = len(parts.issues) + parts.more - _MOST_NAMED
    more = f"; and {others} more" if others > 0 else ""
    return visible(
        "The call ran. These values do not fit their documented type and are returned as received: "
        f"{named}{more}."
    )

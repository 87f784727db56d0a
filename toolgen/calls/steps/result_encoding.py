"""Output of a call for models and people: checked and encoded results, errors, texts, each within a limit.

A truncated document is still JSON: an error of the same shape, or a marker instead of a result.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json, to_json

from toolgen.contract.bounds import bounds_fault
from toolgen.contract.errors import HINT
from toolgen.contract.limits import ELLIPSIS, beginning, portable_text, render_template, truncate_text
from toolgen.shapes.issues import Findings

from ..errors import MalformedResultError, ToolValidationError
from ..results import Artifact, RetryHint, ToolOutcome, ToolResult

if TYPE_CHECKING:
    from toolgen.contract.bounds import Bounds

    from ..call import CallMeta
    from ..content import Content
    from ..reports import Trace
    from ..specs import ToolSpec

_TYPES: Final[dict[str, tuple[Any, str]]] = {"data": (bytes, "bytes"), "size": (int | None, "an int or None")}
"""Types of the content fields that are not strings, with the type names for messages."""
_BY: Final = b"toolgen's size limit"


def encode_result(spec: ToolSpec, returned: object, meta: CallMeta, trace: Trace | None = None) -> ToolResult:
    """Check and encode the value of an executor, and return it as a `ToolResult`.

    Raises:
        MalformedResultError: it violates the tool's contract.
    """
    outcome = None
    if isinstance(returned, ToolOutcome):
        outcome, returned = returned, returned.result
    try:
        document = spec.result.encode(returned)
    except MalformedResultError:
        _refuse_ack(spec, returned)
        raise
    if trace is not None:
        trace.mark("encode", document)
    result: Any = object.__new__(ToolResult)  # the constructor takes three times as long
    result.tool, result.status, result.json = spec.id, "ok", document
    result.result, result.tool_call_id = returned, meta.tool_call_id
    if spec.bounded is not None:
        result.bounds = bounds_of(spec, returned)
    if spec.is_terminal:
        result.is_final = True
    if outcome is not None:
        result.artifacts = tuple([_encoded_artifact(spec, artifact) for artifact in outcome.artifacts])
        result.content = tuple([_checked_block(block) for block in outcome.content])
        result.display = "" if outcome.display is None else _checked_display(outcome.display)
        result.is_final = outcome.is_final or spec.is_terminal
    if spec.result_hint and (outcome is None or outcome.display is None):
        shown = spec.result.for_people(json.loads(document))
        result.display = render_template(spec.result_hint, shown)
    if spec.reminder:
        from ..content import TextContent

        result.content = (*result.content, TextContent(text=spec.reminder))
    if trace is not None:
        trace.mark("check", result.bounds)
    return result  # type: ignore[no-any-return]  # created as one


def _refuse_ack(spec: ToolSpec, returned: object) -> None:
    """Raise for an acknowledgement without a handle.

    Raises:
        MalformedResultError: the executor of a `LongRunning` tool returned only the acknowledgement.
    """
    ack = spec.long_running.ack if spec.long_running is not None else None
    if ack is not None and type(returned) is ack.type:
        fault = f"{spec.name} returned an acknowledgement without the handle of the work"
        hint = f"return ToolOutcome.pending(handle, {ack.type.__name__}(…))"
        raise MalformedResultError(f"{fault}{HINT}{hint}") from None


def bounds_of(spec: ToolSpec, result: Any) -> Bounds | None:
    """Return the bounds of a typed result; None for a tool whose result is not bounded.

    Raises:
        MalformedResultError: they violate the contract (`contract/bounds.py`).
    """
    rule = spec.bounded
    if rule is None:
        return None
    bounds: Bounds = result.result_bounds()
    items = None if rule.items is None else len(getattr(result, rule.attribute) or ())
    if fault := bounds_fault(bounds, items=items, is_paged=rule.next_cursor is not None):
        raise MalformedResultError(fault)
    return bounds


def _checked_display(display: object) -> str:
    """Return a text for people, made encodable in UTF-8.

    Raises:
        MalformedResultError: it is not a string.
    """
    if not isinstance(display, str):
        raise MalformedResultError(f"display must be a string, not {type(display).__name__}")
    return portable_text(display)


def _checked_block(block: object) -> Content:
    """Return a content block, with its texts made encodable in UTF-8.

    Raises:
        MalformedResultError: it is not a content block, or a value in it has the wrong type.
    """
    from ..content import Content  # most results have none

    if not isinstance(block, Content):
        raise MalformedResultError(f"content must hold content blocks, not {type(block).__name__}")
    texts = {}
    for field in fields(block):
        value = getattr(block, field.name)
        type_, wanted = _TYPES.get(field.name, (str, "a string"))
        if not isinstance(value, type_):
            raise MalformedResultError(
                f"{field.name} of a content block of type {block.type} has the type {type(value).__name__}; "
                f"it must be {wanted}"
            )
        if isinstance(value, str):
            texts[field.name] = portable_text(value)
    portable: Content = replace(block, **texts)  # type: ignore[arg-type]  # each has its own fields
    return portable


def _encoded_artifact(spec: ToolSpec, artifact: object) -> Artifact:
    if not isinstance(artifact, Artifact):
        raise MalformedResultError(f"artifacts must hold artifacts, not {type(artifact).__name__}")
    declared = spec.artifacts.get(artifact.kind)
    if declared is None:
        kinds = ", ".join(map(repr, spec.artifacts)) or "none"
        raise MalformedResultError(
            f"artifact kind {artifact.kind!r} is not declared; declared kinds: {kinds}"
        )
    document = declared.codec.encode(artifact.data)
    return Artifact(kind=artifact.kind, data=artifact.data, source_tool=spec.id, json=document)


def truncation_marker(document: bytes, limit: int, uri: str = "") -> bytes:
    """Return the marker for a JSON document longer than `limit`: its size, beginning and URI."""
    head = b'{"truncated_by":"%b","bytes":%d' % (_BY, len(document))
    where = b',"uri":%b' % to_json(uri) if uri else b""
    room = limit - len(b'%b,"shown":%d,"beginning":}' % (head, limit))
    if len(where) > room // 2:
        where = b""
    beginning = _literal(document, room - len(where), "")
    shown = len(from_json(beginning).encode())
    return b'%b,"shown":%d%b,"beginning":%b}' % (head, shown, where, beginning)


def is_truncated(document: bytes) -> bool:
    """Return whether a document is the marker of a truncated document."""
    return document.startswith(b'{"truncated_by":"%b",' % _BY)


def error_document(
    message: str,
    limit: int,
    *,
    code: str = "",
    details: bytes = b"",
    is_retryable: bool = False,
    about: str = "details",
) -> bytes:
    """Return the JSON document of an error, with its code if it has one, within `limit` bytes.

    Details longer than half of the limit are left out, and the document reports this. They are under the key
    `about`.
    """
    tail = b',"code":%b' % to_json(code) if code else b""
    if is_retryable:
        tail += b',"retryable":true'
    if details:
        key = about.encode()
        tail += b',"%b":%b' % (key, details) if len(details) <= limit // 2 else b',"%b_left_out":true' % key
    room = limit - len(b'{"error":%b}' % tail)
    return b'{"error":%b%b}' % (_literal(message.encode(errors="replace"), room, ELLIPSIS), tail)


def unknown_document(message: str, limit: int) -> bytes:
    """Return the JSON document of a call with an unknown outcome, truncated to `limit` bytes."""
    room = limit - len(b'{"unknown":}')
    return b'{"unknown":%b}' % _literal(message.encode(errors="replace"), room, ELLIPSIS)


def issues_document(message: str, limit: int, error: ToolValidationError, example: str | None) -> bytes:
    """Return the JSON document of invalid arguments: issues that fit, the count of others, an example."""
    shown = b',"example":%b' % example.encode() if example is not None else b""
    findings = error._findings
    if findings is None or findings.issues is not error.issues:  # a host's codec may have replaced the issues
        findings = Findings(issues=error.issues, more=error.more, is_counted=error.is_counted)
    document = b'{"error":%b,%b%b}' % (to_json(message), findings.as_bytes(), shown)
    if len(document) <= limit:
        return document
    least = len(b'{"error":,%b}' % findings.first_as_bytes([]))
    literal = _literal(message.encode(errors="replace"), limit - least, ELLIPSIS)
    room = limit - least - len(literal)
    if len(shown) > room // 2:
        shown = b""
    room -= len(shown)
    fitting = []
    for issue in error.issues:
        text = issue.as_bytes()
        if len(text) + 1 <= room:
            fitting.append(text)
            room -= len(text) + 1
    return b'{"error":%b,%b%b}' % (literal, findings.first_as_bytes(fitting), shown)


def truncate_hint(hint: RetryHint, limit: int) -> RetryHint:
    """Truncate each text of a retry hint to `limit` bytes of UTF-8."""

    def within(text: str | None) -> str | None:
        return text and truncate_text(text, limit)

    texts = (hint.example_input, hint.prior_input, hint.clarifying_question, hint.message)
    joined = "".join([text for text in (*texts, hint.tool, *hint.missing_fields) if text])
    if joined.isascii() and len(joined) <= limit:
        return hint
    return replace(
        hint,
        tool=portable_text(hint.tool),
        missing_fields=tuple(map(portable_text, hint.missing_fields)),
        example_input=within(hint.example_input),
        prior_input=within(hint.prior_input),
        clarifying_question=within(hint.clarifying_question),
        message=within(hint.message),
    )


def _literal(data: bytes, limit: int, end: str) -> bytes:
    """Return the beginning of a text as a JSON string of at most `limit` bytes, including the quotes."""
    if len(data) <= limit and len(literal := to_json(data.decode())) <= limit:
        return literal
    shown = beginning(data, limit - len(to_json(end)))
    surplus = len(to_json(shown + end)) - limit
    if surplus > 0:  # escapes are longer; each byte less of the text is at least one less here
        encoded = shown.encode()
        shown = beginning(encoded, len(encoded) - surplus)
    return to_json(shown + end)

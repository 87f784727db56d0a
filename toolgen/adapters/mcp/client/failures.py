"""Errors for the model, derived from a server's answer to a failed call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, get_args

import mcp_types as types

from toolgen.runtime import FieldIssue, OutcomeUnknownError, RetryHint, ToolError, ToolSpec
from toolgen.shapes.constraints import IssueCode

from .errors import cleaned, shown_name

_MOST_ISSUES: Final = 20
_LONGEST: Final = 8_000
"""Maximum number of characters of a server's failure text."""
_STEP: Final = re.compile(r"""\.(\w+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]""")
"""Parts of issue paths: a key, an index, a JSON-quoted key."""
_CODES: Final = frozenset(get_args(IssueCode))


def failure_of(answer: types.CallToolResult, spec: ToolSpec) -> ToolError:
    """Return the error of an answer with `isError`, with its issues if it has any.

    Issues are read in toolgen's format: `{"error": …, "issues": [{"path", "constraint", "message"}]}`, in the
    structured content or in the text. The same applies to an unknown outcome: `{"unknown": …}`.
    """
    text = "\n".join(block.text for block in answer.content if isinstance(block, types.TextContent))
    document = answer.structured_content if isinstance(answer.structured_content, dict) else _object(text)
    if isinstance(unknown := document.get("unknown"), str) and len(document) == 1:
        return OutcomeUnknownError(cleaned(unknown, _LONGEST))
    text_of_error = document.get("error")
    message = cleaned(text_of_error if isinstance(text_of_error, str) else text, _LONGEST)
    message = message or f"{spec.name} failed; its server gave no reason"
    issues = tuple(_issues(document.get("issues")))
    if not issues:
        return ToolError(message)
    missing = tuple(issue.path for issue in issues if issue.constraint == "missing_field")
    hint = RetryHint(
        reason="missing_fields" if len(missing) == len(issues) else "invalid_arguments",
        tool=spec.id,
        restrict_to_tool=True,
        missing_fields=missing,
        issues=issues,
        message=message,
    )
    listed = "; ".join(str(issue) for issue in issues)
    return ToolError(f"{message}: {listed}"[:_LONGEST], retry_hint=hint)


def malformed(spec: ToolSpec, server: str, why: str) -> ToolError:
    """Return the error of a result that violates the server's schema: the call has run."""
    message = f"{spec.name} ran; its result could not be read: {_misfit(server, why)}"
    return ToolError(message, retry_hint=_malformed_hint(spec, message) if spec.may_repeat else None)


def unreadable(spec: ToolSpec, server: str, why: str) -> ToolError:
    """Return the error of an answer that is not a result: the outcome of the call is unknown."""
    message = f"{spec.name} has no result: {_misfit(server, why)}"
    if not spec.may_repeat:
        return OutcomeUnknownError(f"{message}; it may have run")
    return ToolError(message, retry_hint=_malformed_hint(spec, message))


def _misfit(server: str, why: str) -> str:
    return f"the MCP server {server!r} returned an answer that does not fit: {why}"


def _malformed_hint(spec: ToolSpec, message: str) -> RetryHint:
    return RetryHint(reason="malformed_response", tool=spec.id, message=message)


def unavailable(spec: ToolSpec, message: str) -> ToolError:
    """Return the error of a call that was not made."""
    return ToolError(message, retry_hint=RetryHint(reason="tool_unavailable", tool=spec.id, message=message))


def _object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _issues(documents: object) -> Iterator[FieldIssue]:
    """Yield the issues of a document; nothing if it has another form."""
    for document in documents[:_MOST_ISSUES] if isinstance(documents, list) else ():
        match document:
            case {"path": str(path), "constraint": str(code), "message": str(message)} if code in _CODES:
                constraint: Any = code
                yield FieldIssue(
                    keys=_keys(path), constraint=constraint, message=shown_name(message)
                ).shortened()
            case _:
                pass


def _keys(path: str) -> tuple[int | str, ...]:
    """Return the keys of a path, for example `$.devices[0]["a b"]`."""
    steps = _STEP.findall(path)
    return tuple(int(index) if index else (name or json.loads(quoted)) for name, index, quoted in steps)

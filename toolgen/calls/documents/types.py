"""The JSON form of a `ToolResult`, part by part; `results.py` writes and reads it.

Empty members are left out.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from ..results import ToolStatus


class IssueDocument(TypedDict):
    """One fault of one value of a document."""

    path: str
    """JSONPath of the value (RFC 9535)."""
    pointer: str
    """JSON Pointer of the value (RFC 6901)."""
    constraint: str
    message: str
    expected: NotRequired[str]
    actual: NotRequired[str]
    allowed: NotRequired[list[Any]]
    limit: NotRequired[Any]


class BoundsDocument(TypedDict):
    """How much of the data a bounded result shows."""

    returned: int
    truncated: bool
    total: NotRequired[int]
    refinement_hint: NotRequired[str]
    next_cursor: NotRequired[str]


class ArtifactDocument(TypedDict):
    """The reference to an artifact, with its data if that is small."""

    kind: str
    media_type: str
    size: int
    """Bytes."""
    digest: str
    data: NotRequired[Any]
    """The data, if it is small."""
    uri: NotRequired[str]
    href: NotRequired[str]
    """URL of the data for an HTTP client, relative to its surface."""
    view: NotRequired[str]
    """View with which an HTTP client shows the data."""
    not_stored_reason: NotRequired[str]
    """Reason why the data was not stored."""
    tool: NotRequired[str]
    """Id of the tool that made it."""
    tool_call_id: NotRequired[str]
    """Id of its call, among the artifacts of a run."""


class CitationDocument(TypedDict):
    """A source that the provider of a model cites for a part of a reply."""

    url: NotRequired[str]
    document: NotRequired[str]
    """The provider's own id of a file or a document."""
    title: NotRequired[str]
    start: NotRequired[int]
    """Range of the reply's text, `start` to `end`, in Unicode code points, if the provider reports it."""
    end: NotRequired[int]
    is_marker: NotRequired[bool]
    """The range is a marker or a link that the model wrote, and not the text it supports."""


class ProviderDocument(TypedDict):
    """Provider data of a reply; unreported values are absent."""

    finish_reason: NotRequired[Literal["stop", "length", "content_filter", "tool_call", "error"]]
    provider_finish_reason: NotRequired[str]
    """The provider's own word."""
    citations: NotRequired[list[CitationDocument]]


class RetryDocument(TypedDict):
    """How a call can be repaired or made again."""

    reason: str
    tool: NotRequired[str]
    """Id of the tool to call, if it is another one."""
    restrict_to_tool: NotRequired[bool]
    missing_fields: NotRequired[list[str]]
    question: NotRequired[str]
    """Question for the person who knows what is missing."""
    message: NotRequired[str]
    after_s: NotRequired[float]
    """Seconds until the next attempt."""


class ErrorDocument(TypedDict):
    """Why a call has no result."""

    message: str
    code: NotRequired[str]
    """Name of a declared error, or a code of the runtime."""
    details: NotRequired[Any]
    """Details of a declared error."""
    issues: NotRequired[list[IssueDocument]]
    more_issues: NotRequired[int]
    """Minimum number of issues beyond these."""
    example: NotRequired[Any]
    """Arguments that the tool accepts."""
    causes: NotRequired[list[str]]
    """Causes of the error, the nearest first, including those in the runs of other agents."""
    correlation_id: NotRequired[str]
    """Id under which the log has the traceback."""
    has_begun: NotRequired[bool]
    """False if the scheduler did not let the call begin."""
    is_retryable: NotRequired[bool]
    retry: NotRequired[RetryDocument]


class RunLinkDocument(TypedDict):
    """The run of the agent that answered a call."""

    run_id: str
    agent: str
    """Id."""
    parent_run_id: str
    parent_tool_call_id: str
    children_count: int
    """Runs of agents behind the result."""


class TelemetryDocument(TypedDict):
    """Duration and token usage of a call."""

    duration_s: NotRequired[float]
    model: NotRequired[str]
    input_tokens: NotRequired[int]
    output_tokens: NotRequired[int]


class ResultDocument(TypedDict):
    """The result of a call."""

    tool: str
    """Id of the tool; the requested name if no tool has it."""
    tool_call_id: str
    status: ToolStatus
    result: NotRequired[Any]
    """Result as the model reads it; absent if there is none yet."""
    error: NotRequired[ErrorDocument]
    display: NotRequired[str]
    """Text for people: the result hint of the tool, or the text of the executor."""
    bounds: NotRequired[BoundsDocument]
    warnings: NotRequired[list[IssueDocument]]
    """Issues in the response of a lenient service; the result contains these values as received."""
    artifacts: NotRequired[list[ArtifactDocument]]
    content: NotRequired[list[dict[str, Any]]]
    """Content blocks in MCP's form; absent in events."""
    is_final: NotRequired[bool]
    """Whether the result ends the turn as it is."""
    approved_by: NotRequired[str]
    """Person who granted the call, and the time; absent in events, which have `tool_authorization`."""
    run_link: NotRequired[RunLinkDocument]
    telemetry: NotRequired[TelemetryDocument]


class StoredResult(ResultDocument):
    """The result of a call in a journal, which can be restored exactly."""

    json: NotRequired[str]
    """Exact text for the model, if encoding `result` gives another text."""
    details_json: NotRequired[str]
    """Exact text of the error details, if encoding `details` gives another text."""
    example_input: NotRequired[str]
    """Exact text of the example, if encoding `example` gives another text."""
    prior_input: NotRequired[str]
    """The rejected arguments as received."""

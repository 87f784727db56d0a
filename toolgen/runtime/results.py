"""What comes back: the executor's outcome and the one result of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from toolgen.contract.issues import FieldIssue
from toolgen.contract.model import ToolModel
from toolgen.contract.record import record

from .errors import ToolError

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

ToolStatus = Literal["ok", "error"]

RetryReason = Literal[
    "invalid_arguments",
    "missing_fields",
    "malformed_response",
    "timeout",
    "rate_limited",
    "tool_unavailable",
]


@record
class RetryHint:
    """What a planner needs to repair a failed call (Goa-AI's `RetryHint`)."""

    reason: RetryReason
    tool: str
    restrict_to_tool: bool = False
    """The next attempt should offer this tool only."""
    missing_fields: tuple[str, ...] = ()
    """Paths of the required fields that were left out."""
    issues: tuple[FieldIssue, ...] = ()
    example_input: str | None = None
    """A document that the tool accepts, as JSON text."""
    prior_input: str | None = None
    """The document that was refused, as it came."""
    clarifying_question: str | None = None
    message: str | None = None
    retry_after: float | None = None
    """Seconds."""


@record
class Bounds:
    """How much of the data a bounded result shows."""

    returned: int
    truncated: bool
    total: int | None = None
    """None when it is not known."""
    refinement_hint: str | None = None
    next_cursor: str | None = None


@record
class Artifact:
    """Full data beside a result, for UIs and audits; the model never sees it."""

    kind: str
    data: ToolModel
    source_tool: str = ""
    """Id of the tool; set by the runtime."""
    json: bytes = b""
    """The data as canonical JSON; set by the runtime."""


@record
class ToolOutcome(Generic[R_co]):
    """A result with what goes beside it. Made by `of`."""

    result: R_co
    artifacts: tuple[Artifact, ...] = ()

    @staticmethod
    def of(result: R, *, artifacts: Sequence[Artifact] = ()) -> ToolOutcome[R]:
        """Return the outcome; artifacts come from the `ArtifactSpec`s of the tool."""
        return ToolOutcome(result=result, artifacts=tuple(artifacts))


ToolReturn: TypeAlias = R | ToolOutcome[R]
"""What an executor's method may return: the plain result, or an outcome around it."""


@record
class ToolResult:
    """The one result of a call."""

    tool: str
    """Id of the tool; the name as asked for when no tool has it."""
    status: ToolStatus
    json: bytes = b""
    """Exactly what the model sees."""
    tool_call_id: str = ""
    result: Any = None
    """The typed result; None after an error."""
    error: ToolError | None = None
    retry_hint: RetryHint | None = None
    bounds: Bounds | None = None
    artifacts: tuple[Artifact, ...] = ()

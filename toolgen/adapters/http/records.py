"""The records of the HTTP API. Their schemas in the OpenAPI document are generated from these classes.

Empty fields are omitted unless they are required here. Times are seconds since 1970. Fields may be added;
clients ignore fields that they do not know. Texts of models, people, tools and schemas are returned
unchanged: a user interface must escape hidden and bidirectional characters before it shows them.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from toolgen.calls.documents.types import (
    ArtifactDocument,
    BoundsDocument,
    IssueDocument,
    ProviderDocument,
    ResultDocument,
)


class ProblemRecord(TypedDict):
    """Problem details (RFC 9457)."""

    type: str
    """`urn:toolgen:problem:` and a name."""
    title: str
    status: int
    detail: NotRequired[str]
    hint: NotRequired[str]
    """Suggested action."""
    issues: NotRequired[list[IssueDocument]]
    example: NotRequired[Any]
    """Arguments that the tool accepts."""


class Suspension(TypedDict):
    """A call that waits for a person or for work elsewhere, a question of a planner, or a pause."""

    id: str
    run_id: str
    kind: str
    """`confirmation`, `input`, `credential` or `pending` of a tool; `clarification`, `questions`,
    `confirmation` or `external` of a planner; `pause`."""
    seal: Literal["sealed", "unsealed", "tampered"]
    """Seal of the record. A record that is not sealed may be forged: operators can see it, but nobody can
    answer it.
    """
    session_id: NotRequired[str]
    tool: NotRequired[str]
    tool_call_id: NotRequired[str]
    agent: NotRequired[str]
    question: NotRequired[str]
    """Question, unescaped like `preview` and `arguments`: a user interface must escape hidden and
    bidirectional characters before a person decides.
    """
    preview: NotRequired[str]
    is_shortened: NotRequired[bool]
    """The question or the preview shows only a part of a value; the arguments have all of it."""
    arguments: NotRequired[dict[str, Any]]
    """All that will run, as it was frozen."""
    answer_schema: NotRequired[dict[str, Any]]
    """JSON Schema of the answer."""
    created_at: NotRequired[float]
    """Time of the question, in seconds since 1970, like `expires_at`."""
    expires_at: NotRequired[float]
    handle: NotRequired[str]
    request: NotRequired[dict[str, Any]]
    """Credential that is missing."""
    requested_by: NotRequired[str]
    reason: NotRequired[str]
    """Reason for asking again."""
    number: NotRequired[int]
    """Number of the question within its call."""


class GrantRecord(TypedDict):
    """An approval that counts for further calls of its tool in its session."""

    id: str
    tool: str
    session_id: str
    agent: NotRequired[str]
    requested_by: NotRequired[str]
    granted_by: str
    granted_at: float
    """Seconds since 1970, as `expires_at`."""
    expires_at: float
    uses: int
    """Maximum number of calls."""
    used: int
    """Number of calls that have used it."""
    pattern: NotRequired[dict[str, object]]
    """Conditions on the arguments, by JSON Pointer."""
    covers: str
    """The pattern as a sentence for people."""


class Step(TypedDict):
    """One step of a call."""

    step: str
    duration_s: float


class Call(ResultDocument):
    """A call and its result. One that failed has its `error` in the place of a `result`."""

    id: str
    """Id of its run where it is kept; else the id that events name it by."""
    next_arguments: NotRequired[dict[str, Any]]
    """Arguments of the next page."""
    suspensions: NotRequired[list[Suspension]]
    trace: NotRequired[list[Step]]


class Answered(TypedDict):
    """What an answer led to."""

    suspension_id: str
    run_id: str
    answered_by: str
    """Id of the caller who answered."""
    call: NotRequired[Call]
    """The call whose result it led to; a planner has none."""


class Usage(TypedDict):
    """What a run cost."""

    model: NotRequired[str]
    input_tokens: int
    output_tokens: int
    duration_s: float


class Run(TypedDict):
    """A run of an agent, or of a call."""

    id: str
    kind: Literal["agent", "call", "other"]
    status: Literal["running", "waiting", "completed", "failed", "canceled"]
    session_id: NotRequired[str]
    agent: NotRequired[str]
    tool: NotRequired[str]
    turn_id: NotRequired[str]
    parent_run_id: NotRequired[str]
    requested_by: NotRequired[str]
    message: NotRequired[str]
    text: NotRequired[str]
    """The answer in words."""
    result: NotRequired[Any]
    """The typed answer."""
    provider: NotRequired[ProviderDocument]
    call_status: NotRequired[str]
    """Status of the call of a run."""
    stop_reason: NotRequired[str]
    error: NotRequired[str]
    suspensions: NotRequired[list[Suspension]]
    """Suspended calls of the run and of the runs below it. Lists of runs omit it, and `artifacts` too."""
    pending: NotRequired[list[Suspension]]
    """Work that goes on after it."""
    artifacts: NotRequired[list[ArtifactDocument]]
    children: NotRequired[list[str]]
    unknown_calls: NotRequired[list[str]]
    """Ids of its calls whose outcome is unknown."""
    usage: NotRequired[Usage]
    tool_calls: NotRequired[int]


class SessionRecord(TypedDict):
    """A conversation."""

    id: str
    agent: str
    """The agent that has it now."""
    created_at: float
    message: NotRequired[str]
    """The beginning of what a person said first; of lists."""
    ended_at: NotRequired[float]
    labels: NotRequired[dict[str, str]]


class MessageCall(TypedDict):
    """A call that a planner made."""

    id: str
    name: str
    """The wire name."""
    arguments: Any


class MessageAnswer(TypedDict):
    """The result of a call, as the planner read it."""

    id: str
    name: str
    status: str
    result: NotRequired[Any]
    bounds: NotRequired[BoundsDocument]
    artifacts: NotRequired[list[ArtifactDocument]]
    resolved_by: NotRequired[str]


class MessageFile(TypedDict):
    """A file that came with a message."""

    name: str
    media_type: str
    size: int
    """Bytes."""
    uri: str
    href: str
    """URL of its data, relative to the surface."""


class MessageRecord(TypedDict):
    """A message of a conversation: of a person, of a planner, or the results of calls."""

    type: Literal["user", "assistant", "tools"]
    text: NotRequired[str]
    source: NotRequired[Literal["person", "agent", "runtime"]]
    provider: NotRequired[ProviderDocument]
    files: NotRequired[list[MessageFile]]
    calls: NotRequired[list[MessageCall]]
    answers: NotRequired[list[MessageAnswer]]


class TurnRecord(TypedDict):
    """A run of a conversation with its messages."""

    run_id: str
    turn_id: str
    agent: str
    started_at: float
    messages: list[MessageRecord]


class Transcript(TypedDict):
    """A conversation with its messages."""

    session: SessionRecord
    turns: list[TurnRecord]


class AgentRecord(TypedDict):
    """An agent."""

    id: str
    tools: list[str]
    """Wire names of the tools of its design."""


class AgentPage(TypedDict):
    """The agents, in the order of registration."""

    agents: list[AgentRecord]


class SuspensionPage(TypedDict):
    """Suspensions, oldest first."""

    suspensions: list[Suspension]
    next: NotRequired[str]
    """Value of `after` for the next page."""


class GrantPage(TypedDict):
    """The grants of a session that are neither expired nor revoked, newest first."""

    grants: list[GrantRecord]


class RunPage(TypedDict):
    """Runs, newest first."""

    runs: list[Run]
    next: NotRequired[str]


class SessionPage(TypedDict):
    """Sessions, newest first."""

    sessions: list[SessionRecord]
    next: NotRequired[str]

"""Names that the generator prints and the runtime reads."""

from typing import Final, Literal, get_args

FORMAT: Final = 2
"""Format of the generated code that this toolgen writes and executes."""
CATALOG_FORMAT: Final = 3
"""Format of the catalogues that this toolgen writes and reads."""

Language = Literal["typescript"]
"""A language beside Python in which toolgen writes what others need of a design."""

CATALOG: Final = "tool_schemas.json"
"""The file of a catalogue: of a toolset, where its codecs find their schemas, of an agent, of the design."""
TYPES: Final = "#/types/"
"""A reference to a type that several tools of a catalogue have begins so."""
COMPLETION_SCHEMAS: Final = "completion_schemas.json"
"""The same of the completions of a service."""

RetryReason = Literal[
    "invalid_arguments",
    "missing_fields",
    "malformed_response",
    "timeout",
    "rate_limited",
    "tool_unavailable",
]
"""Why the runtime says that a call may be repeated in another way."""
SuspensionKind = Literal["confirmation", "input", "credential", "pending"]
"""What a call waits for."""
CREDENTIALS_CAPABILITY: Final = "credentials"
"""Name of the capability that has credentials: what it opens is in nothing that a call tells."""
DENIED: Final = "denied"
UNAVAILABLE: Final = "approval_unavailable"
CANCELED: Final = "canceled"
"""Codes of calls that were not allowed."""
NOBODY_TO_ASK: Final = "this runtime is not interactive or has no engine"
"""Why a call was not allowed that would have had to wait for a person."""
RESERVED_CODES: Final = frozenset((DENIED, UNAVAILABLE, CANCELED, "tool_error", *get_args(RetryReason)))
"""What the runtime itself tells of a call that failed; no declared error has such a name."""

SESSION: Final = "session"
"""What sequential calls have in common that take turns within their session; else the name of an argument."""

CallMetaName = Literal["run_id", "session_id", "turn_id", "tool_call_id", "parent_tool_call_id"]
CALL_META_NAMES: Final[tuple[CallMetaName, ...]] = get_args(CallMetaName)
"""Facts about a call, all strings, that the runtime fills into injected fields of these names."""

BOUNDS_FIELDS: Final = ("returned", "truncated", "total", "refinement_hint")
"""Fields of a bounded result, in the order in which they are added (Goa-AI's `BoundedResult`)."""

Hint = Literal["read_only", "destructive", "idempotent", "open_world", "edit"]

MCP_HINTS: Final[dict[Hint, tuple[str, bool]]] = {
    "read_only": ("readOnlyHint", False),
    "destructive": ("destructiveHint", True),
    "idempotent": ("idempotentHint", False),
    "open_world": ("openWorldHint", True),
}
"""MCP's name and default of each behaviour hint (MCP 2025-06-18, `ToolAnnotations`)."""

IconTheme = Literal["light", "dark"]
"""Backgrounds that an icon may be made for (MCP 2025-11-25, `Icon`)."""

ArtifactView = Literal["chart.line", "chart.bar", "table", "markdown", "image"]
"""How a user interface shows an artifact."""

OnMissingFields = Literal["resume", "await_clarification", "finalize"]
"""What a run does when the model left out required arguments: it is asked again, a person is asked, or the
run ends with what is known (Goa-AI's `OnMissingFields`)."""

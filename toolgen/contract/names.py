"""Names that the generator prints and the runtime reads: one home for both."""

from typing import Final, Literal, get_args

FORMAT: Final = 1
"""Version of the generated code, of the catalogue and of the manifest that this toolgen writes."""

CATALOG: Final = "tool_schemas.json"
"""The file of a catalogue: of a toolset, where its codecs find their schemas, of an agent, of the design."""
COMPLETION_SCHEMAS: Final = "completion_schemas.json"
"""The same of the completions of a service."""

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

OnMissingFields = Literal["resume", "await_clarification", "finalize"]
"""What a run does when the model left out required arguments: it is asked again, a person is asked, or the
run ends with what is known (Goa-AI's `OnMissingFields`)."""

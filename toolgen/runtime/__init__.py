"""The runtime, which executes calls, and the names that generated code imports."""

from typing import TYPE_CHECKING

from toolgen.calls.call import CallMeta, ToolCall
from toolgen.calls.context import Key, ToolContext, Values
from toolgen.calls.errors import (
    BusyError,
    DeadlockError,
    DeclaredError,
    EventLoopError,
    MalformedResultError,
    OutcomeUnknownError,
    RegistrationError,
    RuntimeClosedError,
    ToolError,
    ToolValidationError,
    UnknownToolError,
)
from toolgen.calls.results import (
    Artifact,
    ArtifactRef,
    Bounds,
    LongRunningReturn,
    Pending,
    RetryHint,
    Suspended,
    ToolOutcome,
    ToolResult,
    ToolReturn,
    Unfinished,
)
from toolgen.calls.specs import ConfirmSpec, ToolSpec
from toolgen.calls.steps.registered_tool import Interceptor
from toolgen.calls.steps.scheduling import Scheduling
from toolgen.calls.toolsets.registration import BoundTool, ToolsetRegistration
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.lazy import lazy_exports
from toolgen.contract.limits import Limits
from toolgen.shapes.design.model import Injected, ToolModel
from toolgen.shapes.issues import FieldIssue

from .runtime import Runtime

if TYPE_CHECKING:
    from toolgen.calls.content import AudioContent, Content, ImageContent, ResourceContent, TextContent
    from toolgen.calls.steps.bridge import CallEndedError
    from toolgen.calls.steps.hooks import Abort, Answer, Continue, Deny, Hook, Verdict
    from toolgen.calls.steps.policy import Allow, Ask, Decision, Policy
    from toolgen.calls.steps.thread_pool import in_thread
    from toolgen.calls.sync_context import SyncToolContext
    from toolgen.calls.toolsets.dynamic import DynamicToolset, ReadonlyContext, SnapshotError, StaticToolset
    from toolgen.calls.toolsets.snapshot import Snapshot

__all__ = [
    "Abort",
    "Allow",
    "Answer",
    "Artifact",
    "ArtifactRef",
    "Ask",
    "AudioContent",
    "BoundTool",
    "Bounds",
    "BusyError",
    "CallEndedError",
    "CallMeta",
    "ConfirmSpec",
    "Content",
    "Continue",
    "DeadlockError",
    "Decision",
    "DeclaredError",
    "Deny",
    "DynamicToolset",
    "EventLoopError",
    "FieldIssue",
    "Hook",
    "ImageContent",
    "Injected",
    "Interceptor",
    "Json",
    "Key",
    "Limits",
    "LongRunningReturn",
    "MalformedResultError",
    "OutcomeUnknownError",
    "Pending",
    "Policy",
    "ReadonlyContext",
    "RegistrationError",
    "ResourceContent",
    "RetryHint",
    "Runtime",
    "RuntimeClosedError",
    "Scheduling",
    "Snapshot",
    "SnapshotError",
    "StaticToolset",
    "Suspended",
    "SyncToolContext",
    "TextContent",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "ToolModel",
    "ToolOutcome",
    "ToolResult",
    "ToolReturn",
    "ToolSpec",
    "ToolValidationError",
    "ToolgenError",
    "ToolsetRegistration",
    "Unfinished",
    "UnknownToolError",
    "Values",
    "Verdict",
    "in_thread",
]

_LAZY = {
    "toolgen.calls.content": "AudioContent Content ImageContent ResourceContent TextContent",
    "toolgen.calls.steps.bridge": "CallEndedError",
    "toolgen.calls.steps.hooks": "Abort Answer Continue Deny Hook Verdict",
    "toolgen.calls.steps.policy": "Allow Ask Decision Policy",
    "toolgen.calls.sync_context": "SyncToolContext",
    "toolgen.calls.steps.thread_pool": "in_thread",
    "toolgen.calls.toolsets.dynamic": "DynamicToolset ReadonlyContext SnapshotError StaticToolset",
    "toolgen.calls.toolsets.snapshot": "Snapshot",
}
"""Lazy imports of names that a plain call does not need, by their module."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)

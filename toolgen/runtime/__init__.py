"""The runtime: what generated code imports, and what executes calls."""

from typing import TYPE_CHECKING

from toolgen.calls.call import CallMeta, CallName, CallNameError, SeenBounds, ToolCall
from toolgen.calls.codec import Codec
from toolgen.calls.context import Key, ToolContext, Values
from toolgen.calls.errors import (
    BusyError,
    CredentialNeededError,
    DeadlockError,
    DeclaredError,
    EventLoopError,
    FormatError,
    MalformedResultError,
    NotBegunError,
    NotInjectedError,
    OutcomeUnknownError,
    RegistrationError,
    RuntimeClosedError,
    ToolError,
    ToolValidationError,
    UnfitAnswerError,
    UnknownArtifactError,
    UnknownToolError,
)
from toolgen.calls.reports import Trace, TraceStep
from toolgen.calls.results import (
    Actions,
    Artifact,
    ArtifactRef,
    Bounds,
    LongRunningReturn,
    Pending,
    Received,
    RetryHint,
    RetryReason,
    Suspended,
    SuspensionKind,
    Telemetry,
    ToolOutcome,
    ToolResult,
    ToolReturn,
    ToolStatus,
    Unfinished,
)
from toolgen.calls.specs import (
    ArtifactSpec,
    BoundedSpec,
    ConfirmSpec,
    ErrorSpec,
    LongRunningSpec,
    NativeTool,
    ToolSpec,
)
from toolgen.calls.steps.registered_tool import Interceptor
from toolgen.calls.steps.scheduling import Scheduling
from toolgen.calls.toolsets.registration import BoundTool, RawExecutor, ToolsetRegistration
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.lazy import lazy_exports
from toolgen.contract.limits import Limits
from toolgen.contract.printable import printable, printable_lines
from toolgen.contract.tool_facts import Deprecation, Icon
from toolgen.shapes.design.model import (
    AnyJson,
    Injected,
    OpenModel,
    ToolModel,
    Url,
)
from toolgen.shapes.issues import FieldIssue

from .runtime import Runtime

if TYPE_CHECKING:
    from toolgen.calls.content import AudioContent, Content, ImageContent, ResourceContent, TextContent
    from toolgen.calls.functions.foreign_codec import SchemaCodec, json_schema_codec
    from toolgen.calls.functions.tools import func_error, func_tool, function_toolset
    from toolgen.calls.functions.type_codec import TypeCodec
    from toolgen.calls.steps.bridge import CallEndedError
    from toolgen.calls.steps.hooks import Abort, Answer, Continue, Deny, Hook, Verdict
    from toolgen.calls.steps.policy import Allow, Ask, Decision, Policy
    from toolgen.calls.steps.thread_pool import in_thread
    from toolgen.calls.sync_context import SyncToolContext, ToolMethod
    from toolgen.calls.toolsets.dynamic import (
        DynamicToolset,
        OnError,
        ReadonlyContext,
        SnapshotError,
        StaticToolset,
    )
    from toolgen.calls.toolsets.snapshot import Snapshot, model_description
    from toolgen.runtime.views import allow_tools, filter_toolset, prefixed, with_confirmation
    from toolgen.shapes.python.sensitive import Sensitive
    from toolgen.waiting.once_call import Resolution, ResolveError
    from toolgen.waiting.unfit import text_for_model

__all__ = [
    "Abort",
    "Actions",
    "Allow",
    "Answer",
    "AnyJson",
    "Artifact",
    "ArtifactRef",
    "ArtifactSpec",
    "Ask",
    "AudioContent",
    "BoundTool",
    "BoundedSpec",
    "Bounds",
    "BusyError",
    "CallEndedError",
    "CallMeta",
    "CallName",
    "CallNameError",
    "Codec",
    "ConfirmSpec",
    "Content",
    "Continue",
    "CredentialNeededError",
    "DeadlockError",
    "Decision",
    "DeclaredError",
    "Deny",
    "Deprecation",
    "DynamicToolset",
    "ErrorSpec",
    "EventLoopError",
    "FieldIssue",
    "FormatError",
    "Hook",
    "Icon",
    "ImageContent",
    "Injected",
    "Interceptor",
    "Json",
    "Key",
    "Limits",
    "LongRunningReturn",
    "LongRunningSpec",
    "MalformedResultError",
    "NativeTool",
    "NotBegunError",
    "NotInjectedError",
    "OnError",
    "OpenModel",
    "OutcomeUnknownError",
    "Pending",
    "Policy",
    "RawExecutor",
    "ReadonlyContext",
    "Received",
    "RegistrationError",
    "Resolution",
    "ResolveError",
    "ResourceContent",
    "RetryHint",
    "RetryReason",
    "Runtime",
    "RuntimeClosedError",
    "Scheduling",
    "SchemaCodec",
    "SeenBounds",
    "Sensitive",
    "Snapshot",
    "SnapshotError",
    "StaticToolset",
    "Suspended",
    "SuspensionKind",
    "SyncToolContext",
    "Telemetry",
    "TextContent",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "ToolMethod",
    "ToolModel",
    "ToolOutcome",
    "ToolResult",
    "ToolReturn",
    "ToolSpec",
    "ToolStatus",
    "ToolValidationError",
    "ToolgenError",
    "ToolsetRegistration",
    "Trace",
    "TraceStep",
    "TypeCodec",
    "Unfinished",
    "UnfitAnswerError",
    "UnknownArtifactError",
    "UnknownToolError",
    "Url",
    "Values",
    "Verdict",
    "allow_tools",
    "filter_toolset",
    "func_error",
    "func_tool",
    "function_toolset",
    "in_thread",
    "json_schema_codec",
    "model_description",
    "prefixed",
    "printable",
    "printable_lines",
    "text_for_model",
    "with_confirmation",
]

_LATER = {
    "toolgen.waiting.once_call": "Resolution ResolveError",
    "toolgen.waiting.unfit": "text_for_model",
    "toolgen.calls.functions.tools": "func_error func_tool function_toolset",
    "toolgen.calls.functions.type_codec": "TypeCodec",
    "toolgen.calls.content": "AudioContent Content ImageContent ResourceContent TextContent",
    "toolgen.calls.functions.foreign_codec": "SchemaCodec json_schema_codec",
    "toolgen.calls.steps.bridge": "CallEndedError",
    "toolgen.calls.steps.hooks": "Abort Answer Continue Deny Hook Verdict",
    "toolgen.calls.steps.policy": "Allow Ask Decision Policy",
    "toolgen.calls.sync_context": "SyncToolContext ToolMethod",
    "toolgen.calls.steps.thread_pool": "in_thread",
    "toolgen.calls.toolsets.dynamic": "DynamicToolset OnError ReadonlyContext SnapshotError StaticToolset",
    "toolgen.calls.toolsets.snapshot": "Snapshot model_description",
    "toolgen.runtime.views": "allow_tools filter_toolset prefixed with_confirmation",
    "toolgen.shapes.python.sensitive": "Sensitive",
}
"""Names that no plain call needs, by their module, which is imported at their first use."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LATER)

"""The runtime: what generated code imports, and what executes calls."""

from typing import TYPE_CHECKING

from toolgen.calls.call import CallMeta, SeenBounds, ToolCall
from toolgen.calls.codec import CheckedCodec, Codec
from toolgen.calls.codec_module import CodecModule
from toolgen.calls.context import Key, ToolContext, Values
from toolgen.calls.errors import (
    BusyError,
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
    UnknownArtifactError,
    UnknownToolError,
    check_format,
)
from toolgen.calls.results import (
    Actions,
    Artifact,
    ArtifactRef,
    Bounds,
    LongRunningReturn,
    Pending,
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
    CallBuilder,
    ConfirmSpec,
    ErrorSpec,
    LongRunningSpec,
    ToolSpec,
)
from toolgen.calls.steps.methods import ToolMethod, tool_method
from toolgen.calls.steps.registered_tool import Interceptor
from toolgen.calls.steps.scheduling import Scheduling
from toolgen.calls.toolsets.registration import BoundTool, RawExecutor, ToolsetRegistration
from toolgen.contract.errors import ToolgenError
from toolgen.contract.limits import Limits
from toolgen.contract.printable import printable, printable_lines
from toolgen.contract.tool_facts import Deprecation, Icon
from toolgen.shapes.design.model import (
    AnyJson,
    Email,
    Hostname,
    Injected,
    IPv4,
    IPv6,
    Nullable,
    OpenModel,
    ToolModel,
    UniqueItems,
    Url,
)
from toolgen.shapes.issues import FieldIssue

from .lazy import LazyModule, lazy_attribute
from .runtime import Runtime

if TYPE_CHECKING:
    from toolgen.calls.content import AudioContent, Content, ImageContent, ResourceContent, TextContent
    from toolgen.calls.foreign_codec import SchemaCodec
    from toolgen.calls.native import NativeTool
    from toolgen.calls.steps.bridge import CallEndedError
    from toolgen.calls.steps.hooks import Abort, Answer, Continue, Deny, Hook, Verdict
    from toolgen.calls.steps.policy import Allow, Ask, Decision, Policy
    from toolgen.calls.steps.trace import Trace, TraceStep
    from toolgen.calls.sync_context import SyncToolContext
    from toolgen.calls.toolsets.descriptions import model_description
    from toolgen.calls.toolsets.dynamic import (
        DynamicToolset,
        OnError,
        ReadonlyContext,
        SnapshotError,
        StaticToolset,
    )
    from toolgen.calls.toolsets.snapshot import Snapshot
    from toolgen.runtime.present_fields import given, present_fields
    from toolgen.runtime.schema_codec import json_schema_codec
    from toolgen.runtime.threads import in_thread
    from toolgen.runtime.views import allow_tools, filter_toolset, prefixed, with_confirmation
    from toolgen.shapes.foreign.model import Foreign, SchemaModel
    from toolgen.shapes.python.sensitive import Sensitive

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
    "CallBuilder",
    "CallEndedError",
    "CallMeta",
    "CheckedCodec",
    "Codec",
    "CodecModule",
    "ConfirmSpec",
    "Content",
    "Continue",
    "DeadlockError",
    "Decision",
    "DeclaredError",
    "Deny",
    "Deprecation",
    "DynamicToolset",
    "Email",
    "ErrorSpec",
    "EventLoopError",
    "FieldIssue",
    "Foreign",
    "FormatError",
    "Hook",
    "Hostname",
    "IPv4",
    "IPv6",
    "Icon",
    "ImageContent",
    "Injected",
    "Interceptor",
    "Key",
    "LazyModule",
    "Limits",
    "LongRunningReturn",
    "LongRunningSpec",
    "MalformedResultError",
    "NativeTool",
    "NotBegunError",
    "NotInjectedError",
    "Nullable",
    "OnError",
    "OpenModel",
    "OutcomeUnknownError",
    "Pending",
    "Policy",
    "RawExecutor",
    "ReadonlyContext",
    "RegistrationError",
    "ResourceContent",
    "RetryHint",
    "RetryReason",
    "Runtime",
    "RuntimeClosedError",
    "Scheduling",
    "SchemaCodec",
    "SchemaModel",
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
    "Unfinished",
    "UniqueItems",
    "UnknownArtifactError",
    "UnknownToolError",
    "Url",
    "Values",
    "Verdict",
    "allow_tools",
    "check_format",
    "filter_toolset",
    "given",
    "in_thread",
    "json_schema_codec",
    "lazy_attribute",
    "model_description",
    "prefixed",
    "present_fields",
    "printable",
    "printable_lines",
    "tool_method",
    "with_confirmation",
]

_LATER = {
    "toolgen.calls.content": "AudioContent Content ImageContent ResourceContent TextContent",
    "toolgen.calls.foreign_codec": "SchemaCodec",
    "toolgen.calls.native": "NativeTool",
    "toolgen.runtime.present_fields": "given present_fields",
    "toolgen.runtime.schema_codec": "json_schema_codec",
    "toolgen.calls.steps.bridge": "CallEndedError",
    "toolgen.calls.steps.hooks": "Abort Answer Continue Deny Hook Verdict",
    "toolgen.calls.steps.policy": "Allow Ask Decision Policy",
    "toolgen.calls.steps.trace": "Trace TraceStep",
    "toolgen.calls.sync_context": "SyncToolContext",
    "toolgen.runtime.threads": "in_thread",
    "toolgen.calls.toolsets.descriptions": "model_description",
    "toolgen.calls.toolsets.dynamic": "DynamicToolset OnError ReadonlyContext SnapshotError StaticToolset",
    "toolgen.calls.toolsets.snapshot": "Snapshot",
    "toolgen.runtime.views": "allow_tools filter_toolset prefixed with_confirmation",
    "toolgen.shapes.foreign.model": "Foreign SchemaModel",
    "toolgen.shapes.python.sensitive": "Sensitive",
}
"""Names that no plain call needs, by their module, which is imported at their first use."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        module = next((module for module, names in _LATER.items() if name in names.split()), None)
        return lazy_attribute(__name__, name, module)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

"""The runtime: what generated code imports, and what executes calls."""

from toolgen.contract.errors import ToolgenError
from toolgen.contract.limits import Limits
from toolgen.contract.presentation import Deprecation, Icon
from toolgen.contract.printable import printable, printable_lines
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
from toolgen.shapes.foreign.model import Foreign, SchemaModel
from toolgen.shapes.issues import FieldIssue
from toolgen.shapes.python.sensitive import Sensitive

from .call.bridge import CallEndedError
from .call.hooks import Abort, Answer, Continue, Deny, Hook, Verdict
from .call.methods import ToolMethod, tool_method
from .call.policy import Allow, Ask, Decision, Policy
from .call.registered_tool import Interceptor
from .call.scheduling import Scheduling
from .call.trace import Trace, TraceStep
from .calls import CallBuilder, CallMeta, SeenBounds, ToolCall
from .codec import CheckedCodec, Codec, SchemaCodec
from .codec_module import CodecModule
from .content import AudioContent, Content, ImageContent, ResourceContent, TextContent
from .context import ToolContext
from .errors import (
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
    ToolError,
    ToolValidationError,
    UnknownArtifactError,
    UnknownToolError,
    check_format,
)
from .lazy import LazyModule, lazy_attribute
from .native import NativeTool
from .present_fields import given, present_fields
from .results import (
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
from .runtime import Runtime
from .schema_codec import json_schema_codec
from .specs import ArtifactSpec, BoundedSpec, ConfirmSpec, ErrorSpec, LongRunningSpec, ToolSpec
from .sync_context import SyncToolContext
from .threads import in_thread
from .toolsets.descriptions import model_description
from .toolsets.dynamic import DynamicToolset, OnError, ReadonlyContext, SnapshotError, StaticToolset
from .toolsets.registration import BoundTool, RawExecutor, ToolsetRegistration
from .toolsets.snapshot import Snapshot
from .toolsets.views import allow_tools, filter_toolset, prefixed, with_confirmation
from .values import Key, Values

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

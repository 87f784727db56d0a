"""The runtime: what generated code imports, and what executes calls."""

from toolgen.contract.errors import ToolgenError
from toolgen.contract.issues import FieldIssue
from toolgen.contract.model import (
    AnyJson,
    Email,
    Hostname,
    Injected,
    IPv4,
    IPv6,
    Nullable,
    OpenModel,
    ToolModel,
    Url,
)
from toolgen.contract.schema_model import Foreign, SchemaModel

from .calls import CallBuilder, CallMeta, ToolCall
from .codec import CheckedCodec, Codec, CodecModule, SchemaCodec
from .context import ToolContext
from .errors import (
    FormatError,
    MalformedResultError,
    NotInjectedError,
    RegistrationError,
    ToolError,
    ToolValidationError,
    UnknownToolError,
)
from .lazy import LazyModule, lazy_attribute
from .presence import given
from .registration import Interceptor, RawExecutor, ToolsetRegistration
from .results import (
    Artifact,
    Bounds,
    RetryHint,
    RetryReason,
    ToolOutcome,
    ToolResult,
    ToolReturn,
    ToolStatus,
)
from .runtime import Runtime
from .specs import ArtifactSpec, BoundedSpec, ToolSpec
from .threads import in_thread
from .trace import Trace, TraceStep

__all__ = [
    "AnyJson",
    "Artifact",
    "ArtifactSpec",
    "BoundedSpec",
    "Bounds",
    "CallBuilder",
    "CallMeta",
    "CheckedCodec",
    "Codec",
    "CodecModule",
    "Email",
    "FieldIssue",
    "Foreign",
    "FormatError",
    "Hostname",
    "IPv4",
    "IPv6",
    "Injected",
    "Interceptor",
    "LazyModule",
    "MalformedResultError",
    "NotInjectedError",
    "Nullable",
    "OpenModel",
    "RawExecutor",
    "RegistrationError",
    "RetryHint",
    "RetryReason",
    "Runtime",
    "SchemaCodec",
    "SchemaModel",
    "ToolCall",
    "ToolContext",
    "ToolError",
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
    "UnknownToolError",
    "Url",
    "given",
    "in_thread",
    "lazy_attribute",
]

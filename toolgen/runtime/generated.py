"""Names for generated code only; they change with the generator, and authors do not write them."""

from typing import TYPE_CHECKING

from toolgen.calls.codec import Codec
from toolgen.calls.codec_module import CodecModule
from toolgen.calls.errors import FormatError, NotInjectedError, check_format
from toolgen.calls.specs import ArtifactSpec, BoundedSpec, CallBuilder, ErrorSpec, LongRunningSpec, NativeTool
from toolgen.calls.steps.methods import tool_method
from toolgen.calls.toolsets.registration import RawExecutor
from toolgen.contract.lazy import LazyModule, lazy_attribute, lazy_exports
from toolgen.contract.tool_facts import Deprecation, Icon
from toolgen.shapes.design.model import (
    AnyJson,
    Email,
    Hostname,
    IPv4,
    IPv6,
    Nullable,
    OpenModel,
    UniqueItems,
    Url,
    further_keys,
    present_fields,
)

if TYPE_CHECKING:
    from toolgen.shapes.foreign.model import Foreign, SchemaModel

__all__ = [
    "AnyJson",
    "ArtifactSpec",
    "BoundedSpec",
    "CallBuilder",
    "Codec",
    "CodecModule",
    "Deprecation",
    "Email",
    "ErrorSpec",
    "Foreign",
    "FormatError",
    "Hostname",
    "IPv4",
    "IPv6",
    "Icon",
    "LazyModule",
    "LongRunningSpec",
    "NativeTool",
    "NotInjectedError",
    "Nullable",
    "OpenModel",
    "RawExecutor",
    "SchemaModel",
    "UniqueItems",
    "Url",
    "check_format",
    "further_keys",
    "lazy_attribute",
    "present_fields",
    "tool_method",
]

_LAZY = {
    "toolgen.shapes.foreign.model": "Foreign SchemaModel",
}
"""Lazy imports of names that little generated code needs, by their module."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)

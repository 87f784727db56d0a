"""Tools of typed Python functions, and codecs of types and of JSON Schemas that no design has."""

from typing import TYPE_CHECKING

from toolgen.calls.codec import Codec
from toolgen.calls.functions.tools import func_error, func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.calls.specs import ArtifactSpec, LongRunningSpec
from toolgen.contract.lazy import lazy_exports
from toolgen.contract.tool_facts import Deprecation, Icon
from toolgen.shapes.python.sensitive import Sensitive

if TYPE_CHECKING:
    from toolgen.calls.functions.foreign_codec import SchemaCodec, json_schema_codec

__all__ = [
    "ArtifactSpec",
    "Codec",
    "Deprecation",
    "Icon",
    "LongRunningSpec",
    "SchemaCodec",
    "Sensitive",
    "TypeCodec",
    "func_error",
    "func_tool",
    "function_toolset",
    "json_schema_codec",
]

_LAZY = {
    "toolgen.calls.functions.foreign_codec": "SchemaCodec json_schema_codec",
}
"""Lazy imports of names that few hosts need, by their module."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)

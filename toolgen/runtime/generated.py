"""What generated code alone needs; it changes with the generator, and no author writes these names."""

from typing import TYPE_CHECKING

from toolgen.calls.codec_module import CodecModule
from toolgen.calls.errors import check_format
from toolgen.calls.specs import CallBuilder
from toolgen.calls.steps.methods import tool_method
from toolgen.contract.lazy import LazyModule, lazy_attribute, lazy_exports
from toolgen.shapes.design.model import (
    Email,
    Hostname,
    IPv4,
    IPv6,
    Nullable,
    UniqueItems,
    further_keys,
    present_fields,
)

if TYPE_CHECKING:
    from toolgen.shapes.foreign.model import Foreign, SchemaModel

__all__ = [
    "CallBuilder",
    "CodecModule",
    "Email",
    "Foreign",
    "Hostname",
    "IPv4",
    "IPv6",
    "LazyModule",
    "Nullable",
    "SchemaModel",
    "UniqueItems",
    "check_format",
    "further_keys",
    "lazy_attribute",
    "present_fields",
    "tool_method",
]

_LATER = {
    "toolgen.shapes.foreign.model": "Foreign SchemaModel",
}
"""Names that little generated code has, by their module, which is imported at their first use."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LATER)

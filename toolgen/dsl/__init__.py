"""The design vocabulary, and `build`, which checks a design and resolves it."""

from .attributes import Attribute, Required
from .clauses import Annotations, Artifact, BindTo, BoundedResult, Example, Inject, Meta, Tags
from .composites import ArrayOf, Enum, MapOf, Nullable, Object, OneOf, Type
from .datatypes import (
    Any,
    Boolean,
    Bytes,
    Date,
    DateTime,
    Decimal,
    Duration,
    Float,
    Int,
    String,
    Url,
    Uuid,
)
from .evaluation import Evaluation, build
from .foreign import JSONSchema
from .structure import Args, Design, Method, Payload, Result, Return, Service, Tool, Toolset

__all__ = [
    "Annotations",
    "Any",
    "Args",
    "ArrayOf",
    "Artifact",
    "Attribute",
    "BindTo",
    "Boolean",
    "BoundedResult",
    "Bytes",
    "Date",
    "DateTime",
    "Decimal",
    "Design",
    "Duration",
    "Enum",
    "Evaluation",
    "Example",
    "Float",
    "Inject",
    "Int",
    "JSONSchema",
    "MapOf",
    "Meta",
    "Method",
    "Nullable",
    "Object",
    "OneOf",
    "Payload",
    "Required",
    "Result",
    "Return",
    "Service",
    "String",
    "Tags",
    "Tool",
    "Toolset",
    "Type",
    "Url",
    "Uuid",
    "build",
]

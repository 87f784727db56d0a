"""Tools and arguments as a host may give them, in the forms that a call has.

What a host gives in another form is the host's mistake, and raised; only a model's mistake is a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from toolgen.shapes.design.model import ToolModel

from ..codec import Arguments
from ..errors import MalformedResultError
from ..specs import ToolSpec

HostArguments: TypeAlias = Arguments | ToolModel
"""JSON text, a mapping of JSON values, or the payload of the tool."""


def tool_name(tool: str | ToolSpec[Any, Any]) -> str:
    """Return the name of a tool, or the id of a spec.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(tool, str):
        return tool
    if isinstance(tool, ToolSpec):
        return tool.id
    raise TypeError(f"expected a tool's id, its wire name or its ToolSpec, got {type(tool).__name__}")


def call_arguments(spec: ToolSpec[Any, Any], arguments: HostArguments) -> Arguments:
    """Return the arguments of a call; a payload of the tool is encoded.

    Raises:
        TypeError: they are neither JSON text nor a mapping nor a payload of this tool, or the payload holds
            values of other types.
    """
    if isinstance(arguments, (bytes, str, Mapping)):
        return arguments
    if not isinstance(arguments, ToolModel):
        raise TypeError(
            f"the arguments of {spec.name} are of the type {type(arguments).__name__}; "
            f"give JSON text, a mapping or a {spec.payload.name}"
        )
    try:
        return spec.payload.encode(arguments)
    except MalformedResultError as error:
        raise TypeError(f"the arguments of {spec.name} do not encode: {error}") from error

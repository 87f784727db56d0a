"""Tools that the provider executes: described by classes of pydantic-ai, or passed on unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.native_tools import NATIVE_TOOL_TYPES, AbstractNativeTool
from pydantic_ai.tools import ToolDefinition

from toolgen.calls.specs import NativeTool
from toolgen.runtime import RegistrationError, ToolSpec

from ..planner.plan_faults import PlannerError
from .failures import redact
from .verbatim import VerbatimTool, verbatim_model_of, without_version

_KINDS: Final[Mapping[str, str]] = {
    "code_interpreter": "code_execution",
    "google_search": "web_search",
    "mcp": "mcp_server",
    "url_context": "web_fetch",
    "web_search_preview": "web_search",
}
"""pydantic-ai's tool names, by the provider's tool name."""


class _UnknownToolError(Exception):
    """pydantic-ai has no class for a tool, or no class that accepts its configuration."""


def natives(tools: Iterable[NativeTool], model: Model) -> list[AbstractNativeTool]:
    """Return the native tools of the model's provider; the tools of other providers are left out.

    If pydantic-ai has no class for a tool, it is passed on verbatim, provided that the wire format supports
    this.

    Raises:
        PlannerError: a tool of this provider cannot be passed on in either way.
    """
    names = {name for system in (model.system, _canonical(model)) for name in (system, system.split("-")[0])}
    return [_native_tool(tool, model) for tool in tools if tool.provider in names]


def check(native: Sequence[NativeTool], tools: Sequence[ToolSpec], model: Model) -> None:
    """Raise if a request cannot combine the native tools of the model's provider with these other tools.

    Raises:
        RegistrationError: the model does not support the combination.
    """
    declared = [ToolDefinition(name=spec.name, description=spec.description) for spec in tools[:1]]
    try:
        own = natives(native, model)
        if not own:
            return
        if declared and model.profile.get("google_supports_tool_combination") is False:
            raise PlannerError("it does not support tools of its provider together with other tools")
        model.prepare_request(None, ModelRequestParameters(function_tools=declared, native_tools=own))
    except (PlannerError, UserError) as error:
        ids = ", ".join(tool.id for tool in native)
        raise RegistrationError(
            f"{model.model_name} does not support {ids}: {redact(str(error))}",
            hint="remove the NativeTool from what the agent uses, or choose another model for the agent",
        ) from error


def _canonical(model: Model) -> str:
    try:
        return model.canonical_system
    except NotImplementedError:  # a router has no system of its own
        return model.system


def _native_tool(tool: NativeTool, model: Model) -> AbstractNativeTool:
    inner = verbatim_model_of(model)
    try:
        native = _known_tool(tool)
    except _UnknownToolError as error:
        if inner is None:
            raise PlannerError(f"{tool.id}: {error}") from None
    else:
        takes = tuple(model.profile.get("supported_native_tools", ()))
        if inner is None or isinstance(native, takes):
            return native
    try:
        return VerbatimTool(document=inner.document(tool.kind, tool.config))
    except ValueError as error:
        raise PlannerError(f"{tool.id}: {error}") from None


def _known_tool(tool: NativeTool) -> AbstractNativeTool:
    """Return the tool as a pydantic-ai object.

    Raises:
        _UnknownToolError: pydantic-ai has no class for the tool, or does not accept its configuration.
    """
    plain = without_version(tool.kind)
    kind = _KINDS.get(plain, plain)
    tool_class = NATIVE_TOOL_TYPES.get(kind)
    if tool_class is None:
        raise _UnknownToolError(f"pydantic-ai has no tool {tool.kind!r} of {tool.provider}")
    options = {field.name for field in fields(tool_class)} - {"kind"}
    if unknown := sorted(set(tool.config) - options):
        raise _UnknownToolError(f"pydantic-ai has no {unknown[0]!r} for {tool.kind}")
    try:
        native: AbstractNativeTool = TypeAdapter(tool_class).validate_python({**tool.config, "kind": kind})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise _UnknownToolError(f"{place}: {first['msg']}") from None
    return native

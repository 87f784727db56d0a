"""Tools that the provider runs itself, as pydantic-ai names and describes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.models import Model
from pydantic_ai.native_tools import NATIVE_TOOL_TYPES, AbstractNativeTool

from toolgen.runtime import NativeTool
from toolgen.runtime.agents import PlannerError

_KINDS: Final[Mapping[str, str]] = {
    "code_interpreter": "code_execution",
    "google_search": "web_search",
    "mcp": "mcp_server",
    "url_context": "web_fetch",
    "web_search_preview": "web_search",
}
"""By a provider's name of a tool, pydantic-ai's."""
_VERSION: Final = re.compile(r"_\d{8}$")
"""What Anthropic's names of its tools end with."""


def natives(tools: Iterable[NativeTool], model: Model) -> list[AbstractNativeTool]:
    """Return those of the model's provider; the tools of other providers are left out.

    Raises:
        PlannerError: pydantic-ai cannot express one of this provider.
    """
    names = {name for system in (model.system, _canonical(model)) for name in (system, system.split("-")[0])}
    return [_native(tool) for tool in tools if tool.provider in names]


def _canonical(model: Model) -> str:
    try:
        return model.canonical_system
    except NotImplementedError:  # a router has no system of its own
        return model.system


def _native(tool: NativeTool) -> AbstractNativeTool:
    plain = _VERSION.sub("", tool.kind)
    kind = _KINDS.get(plain, plain)
    made = NATIVE_TOOL_TYPES.get(kind)
    if made is None:
        raise PlannerError(f"{tool.id}: pydantic-ai knows no tool {tool.kind!r} of {tool.provider}")
    known = {field.name for field in fields(made)} - {"kind"}
    if unknown := sorted(set(tool.config) - known):
        raise PlannerError(f"{tool.id}: pydantic-ai has no {unknown[0]!r} for {tool.kind}")
    try:
        found: AbstractNativeTool = TypeAdapter(made).validate_python({**tool.config, "kind": kind})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise PlannerError(f"{tool.id}: {place}: {first['msg']}") from None
    return found

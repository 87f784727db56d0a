"""Function tools in a request, declared by toolgen for the provider of the model.

pydantic-ai rewrites schemas with its own rules, and no codec can reverse them. If the wire format is known,
its rewriting is bypassed for these tools only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from toolgen.catalog.providers import Projection

from .wrappers import class_named, inner_models

_KEY: Final = "toolgen_declaration"
"""Metadata key of the declaration in a tool definition."""
_STRICT_SYSTEMS: Final = frozenset(("openai", "azure"))
"""Providers of OpenAI's wire formats that enforce a schema."""
_PLAIN: Final = "openai"
"""The dialect for models with an unknown wire format; pydantic-ai rewrites it further."""


class DeclaredModel(Model):
    """A model that sends declarations unchanged; its second base is the class of the author's model."""

    def customize_request_parameters(
        self, model_request_parameters: ModelRequestParameters
    ) -> ModelRequestParameters:
        """Return the parameters as pydantic-ai customizes them, with declared schemas unchanged."""
        parameters = model_request_parameters
        customized = super().customize_request_parameters(
            replace(
                parameters,
                function_tools=[_without_schema(tool) for tool in parameters.function_tools],
                output_tools=[_without_schema(tool) for tool in parameters.output_tools],
            )
        )
        return replace(
            customized,
            function_tools=_with_schemas(parameters.function_tools, customized.function_tools),
            output_tools=_with_schemas(parameters.output_tools, customized.output_tools),
        )

    def _map_tool_definition(self, f: ToolDefinition, *args: Any, **more: Any) -> object:
        """Return the declaration with pydantic-ai's additions; Google's models do not call this method."""
        other: Any = super()  # the author's model
        return {**other._map_tool_definition(f, *args, **more), **_declaration(f)}


_DIALECTS: Final[Mapping[str, tuple[str, str]]] = {
    "OpenAIResponsesModel": ("openai-responses-strict", "openai-responses"),
    "OpenAIChatModel": ("openai-strict", "openai"),
    "AnthropicModel": ("anthropic-strict", "anthropic"),
    "GoogleModel": ("gemini-json", "gemini-json"),
}
"""Dialects without and with strict tools by pydantic-ai's class."""


def declaring(model: Model) -> type[Model] | None:
    """Return the class that makes a model send declarations unchanged; None if its wire format is unknown."""
    return DeclaredModel if _is_own_wire(model) and class_named(model, _DIALECTS) else None


def dialect_of(model: Model, *, strict: bool) -> str:
    """Return the dialect in which tools are declared to a model; the plain one for a mixed router."""
    return known_dialect(model, strict=strict) or _PLAIN


def known_dialect(model: Model, *, strict: bool) -> str | None:
    """Return the dialect of a model's wire format; None if it is unknown or a router has several."""
    dialects = {_dialect(inner, strict=strict) for inner in inner_models(model)}
    return dialects.pop() if len(dialects) == 1 else None


def definitions(model: Model, projections: Iterable[Projection]) -> list[ToolDefinition]:
    """Return the tools in pydantic-ai's form, with the declarations if the model sends them."""
    is_declared = all(isinstance(inner, DeclaredModel) for inner in inner_models(model))
    return [_definition(projection, is_declared=is_declared) for projection in projections]


def _definition(projection: Projection, *, is_declared: bool) -> ToolDefinition:
    has_strict = is_declared and not projection.dialect.name.startswith("gemini")
    return ToolDefinition(
        name=projection.name,
        description=projection.description.strip(),
        parameters_json_schema=dict(projection.schema),
        strict=projection.is_strict if has_strict else None,
        metadata={_KEY: projection.declaration} if is_declared else None,
    )


def _dialect(model: Model, *, strict: bool) -> str | None:
    if declaring(model) is None:
        return None
    held, plain = _DIALECTS[class_named(model, _DIALECTS)]
    return held if strict and _can_be_strict(model) else plain


def _can_be_strict(model: Model) -> bool:
    profile: Mapping[str, object] = model.profile
    if model.system in _STRICT_SYSTEMS:
        return bool(profile.get("openai_supports_strict_tool_definition", True))
    return bool(profile.get("supports_json_schema_output", False))


def _is_own_wire(model: Model) -> bool:
    """Return whether the provider defined the wire format, and does not merely implement a compatible one."""
    return model.system in _STRICT_SYSTEMS or model.system.startswith(("anthropic", "google"))


def _declaration(tool: ToolDefinition) -> dict[str, object]:
    declaration: dict[str, Any] = (tool.metadata or {}).get(_KEY, {})
    return declaration


def _without_schema(tool: ToolDefinition) -> ToolDefinition:
    empty = {"type": "object", "properties": {}}
    return replace(tool, parameters_json_schema=empty) if _declaration(tool) else tool


def _with_schemas(tools: list[ToolDefinition], customized: list[ToolDefinition]) -> list[ToolDefinition]:
    return [
        replace(other, parameters_json_schema=tool.parameters_json_schema, strict=tool.strict)
        if _declaration(tool)
        else other
        for tool, other in zip(tools, customized, strict=True)
    ]

"""The options of a request: its tools, the agents that can take over, the schema of the final result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from pydantic_ai.messages import InstructionPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings, ToolOrOutput

from toolgen.calls.toolsets.snapshot import model_description
from toolgen.catalog.entry import tool_entry
from toolgen.catalog.providers import Projection, declarations
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from ..planner.planner import PlanInput
from .declared_tools import definitions
from .native_tools import natives

_MOST_CHARACTERS: Final = 64
"""Maximum length of a tool's name (OpenAI, Anthropic)."""
_MESSAGE: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "message": {
            "type": "string",
            "description": "Message for the agent. Default: the person's own words.",
        }
    },
    "additionalProperties": False,
}


@frozen_record
class RequestOptions:
    """The tools, hand-overs and final result that one request offers to the model."""

    parameters: ModelRequestParameters
    settings: ModelSettings
    projections: Mapping[str, Projection] = field(default_factory=dict)
    """Projections by the name that is sent: how a tool is declared and its arguments are decoded."""
    transfers: Mapping[str, str] = field(default_factory=dict)
    """Agents by the name of the tool that hands the conversation over to them."""
    final: str = ""
    """Name of the tool that takes the final result; "" if the run ends with text."""
    key: str = ""
    """The argument of that tool that contains the result; "" if all its arguments are the result."""

    @property
    def own(self) -> frozenset[str]:
        """Names of the tools that only this request has: hand-overs and the final result."""
        return frozenset({*self.transfers, *([self.final] if self.final else [])})


def request_options(plan_input: PlanInput, model: Model, dialect: str) -> RequestOptions:
    """Build the request options of a planning; equal inputs give equal text, for prompt caches.

    Raises:
        PlannerError: a tool of the model's provider cannot be expressed.
    """
    tools: list[Any] = []
    if not plan_input.closing:
        tools = [
            {**tool_entry(spec.record()), "description": model_description(spec, plan_input.tools)}
            for spec in plan_input.tools
        ]
    taken = {spec.name for spec in plan_input.tools}
    transfers: dict[str, str] = {}
    if not plan_input.closing:
        for agent, description in plan_input.transfers.items():
            name = _unique_name(f"transfer_to_{agent}", taken)
            transfers[name] = agent
            tools.append(_entry(name, f"Hand the conversation over to {agent}. {description}", _MESSAGE))
    final, key = "", ""
    if plan_input.result_schema is not None:
        final = _unique_name("final_result", taken)
        key, schema = _object_schema(plan_input.result_schema)
        tools.append(_entry(final, "Give the final result. Call it alone, when the work is done.", schema))
    projections = declarations(tools, dialect).projections
    functions = definitions(model, projections)
    output = [replace(functions.pop(), kind="output")] if final else []
    parameters = ModelRequestParameters(
        function_tools=functions,
        native_tools=[] if plan_input.closing else natives(plan_input.native, model),
        output_mode="tool" if output else "text",
        output_tools=output,
        allow_text_output=not output,
        instruction_parts=_instructions(plan_input),
    )
    only = [
        projection.name
        for projection in projections
        if projection.tool == plan_input.restrict_to_tool and projection.tool != final
    ]
    is_restricted = bool(only) and len(functions) > 1
    return RequestOptions(
        parameters=parameters,
        settings={"tool_choice": ToolOrOutput(function_tools=only)} if is_restricted else {},
        projections={projection.name: projection for projection in projections},
        transfers=transfers,
        final=final,
        key=key,
    )


def _entry(name: str, description: str, schema: dict[str, Json]) -> dict[str, Json]:
    return {"name": name, "description": description.strip(), "payload": {"schema": schema}}


def _instructions(plan_input: PlanInput) -> list[InstructionPart]:
    """Return the instructions: first the agent's, which seldom change, then those of the toolsets."""
    parts = [
        InstructionPart(content=plan_input.agent_instructions or plan_input.description),
        InstructionPart(content=plan_input.instructions, dynamic=True),
    ]
    return [part for part in parts if part.content]


def _unique_name(name: str, taken: set[str]) -> str:
    """Return a name that every provider accepts, and add it to `taken`."""
    safe = re.sub(r"[^a-zA-Z0-9_-]", "_", name)
    if len(safe) > _MOST_CHARACTERS or safe in taken:
        mark = hashlib.sha256(name.encode()).hexdigest()[:6]
        safe = f"{safe[: _MOST_CHARACTERS - 7]}_{mark}"
    taken.add(safe)
    return safe


def _object_schema(schema: Mapping[str, Json]) -> tuple[str, dict[str, Json]]:
    """Return the key of the result and an object schema; a schema of another type becomes that property."""
    if schema.get("type") == "object":
        return "", dict(schema)
    inner = {key: value for key, value in schema.items() if key not in ("$defs", "$schema")}
    wrapped: dict[str, Json] = {
        "type": "object",
        "properties": {"result": inner},
        "required": ["result"],
        "additionalProperties": False,
    }
    if "$defs" in schema:
        wrapped["$defs"] = schema["$defs"]
    return "result", wrapped

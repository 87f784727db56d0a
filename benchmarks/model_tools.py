"""Tools for `benchmarks.models`: one function for each tool, declared by toolgen, FastMCP and pydantic-ai."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from inspect import Parameter, Signature
from typing import Annotated, Any, Final, Literal, NamedTuple, Union

from fastmcp.exceptions import ValidationError as FastMCPError
from fastmcp.tools import Tool as FastMCPTool
from pydantic import ConfigDict, Field, ValidationError, create_model
from pydantic_ai import Tool as PydanticAITool
from pydantic_ai.messages import ToolReturnPart

from toolgen.catalog.providers import declarations
from toolgen.runtime import Runtime
from toolgen.runtime.functions import func_tool, function_toolset

from .corpora import CORPORA
from .tables import ROOT

SCALARS: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
}
"""Types of Python by those of JSON Schema."""
LIMITS: Final = {
    "minimum": "ge",
    "maximum": "le",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
"""Keywords of JSON Schema, and pydantic's names for them."""
Schema = Mapping[str, Any]
Check = Callable[[str], Coroutine[Any, Any, str]]
"""Validates arguments in JSON. Returns the error that the model reads, or an empty text."""


class Tool(NamedTuple):
    """A tool as one system declares it."""

    name: str
    description: str
    schema: Schema
    check: Check

    @property
    def declaration(self) -> str:
        """The tool as a model reads it."""
        declared = {"name": self.name, "description": self.description, "parameters": self.schema}
        return json.dumps(declared, ensure_ascii=False, separators=(",", ":"))


class Source(NamedTuple):
    """Name, description and schema that the function of a tool is made from."""

    name: str
    description: str
    schema: Schema

    def reworded(self, argument: str, wording: str) -> Source:
        """Return the tool with another description of an argument or, if its name is empty, of the tool."""
        if not argument:
            return self._replace(description=wording)
        properties = self.schema["properties"]
        changed = properties | {argument: properties[argument] | {"description": wording}}
        return self._replace(schema={**self.schema, "properties": changed})


def example_sources() -> list[Source]:
    """Return the tools of the example's assistant, and one that a session has after signing in."""
    catalog = json.loads((ROOT / "gen/tool_schemas.json").read_text("utf-8"))
    texts = {"site_id": "ID of the site.", "old": "Current name of the room.", "new": "New name of the room."}
    room = {
        "properties": {name: {"type": "string", "description": text} for name, text in texts.items()},
        "required": list(texts),
    }
    return [
        *(
            Source(tool["name"], tool["description"], tool["payload"]["schema"])
            for tool in catalog["tools"]
            if tool["service"] == "assistant"
        ),
        Source("rename_room", "Rename a room of a site. Returns the number of its devices.", room),
    ]


def public_sources(ids: Iterable[str]) -> dict[str, Source]:
    """Return the tools of the corpora with these ids, in the order of the ids."""
    found: dict[str, Source | None] = dict.fromkeys(ids)
    for file in sorted(CORPORA.glob("tools_*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            record = json.loads(line)
            if record["id"] in found:
                name = "".join(letter if letter.isalnum() else "_" for letter in record["name"].lower())
                text = " ".join(record["description"].split())
                found[record["id"]] = Source(name, text, record["input_schema"])
    missing = [id_ for id_, source in found.items() if source is None]
    assert not missing, f"these tools are not in {CORPORA}: {missing}"
    return {id_: source for id_, source in found.items() if source}


def function_of(source: Source) -> Callable[..., str]:
    """Return a function whose annotations have the types, limits and descriptions of the schema."""

    def tool(**arguments: object) -> str:
        return "done"

    defs, required = source.schema.get("$defs", {}), source.schema.get("required", ())
    parameters = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            annotation=annotated(part, defs, name in required),
            default=Parameter.empty if name in required else part.get("default"),
        )
        for name, part in source.schema.get("properties", {}).items()
    ]
    tool.__name__ = tool.__qualname__ = source.name
    tool.__doc__ = source.description
    tool.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": str}
    vars(tool)["__signature__"] = Signature(parameters, return_annotation=str)
    return tool


def annotated(schema: Schema, defs: Schema, is_required: bool) -> Any:
    """Return a type with its limits and its description."""
    limits: dict[str, Any] = {LIMITS[word]: value for word, value in schema.items() if word in LIMITS}
    kind: Any = type_of(schema, defs)
    if limits:
        kind = Annotated[kind, Field(**limits)]
    if not is_required and "default" not in schema:
        kind = Union[kind, None]  # noqa: UP007 # a type in quotes has no |
    return Annotated[kind, Field(description=schema.get("description"))]


def type_of(schema: Schema, defs: Schema) -> Any:
    """Return the type of a schema. What this function does not read is any JSON."""
    if "$ref" in schema:
        return type_of(defs[schema["$ref"].rpartition("/")[2]], defs)
    if "const" in schema or "enum" in schema:
        return Literal[tuple(schema.get("enum", [schema.get("const")]))]
    if branches := schema.get("oneOf", schema.get("anyOf")):
        return Union[tuple(type_of(branch, defs) for branch in branches)]  # noqa: UP007 # of a tuple
    match schema.get("type"):
        case "array":
            return list[type_of(schema.get("items", {}), defs)]  # type: ignore[misc] # known here only
        case "object" if properties := schema.get("properties"):
            required = schema.get("required", ())
            fields: dict[str, Any] = {
                name: (
                    annotated(part, defs, name in required),
                    ... if name in required else part.get("default"),
                )
                for name, part in properties.items()
            }
            name = schema.get("title", "Part").replace(" ", "")
            return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        case str() as scalar:
            is_date = scalar == "string" and schema.get("format") == "date-time"
            return dt.datetime if is_date else SCALARS.get(scalar, Any)
        case _:
            return Any


def toolgen_plain(source: Source) -> Tool:
    """Declare a tool by its own schema."""
    spec = func_tool(function_of(source), toolset="lab.tools").spec
    return Tool(source.name, spec.description, json.loads(spec.payload.schema_json), toolgen_check(source))


def toolgen_strict(source: Source) -> Tool:
    """Declare a tool in the strict dialect of OpenAI, and decode its arguments from it."""
    spec = func_tool(function_of(source), toolset="lab.tools").spec
    (projection,) = declarations([spec], "openai-strict").projections
    function, call = projection.declaration["function"], toolgen_check(source)

    async def check(arguments: str) -> str:
        return await call(projection.decode(arguments).decode())

    return Tool(source.name, function["description"], function["parameters"], check)


def toolgen_check(source: Source) -> Check:
    """Return a call of the tool in a runtime of its own."""
    runtime = Runtime()
    runtime.tools.register(function_toolset("lab.tools", [function_of(source)]))

    async def check(arguments: str) -> str:
        result = await runtime.call(source.name, arguments)
        return "" if result.status == "ok" else result.json.decode()

    return check


def fastmcp(source: Source) -> Tool:
    """Declare a tool as a server of FastMCP lists it."""
    tool = FastMCPTool.from_function(function_of(source))

    async def check(arguments: str) -> str:
        try:
            await tool.run(json.loads(arguments))
        except (FastMCPError, ValidationError) as error:
            return str(error)
        return ""

    return Tool(source.name, tool.description or "", tool.parameters, check)


def pydantic_ai(source: Source) -> Tool:
    """Declare a tool as an agent of pydantic-ai sends it."""
    tool: PydanticAITool[None] = PydanticAITool(function_of(source), takes_ctx=False)
    declared = tool.tool_def

    async def check(arguments: str) -> str:
        try:
            tool.function_schema.validator.validate_json(arguments)
        except ValidationError as error:
            issues = error.errors(include_url=False, include_context=False)
            part = ToolReturnPart(source.name, issues, tool_call_id="c-1", outcome="retried")
            return part.model_response_str()
        return ""

    return Tool(source.name, declared.description or "", declared.parameters_json_schema, check)


PLAIN: Final = "toolgen, plain schema"
SYSTEMS: Final[Mapping[str, tuple[Callable[[Source], Tool], bool]]] = {
    PLAIN: (toolgen_plain, False),
    "toolgen, strict dialect": (toolgen_strict, False),
    "toolgen, strict dialect enforced": (toolgen_strict, True),
    "FastMCP": (fastmcp, False),
    "pydantic-ai": (pydantic_ai, False),
}
"""How each system declares a tool, and whether the model is held to the schema, as a provider does."""

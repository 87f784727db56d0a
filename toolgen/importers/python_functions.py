"""`python`: typed functions as tools, with the schemas that pydantic generates from their annotations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue

from toolgen.contract.findings import Finding
from toolgen.contract.json_pointer import definition_of
from toolgen.contract.printable import plain_spaces
from toolgen.shapes.fields import MISSING
from toolgen.shapes.foreign.reader.keywords import children
from toolgen.shapes.python.annotations import readable
from toolgen.shapes.python.functions import FunctionParameter, TypedFunction, read_function
from toolgen.shapes.python.schema import UNWARNED, limited_text, with_limit_sentences
from toolgen.shapes.python.sensitive import without_marks
from toolgen.shapes.values import bytes_text

from . import codes
from .boundary import each
from .codes import finding_at
from .records import collected
from .tool import ImportedTool, ReaderResult

RESULT: Final = "result"
"""Attribute name for the result of a function that is not an object of attributes."""


class _UntitledSchema(GenerateJsonSchema):
    """Schema generator without titles that only repeat names, or defaults that JSON cannot represent."""

    ignored_warning_kinds = UNWARNED

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def get_title_from_name(self, name: str) -> str:
        return ""

    def bytes_schema(self, schema: Any) -> JsonSchemaValue:
        """Return base64, as for bytes in a design and in a registered function."""
        return {**super().bytes_schema(schema), "format": "byte"}

    def encode_default(self, dft: Any) -> Any:
        return bytes_text(dft) if isinstance(dft, bytes) else super().encode_default(dft)

    def date_schema(self, schema: Any) -> JsonSchemaValue:
        return limited_text(schema) or super().date_schema(schema)

    def datetime_schema(self, schema: Any) -> JsonSchemaValue:
        return limited_text(schema) or super().datetime_schema(schema)

    def timedelta_schema(self, schema: Any) -> JsonSchemaValue:
        return limited_text(schema) or super().timedelta_schema(schema)

    def decimal_schema(self, schema: Any) -> JsonSchemaValue:
        return limited_text(schema) or super().decimal_schema(schema)


def read_functions(
    name: str, description: str, functions: Mapping[str, Callable[..., object]], owner: str = ""
) -> ReaderResult:
    """Return functions, by name, as tools; functions whose types have no schema become findings.

    With an owner, `package.module:` or `package.module:object.`, the functions themselves execute the tools.
    """
    tools = (
        tool for own, function in functions.items() for tool in each(_tool(own, function, owner), "", own)
    )
    source = collected(name, plain_spaces(inspect.cleandoc(description)), tools)
    return replace(source, module=owner.partition(":")[0])


def _tool(name: str, function: Callable[..., object], owner: str) -> Iterator[ImportedTool | Finding]:
    read = read_function(function)
    if read.misfits:
        for misfit in read.misfits:
            pointer = f"/{misfit.parameter}" if misfit.parameter else ""
            yield finding_at(codes.BAD_FUNCTION, pointer, misfit.message, hint=misfit.hint, tool=name)
        return
    for missing in read.unannotated:
        pointer = f"/{missing.parameter}"
        yield finding_at(codes.NO_ANNOTATION, pointer, missing.message, hint=missing.hint, tool=name)
    arguments = _arguments(name, read.parameters)
    if isinstance(arguments, Finding):
        yield arguments
        return
    result = _result(name, read)
    if isinstance(result, Finding):
        yield result
        result = None
    if owner and read.context:
        message = f"the parameter {read.context!r} takes the call context, so its tool is not bound to it"
        hint = "write an executor, which has the context and can call the function"
        yield finding_at(codes.NEEDS_CONTEXT, f"/{read.context}", message, hint=hint, tool=name)
        owner = ""
    yield ImportedTool(
        name=name,
        function=f"{owner}{name}" if owner else "",
        description=plain_spaces(read.docstring.description),
        arguments=_spaced(arguments),
        result=_spaced(_in_an_object(result) if owner else result),
        formats_are_types=True,
    )


def _arguments(tool: str, parameters: tuple[FunctionParameter, ...]) -> dict[str, object] | Finding:
    types = {parameter.name: readable(parameter.annotation) for parameter in parameters}

    def signature() -> None: ...

    # Pydantic reads both attributes, as for a function with keyword-only parameters.
    signature.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # PEP 362 lets any callable have one
        [
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if parameter.default is MISSING else parameter.default,
                annotation=types[parameter.name],
            )
            for parameter in parameters
        ]
    )
    signature.__annotations__ = types
    schema = _schema(signature, "validation")
    if isinstance(schema, str):
        for name, type_ in types.items():
            if isinstance(problem := _schema(type_, "validation"), str):
                message = f"the type of the parameter {name!r} has no JSON Schema: {problem}"
                return finding_at(codes.NO_SCHEMA, f"/{name}", message, hint="use a simpler type", tool=tool)
        return finding_at(codes.NO_SCHEMA, "", f"its parameters have no JSON Schema: {schema}", tool=tool)
    descriptions = {parameter.name: parameter.description for parameter in parameters}
    shown = without_marks(schema)  # marks stay until reported as missing from the design
    for name, property_ in schema.get("properties", {}).items():
        if "default" not in shown["properties"][name]:
            property_.pop("default", None)  # the default contains a sensitive value; the function has it
        if not property_.get("title"):
            property_.pop("title", None)
        if property_.get("default", ...) is None:
            del property_["default"]  # absence and null are the same for this parameter
        if descriptions.get(name):
            property_.setdefault("description", descriptions[name])
    described: dict[str, object] = with_limit_sentences(schema)
    return described


def _result(tool: str, function: TypedFunction) -> dict[str, object] | Finding | None:
    if function.result is type(None):
        return None
    schema = _schema(function.result, "serialization")
    if isinstance(schema, str):
        message = f"the type of the result has no JSON Schema: {schema}; the tool gets no result"
        return finding_at(codes.LEFT_OUT, "/return", message, hint="use a simpler type", tool=tool)
    if function.docstring.result and "$ref" not in schema:
        schema.setdefault("description", function.docstring.result)
    described: dict[str, Any] = with_limit_sentences(schema)
    return described


def _in_an_object(schema: dict[str, Any] | None) -> dict[str, object] | None:
    """Return the schema of a result with attributes; wrap any other one in an attribute `result`."""
    if schema is None:
        return None
    definitions = schema.get("$defs", {})
    name = definition_of(schema.get("$ref"))
    target = definitions.get(name, schema)
    if "properties" in target and not target.get("additionalProperties"):
        closed = {**target, "additionalProperties": False}  # other keys are dropped
        return {**schema, "$defs": {**definitions, name: closed}} if target is not schema else closed
    own = {key: value for key, value in schema.items() if key != "$defs"}
    result: dict[str, Any] = {
        "type": "object",
        "properties": {RESULT: own},
        "required": [RESULT],
        "additionalProperties": False,
    }
    return {**result, "$defs": definitions} if definitions else result


def _spaced(schema: object) -> object:
    """Return a schema with plain white space in its texts for readers; its values are unchanged."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            texts = ((word, part.get(word)) for word in ("title", "description"))
            part |= {word: plain_spaces(text) for word, text in texts if isinstance(text, str)}
            waiting += [inner for _, inner in children(part)]
    return schema


def _schema(type_: Any, mode: JsonSchemaMode) -> dict[str, Any] | str:
    """Return the schema of a type, or the reason why there is none."""
    try:
        schema = TypeAdapter(readable(type_)).json_schema(mode=mode, schema_generator=_UntitledSchema)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        return error.message.splitlines()[0].split(". ")[0].rstrip(".")
    except (TypeError, ValueError, AttributeError, NameError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    named = {getattr(type_, "__name__", ""): schema} | schema.get("$defs", {})
    for name, definition in named.items():
        if definition.get("title") == name:
            del definition["title"]
    return schema

"""`python`: typed functions as tools, with the schemas that pydantic makes of their annotations."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, get_type_hints

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from .docstrings import Said, read_docstring
from .python_types import readable
from .records import collected
from .tool import Finding, ImportedTool, Source

_VARIADIC: Final[Mapping[object, str]] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
_OWNERS: Final = frozenset(["cls", "self"])
_CONTEXTS: Final = frozenset(["context", "ctx"])


class _Plain(GenerateJsonSchema):
    """Writes no titles that only repeat names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def get_title_from_name(self, name: str) -> str:
        return ""


def read_functions(name: str, description: str, functions: Iterable[Callable[..., object]]) -> Source:
    """Return the functions as tools; those whose types have no schema become findings."""
    tools = (one for function in functions for one in _tool(function))
    return collected(name, inspect.cleandoc(description), tools)


def _tool(function: Callable[..., object]) -> Iterator[ImportedTool | Finding]:
    name = function.__name__
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:  # an annotation may be any code
        message = f"its annotations cannot be evaluated: {type(error).__name__}: {error}"
        yield Finding(tool=name, pointer="", message=message, hint="import what they name at run time")
        return
    parameters = list(_parameters(function, hints))
    problems = [_problem(name, parameter, hints) for parameter in parameters]
    if found := [problem for problem in problems if problem]:
        yield from found
        return
    said = read_docstring(function.__doc__)
    arguments = _arguments(name, parameters, hints, said)
    if isinstance(arguments, Finding):
        yield arguments
        return
    result = _result(name, hints, said)
    if isinstance(result, Finding):
        yield result
        result = None
    yield ImportedTool(
        name=name,
        description=said.description,
        arguments=arguments,
        result=result,
        formats_are_types=True,
    )


def _parameters(function: Callable[..., object], hints: Mapping[str, object]) -> Iterator[inspect.Parameter]:
    """Yield what a model is to send: neither the owner of a method nor the context of the call."""
    for index, parameter in enumerate(inspect.signature(function).parameters.values()):
        is_owner = index == 0 and parameter.name in _OWNERS and parameter.name not in hints
        is_context = parameter.name in _CONTEXTS and _is_context(hints.get(parameter.name))
        if not is_owner and not is_context:
            yield parameter


def _is_context(annotation: object) -> bool:
    origin = getattr(annotation, "__origin__", annotation)
    return isinstance(origin, type) and "Context" in origin.__name__


def _problem(tool: str, parameter: inspect.Parameter, hints: Mapping[str, object]) -> Finding | None:
    pointer = f"/{parameter.name}"
    if stars := _VARIADIC.get(parameter.kind):
        message = f"{stars}{parameter.name} takes any number of arguments, which no schema names"
        return Finding(tool=tool, pointer=pointer, message=message, hint="give each argument a name")
    if parameter.name not in hints:
        message = f"the parameter {parameter.name!r} has no annotation"
        return Finding(tool=tool, pointer=pointer, message=message, hint=f"write {parameter.name}: str")
    return None


def _arguments(
    tool: str, parameters: list[inspect.Parameter], hints: Mapping[str, object], said: Said
) -> dict[str, object] | Finding:
    types = {
        parameter.name: readable(_optional(parameter, hints[parameter.name])) for parameter in parameters
    }

    def signature() -> None: ...

    # Pydantic reads both, as if this were a function of keywords only.
    signature.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # PEP 362 lets any callable have one
        [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=types[parameter.name])
            for parameter in parameters
        ]
    )
    signature.__annotations__ = types
    schema = _schema(signature, "validation")
    if isinstance(schema, str):
        for name, type_ in types.items():
            if isinstance(problem := _schema(type_, "validation"), str):
                message = f"the type of the parameter {name!r} has no JSON Schema: {problem}"
                return Finding(tool=tool, pointer=f"/{name}", message=message, hint="use a plainer type")
        return Finding(tool=tool, pointer="", message=f"its parameters have no JSON Schema: {schema}")
    for name, property_ in schema.get("properties", {}).items():
        if not property_.get("title"):
            property_.pop("title", None)
        if property_.get("default", ...) is None:
            del property_["default"]  # a parameter whose default is None: left out and null are the same
        if name in said.parameters:
            property_.setdefault("description", said.parameters[name])
    return schema


def _optional(parameter: inspect.Parameter, annotation: Any) -> Any:
    """Return the annotation, with None added where the default is None, as authors mean it."""
    return annotation | None if parameter.default is None and _joins(annotation) else annotation


def _joins(annotation: object) -> bool:
    """Return whether `| None` can be written after the annotation."""
    return hasattr(annotation, "__or__")


def _result(tool: str, hints: Mapping[str, object], said: Said) -> dict[str, Any] | Finding | None:
    annotation = hints.get("return", type(None))
    if annotation is type(None):
        return None
    schema = _schema(annotation, "serialization")
    if isinstance(schema, str):
        message = f"the type of the result has no JSON Schema: {schema}; the tool gets no result"
        return Finding(
            tool=tool, pointer="/return", message=message, hint="use a plainer type", is_warning=True
        )
    if said.result and "$ref" not in schema:
        schema.setdefault("description", said.result)
    return schema


def _schema(type_: Any, mode: JsonSchemaMode) -> dict[str, Any] | str:
    """Return the schema of a type, or why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default that JSON cannot hold is left out
        try:
            return TypeAdapter(readable(type_)).json_schema(mode=mode, schema_generator=_Plain)
        except (PydanticSchemaGenerationError, PydanticUserError) as error:
            return error.message.splitlines()[0].split(". ")[0].rstrip(".")
        except (TypeError, ValueError, AttributeError, NameError, RecursionError) as error:
            return f"{type(error).__name__}: {error}"

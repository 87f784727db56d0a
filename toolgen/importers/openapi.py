"""`openapi`: every operation of an OpenAPI 3 document as a tool.

Parameters become properties, the request body the property `body`, and the first good response the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.findings import Finding

from . import codes
from .boundary import each
from .codes import finding_at
from .openapi_schemas import Components, Schemas, UnreadableError, followed
from .pointers import joined
from .records import a_kind, collected
from .text import Document, attributed
from .tool import ImportedTool, Source

_METHODS: Final[Mapping[str, Mapping[str, bool]]] = {
    # RFC 9110, 9.2: which methods are safe, and which are idempotent.
    "get": {"read_only": True},
    "head": {"read_only": True},
    "options": {"read_only": True},
    "query": {"read_only": True},
    "put": {"idempotent": True},
    "delete": {"destructive": True, "idempotent": True},
    "post": {},
    "patch": {},
}
_PLACES: Final = ("path", "query", "querystring", "header", "cookie")
_NO_PARAMETERS: Final = frozenset(["accept", "content-type", "authorization"])
"""Headers that a parameter does not describe (OAS 3.1.1, 4.8.12.2)."""
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
_DEPRECATED: Final = "The API marks this operation as deprecated."
_GOOD: Final = ("200", "201", "202", "203", "206", "2XX", "2xx")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operation:
    """One operation, with its path item and document."""

    components: Components
    method: str
    path: str
    item: dict[str, object]
    """The path item, with the parameters that all its operations have."""
    item_pointer: str
    value: dict[str, object]

    @property
    def pointer(self) -> str:
        return joined(self.item_pointer, self.method)

    @property
    def name(self) -> str:
        written = self.value.get("operationId")
        if isinstance(written, str) and written.strip():
            return written
        return "_".join([self.method, *re.findall("[A-Za-z0-9]+", self.path)])

    def schemas(self) -> Schemas:
        return Schemas(self.components)


def read_openapi(document: Document) -> Source:
    """Return the operations of a document.

    Raises:
        ToolgenError: it is no document of OpenAPI 3, or has no paths.
    """
    value = document.value
    if not isinstance(value, dict):
        raise ToolgenError(
            f"the document is {a_kind(value)}, not an OpenAPI document", hint="it starts with 'openapi'"
        )
    is_3_0 = _is_3_0(value)
    info = value.get("info")
    info = info if isinstance(info, dict) else {}
    description = _text(info.get("description")) or _text(info.get("title"))
    return attributed(collected(document.name, description, _tools(value, is_3_0)), document)


def _is_3_0(document: dict[str, object]) -> bool:
    if "swagger" in document:
        raise ToolgenError(
            f"the document is OpenAPI {document['swagger']!r} (Swagger); 3.0 and later are read",
            hint="convert it, for example with: npx swagger2openapi FILE",
        )
    version = document.get("openapi")
    if not isinstance(version, str) or not re.match(r"3\.\d", version):
        fault = f"says openapi {version!r}" if "openapi" in document else "has no 'openapi'"
        raise ToolgenError(f"the document {fault}; 3.0 and later are read", hint="add openapi: 3.1.0")
    return version.startswith("3.0")


def _tools(document: dict[str, object], is_3_0: bool) -> Iterator[ImportedTool | Finding]:
    paths = document.get("paths")
    if not isinstance(paths, dict):
        yield finding_at(codes.NO_TOOL, "/paths", "the document has no paths", hint="add 'paths'")
        return
    components = Components(document, is_3_0=is_3_0)
    for path, item in paths.items():
        if path.startswith("x-"):
            continue
        try:
            operations = list(_operations(components, path, item))
        except UnreadableError as error:
            yield error.finding("")
            continue
        for operation in operations:
            yield from each(_tool(operation), operation.pointer, operation.name)


def _operations(components: Components, path: str, item: object) -> Iterator[_Operation]:
    operations, pointer = followed(components.document, item, joined("/paths", path))
    for method, value in operations.items():
        if method not in _METHODS:
            continue
        if not isinstance(value, dict):
            raise UnreadableError(joined(pointer, method), f"the operation is {a_kind(value)}, not an object")
        yield _Operation(
            components=components,
            method=method,
            path=path,
            item=operations,
            item_pointer=pointer,
            value=value,
        )


def _tool(operation: _Operation) -> Iterator[ImportedTool | Finding]:
    findings: list[Finding] = []
    try:
        arguments = _arguments(operation, findings)
        result, result_pointer = _result(operation, findings)
    except UnreadableError as error:
        yield error.finding(operation.name)
        return
    yield from findings
    value = operation.value
    summary, description = _text(value.get("summary")), _text(value.get("description"))
    yield ImportedTool(
        name=operation.name,
        title=summary.rstrip(".") if description else "",
        description=description or summary,
        arguments=arguments,
        result=result,
        annotations=_METHODS[operation.method],
        deprecated=_DEPRECATED if value.get("deprecated") is True else "",
        pointer=operation.pointer,
        arguments_pointer=operation.pointer,
        result_pointer=result_pointer,
    )


def _arguments(operation: _Operation, findings: list[Finding]) -> dict[str, object]:
    """Return an object of all parameters and the body; no other keys, which would have nowhere to go."""
    schemas = operation.schemas()
    properties: dict[str, object] = {}
    required: list[str] = []
    for (name, place), (parameter, pointer) in _parameters(operation).items():
        key = name if name not in properties else f"{name}_{place}"
        if key in properties:
            raise UnreadableError(
                pointer, f"two parameters would be called {key!r}", hint="rename one of the two"
            )
        schema, schema_pointer = _parameter_schema(parameter, pointer)
        described = _with_parameter_facts(schemas.translated(schema, schema_pointer), parameter)
        properties[key] = described
        if parameter.get("required") is True or place == "path":
            required.append(key)
    if body := _body(operation, schemas, findings):
        key = "body" if "body" not in properties else "request_body"
        properties[key], is_required = body
        required += [key] if is_required else []
    result: dict[str, object] = {"type": "object", "properties": properties}
    if required:
        result["required"] = required
    result["additionalProperties"] = False
    definitions = schemas.definitions()
    return {**result, "$defs": definitions} if definitions else result


def _parameters(operation: _Operation) -> dict[tuple[str, str], tuple[dict[str, object], str]]:
    """Return the parameters with their pointers by name and place; the operation's own come last and win."""
    result: dict[tuple[str, str], tuple[dict[str, object], str]] = {}
    for holder, pointer in ((operation.item, operation.item_pointer), (operation.value, operation.pointer)):
        place = joined(pointer, "parameters")
        listed = holder.get("parameters", [])
        if not isinstance(listed, list):
            raise UnreadableError(place, f"the parameters are {a_kind(listed)}, not a list")
        for index, value in enumerate(listed):
            parameter, found_at = followed(operation.components.document, value, joined(place, index))
            name, where = parameter.get("name"), parameter.get("in")
            if not isinstance(name, str) or not isinstance(where, str) or where not in _PLACES:
                hint = f"'in' is one of {', '.join(_PLACES)}"
                raise UnreadableError(found_at, "a parameter needs 'name' and 'in'", hint=hint)
            if where != "header" or name.lower() not in _NO_PARAMETERS:
                result[name, where] = parameter, found_at
    return result


def _parameter_schema(parameter: dict[str, object], pointer: str) -> tuple[object, str]:
    content = parameter.get("content")
    if "schema" not in parameter and isinstance(content, dict) and content:
        media_type, value = next(iter(content.items()))
        pointer, parameter = joined(pointer, "content", media_type), value if isinstance(value, dict) else {}
    return parameter.get("schema", {}), joined(pointer, "schema")


def _with_parameter_facts(schema: object, parameter: dict[str, object]) -> object:
    """Return the schema of a parameter with the facts of the parameter itself."""
    if schema is True:
        schema = {}
    if not isinstance(schema, dict):
        return schema
    facts: dict[str, object] = {}
    if description := _text(parameter.get("description")):
        facts["description"] = description
    if "example" in parameter and "examples" not in schema:
        facts["examples"] = [parameter["example"]]
    if parameter.get("deprecated") is True:
        facts["deprecated"] = True
    return {**schema, **facts}


def _body(operation: _Operation, schemas: Schemas, findings: list[Finding]) -> tuple[object, bool] | None:
    """Return the schema of the request body and whether it is required; None where there is none."""
    if operation.value.get("requestBody") is None:
        return None
    place = joined(operation.pointer, "requestBody")
    body, pointer = followed(operation.components.document, operation.value["requestBody"], place)
    is_required = body.get("required") is True
    content = body.get("content")
    content = content if isinstance(content, dict) else {}
    media_type = _preferred_media_type(content, with_forms=True)
    if media_type is None:
        listed = ", ".join(content) or "nothing"
        message = f"the body is {listed}; only JSON and forms can be arguments"
        if is_required:
            raise UnreadableError(pointer, message, hint="leave the operation out, or give it a JSON body")
        findings.append(finding_at(codes.LEFT_OUT, pointer, message, tool=operation.name))
        return None
    schema, schema_pointer = _media_schema(operation, content, pointer, media_type)
    described = _with_parameter_facts(
        schemas.translated(schema, schema_pointer), {"description": body.get("description")}
    )
    return described, is_required


def _result(operation: _Operation, findings: list[Finding]) -> tuple[object, str]:
    """Return the schema of the first good response that has one, with its pointer; None for none."""
    responses = operation.value.get("responses")
    if not isinstance(responses, dict):
        return None, ""
    statuses = [code for code in _GOOD if code in responses]
    if not statuses and "default" in responses and not any(code.startswith("2") for code in responses):
        statuses = ["default"]
    for code in statuses:
        place = joined(operation.pointer, "responses", code)
        try:
            response, pointer = followed(operation.components.document, responses[code], place)
            content = response.get("content")
            if (
                not isinstance(content, dict)
                or (media_type := _preferred_media_type(content, with_forms=False)) is None
            ):
                continue
            schema, pointer = _media_schema(operation, content, pointer, media_type)
            schemas = operation.schemas()
            result = schemas.translated(schema, pointer)
            definitions = schemas.definitions()
        except UnreadableError as error:
            message = f"{error.message}; the tool gets no result"
            left_out = finding_at(
                codes.LEFT_OUT, error.pointer, message, hint=error.hint, tool=operation.name
            )
            findings.append(left_out)
            return None, ""
        if definitions and isinstance(result, dict):
            result = {**result, "$defs": definitions}
        return result, pointer
    return None, ""


def _media_schema(
    operation: _Operation, content: dict[str, object], pointer: str, media_type: str
) -> tuple[object, str]:
    media, pointer = followed(
        operation.components.document, content[media_type], joined(pointer, "content", media_type)
    )
    return media.get("schema", {}), joined(pointer, "schema")


def _preferred_media_type(content: dict[str, object], *, with_forms: bool) -> str | None:
    """Return the media type to use: JSON, then JSON-based ones (RFC 6839), then forms."""
    plain = {media_type: media_type.partition(";")[0].strip().lower() for media_type in content}
    suited = [key for key, plain_type in plain.items() if plain_type == "application/json"]
    suited += [key for key, plain_type in plain.items() if plain_type.endswith("+json")]
    suited += [key for key, plain_type in plain.items() if plain_type in ("*/*", "application/*")]
    if with_forms:
        suited += [key for key, plain_type in plain.items() if plain_type in _FORMS]
    return suited[0] if suited else None


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""

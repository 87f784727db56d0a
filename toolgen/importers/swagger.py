"""Swagger 2.0: conversion to OpenAPI 3.0, and the original place of each part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from toolgen.contract.findings import Code, Finding

from . import codes
from .codes import finding_at
from .openapi_bodies import FORMS
from .openapi_document import API, UnreadableError, file_of, listed, mapping, text
from .pointers import joined
from .swagger_schemas import COMPONENTS, moved, parts_of, schema_3, security_scheme

_JSON: Final = ("application/json",)
_BYTES: Final = ("application/octet-stream",)
_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_MOVED: Final = frozenset(
    "swagger host basePath schemes consumes produces definitions parameters responses "
    "securityDefinitions paths".split()
)
"""Keys of a document that have another place in OpenAPI 3."""
_ANY_SCHEMA: Final = frozenset("$ref allOf anyOf enum items oneOf properties type".split())
"""Keys that identify a schema in a file that may contain several."""
_STYLES: Final[Mapping[tuple[str, str], dict[str, object]]] = {
    ("query", "csv"): {"explode": False},
    ("query", "ssv"): {"style": "spaceDelimited", "explode": False},
    ("query", "pipes"): {"style": "pipeDelimited", "explode": False},
    ("query", "multi"): {"explode": True},
    ("path", "csv"): {},
    ("header", "csv"): {},
    ("formData", "multi"): {},
}
"""OpenAPI 3 styles by place and `collectionFormat`."""
_SEPARATORS: Final = {"csv": "commas", "ssv": "spaces", "tsv": "tabs", "pipes": "vertical bars"}


class Swagger:
    """A Swagger 2.0 document; `read` returns the content of another file in its folder."""

    def __init__(
        self,
        document: dict[str, object],
        read: Callable[[str], object] | None = None,
        base: str = "",
    ) -> None:
        """Store the document; `base` is the URL that it was read from, "" for a file."""
        self._source = API(document, read)
        self._document = document
        self._read = read
        self._base = base
        self._findings: list[Finding] = []
        self._places = {**COMPONENTS, "/servers": "/host"}
        """Original places by OpenAPI 3 places, where they differ."""

    def converted(self) -> dict[str, object]:
        """Return the document in the form of OpenAPI 3.0."""
        document = self._document
        responses = mapping(document.get("responses")).items()
        components = {
            "schemas": {
                name: schema_3(value) for name, value in mapping(document.get("definitions")).items()
            },
            "responses": {
                name: self._response(
                    value,
                    joined("/responses", name),
                    joined("/components/responses", name),
                    self._kinds({}, "produces"),
                )
                for name, value in responses
            },
            "securitySchemes": {
                name: security_scheme(mapping(value))
                for name, value in mapping(document.get("securityDefinitions")).items()
            },
        }
        return {
            "openapi": "3.0.3",
            **{key: value for key, value in document.items() if key not in _MOVED},
            "servers": self._servers(document.get("schemes"), "/schemes"),
            **({"paths": dict(self._paths())} if isinstance(document.get("paths"), dict) else {}),
            "components": components,
        }

    def file(self, path: str) -> object:
        """Return the content of another file, with its schemas in the form of OpenAPI 3.0."""
        return self._schemas_in(self._read(path) if self._read else None)

    def _schemas_in(self, value: object) -> object:
        if not isinstance(value, dict) or _ANY_SCHEMA & value.keys():
            return schema_3(value, None)
        return {key: self._schemas_in(part) for key, part in value.items()}

    def findings(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return own findings, and those about the converted document with their original places."""
        return (*self._findings, *map(self._original, findings))

    def _original(self, finding: Finding) -> Finding:
        message, pointer = finding.message, finding.place.pointer or ""
        for new, old in COMPONENTS.items():
            message = message.replace(f"{new}/", f"{old}/")
        start = pointer
        while start and start not in self._places:
            start = start.rpartition("/")[0]
        place = finding.place
        if start:
            place = replace(place, pointer=self._places[start] + pointer.removeprefix(start))
        return replace(finding, message=message, place=place)

    def _servers(self, schemes: object, place: str) -> list[object]:
        host, path = text(self._document.get("host")), text(self._document.get("basePath")).strip("/")
        if not host:
            return [{"url": f"/{path}"}]
        named = [each for each in listed(schemes) if each in ("https", "http")]
        if not named and not self._base:
            message = f"the document has no scheme for {host}; https is used"
            self._find(place, message, 'add "schemes": ["https"]')
        scheme = "http" if named and "https" not in named else "https"
        return [{"url": f"{scheme if named else urlsplit(self._base).scheme or scheme}://{host}/{path}"}]

    def _paths(self) -> Iterator[tuple[str, object]]:
        for path, value in mapping(self._document.get("paths")).items():
            pointer = joined("/paths", path)
            try:
                item, at = self._source.followed(value, pointer)
            except UnreadableError:  # the importer reports it, and ignores extensions
                yield path, value
                continue
            self._places[pointer] = at
            common = list(self._parameters(item, at))
            result = {key: part for key, part in item.items() if key != "parameters"}
            for key in _METHODS:
                if isinstance(part := item.get(key), dict):
                    result[key] = self._operation(part, joined(at, key), joined(pointer, key), common)
            yield path, result

    def _parameters(self, holder: Mapping[str, object], at: str) -> Iterator[tuple[object, str]]:
        """Yield the parameters of a path or operation, with their places.

        Dangling references are unchanged.
        """
        place = joined(at, "parameters")
        for index, value in enumerate(listed(holder.get("parameters"))):
            try:
                yield self._source.followed(value, joined(place, index))
            except UnreadableError:
                yield value, joined(place, index)

    def _operation(
        self, value: dict[str, object], at: str, pointer: str, common: list[tuple[object, str]]
    ) -> dict[str, object]:
        """Return a converted operation; `pointer` is its new place, `common` are parameters of its path."""
        own = list(self._parameters(value, at))
        names = {_key(parameter) for parameter, _ in own}
        written: list[object] = []
        fields: list[tuple[dict[str, object], str]] = []
        moved = ("parameters", "consumes", "produces", "schemes", "responses")
        result = {key: part for key, part in value.items() if key not in moved}
        consumes = self._kinds(value, "consumes")
        for parameter, place in [*(each for each in common if _key(each[0]) not in names), *own]:
            where = mapping(parameter).get("in")
            if where == "body" and "requestBody" in result:
                message = "the operation has a second body; it is left out"
                self._find(place, message, "describe a single body", codes.LEFT_OUT)
            elif where == "body":
                new_place = joined(pointer, "requestBody")
                result["requestBody"] = self._body(mapping(parameter), place, new_place, consumes)
            elif where == "formData" and text(mapping(parameter).get("name")):
                fields.append((mapping(parameter), place))
            else:
                new_place = joined(pointer, "parameters", len(written))
                written.append(self._parameter(parameter, place, new_place))
        if fields and "requestBody" in result:
            message = "the operation has a body and a form; the form is left out"
            self._find(fields[0][1], message, "describe its fields as properties of the body", codes.LEFT_OUT)
        elif fields:
            new_place = joined(pointer, "requestBody")
            result["requestBody"] = self._form(fields, joined(at, "parameters"), new_place, consumes)
        if written:
            result["parameters"] = written
        if isinstance(schemes := value.get("schemes"), list) and schemes != self._document.get("schemes"):
            result["servers"] = self._servers(schemes, joined(at, "schemes"))
        if isinstance(responses := value.get("responses"), dict):
            produces = self._kinds(value, "produces")
            result["responses"] = {
                status: self._answer(
                    answer,
                    joined(at, "responses", status),
                    joined(pointer, "responses", status),
                    produces,
                )
                for status, answer in responses.items()
            }
        return result

    def _parameter(self, parameter: object, place: str, new_place: str) -> object:
        """Return a parameter outside the body; `new_place` is its pointer in the result."""
        self._places[new_place] = place
        if not isinstance(parameter, dict) or "$ref" in parameter:
            return parameter
        rest, _ = parts_of(parameter)
        where = text(parameter.get("in"))
        schema, style = self._styled(parameter, where, place)
        self._places[joined(new_place, "schema")] = (
            joined(place, "schema") if "schema" in parameter else place
        )
        if "x-example" in parameter:
            rest["example"] = rest.pop("x-example")
        return {**rest, **style, "schema": schema}

    def _styled(
        self, parameter: Mapping[str, object], where: str, place: str
    ) -> tuple[object, dict[str, object]]:
        """Return the schema of a parameter, and its style if it is a list."""
        file = file_of(place)
        if "schema" in parameter:
            return schema_3(parameter["schema"], file), {}
        schema = schema_3(parts_of(parameter)[1], file)
        if parameter.get("type") != "array" or _is_file(parameter):
            return schema, {}
        form = text(parameter.get("collectionFormat")) or "csv"
        form = "csv" if form not in _SEPARATORS and (where, form) not in _STYLES else form
        if (where, form) in _STYLES:
            return schema, _STYLES[where, form]
        between = _SEPARATORS[form]
        message = f"{text(parameter.get('name'))!r} is a list in one string, separated by {between}"
        self._find(place, f"{message}; its argument is plain text", "describe its format in the design")
        return {"type": "string"}, {}

    def _body(
        self, parameter: Mapping[str, object], place: str, new_place: str, consumes: tuple[str, ...]
    ) -> dict[str, object]:
        file = file_of(place)
        self._places[new_place] = place
        for kind in consumes:
            self._places[joined(new_place, "content", kind)] = place
        media = {"schema": schema_3(parameter["schema"], file)} if "schema" in parameter else {}
        rest = {key: part for key, part in parameter.items() if key not in ("in", "name", "schema")}
        return {**rest, "content": dict.fromkeys(consumes, media)}

    def _form(
        self,
        fields: list[tuple[dict[str, object], str]],
        place: str,
        new_place: str,
        consumes: tuple[str, ...],
    ) -> dict[str, object]:
        """Return a body built from form parameters; it is a multipart body if one is a file."""
        has_file = any(_is_file(field) for field, _ in fields)
        kind = FORMS[1] if has_file else next((kind for kind in FORMS if kind in consumes), FORMS[0])
        at = joined(new_place, "content", kind, "schema")
        self._places |= {new_place: place, joined(new_place, "content", kind): place, at: place}
        properties: dict[str, object] = {}
        for field, part in fields:
            name = str(field["name"])
            self._places[joined(at, "properties", name)] = part
            schema, _ = self._styled(field, "formData", part)
            facts, _ = parts_of(field)
            own = {key: fact for key, fact in facts.items() if key not in ("in", "name", "required")}
            properties[name] = {**mapping(schema), **own}
        required = [str(field["name"]) for field, _ in fields if field.get("required") is True]
        schema = {"type": "object", "properties": properties, **({"required": required} if required else {})}
        return {"required": bool(required), "content": {kind: {"schema": schema}}}

    def _answer(self, value: object, at: str, new_place: str, produces: tuple[str, ...]) -> object:
        """Return an answer of an operation; keep a reference unless the media types differ."""
        reference = text(mapping(value).get("$ref"))
        if reference.startswith("#/responses/") and produces == self._kinds({}, "produces"):
            return {"$ref": moved(reference)}
        try:
            response, place = self._source.followed(value, at)
        except UnreadableError:  # the importer reports it
            return value
        return self._response(response, place, new_place, produces)

    def _kinds(self, operation: Mapping[str, object], word: str) -> tuple[str, ...]:
        """Return the media types of an operation, or those of the document; JSON if neither has any."""
        own = operation.get(word)
        written = own if isinstance(own, list) else self._document.get(word)
        return tuple(each for each in listed(written) if isinstance(each, str) and "/" in each) or _JSON

    def _response(self, value: object, place: str, new_place: str, kinds: tuple[str, ...]) -> object:
        self._places[new_place] = place
        if not isinstance(value, dict):
            return value
        file = file_of(place)
        result = {key: part for key, part in value.items() if key not in ("schema", "examples", "headers")}
        media: dict[str, object] = {}
        if value.get("schema") is not None:
            media["schema"] = schema_3(value["schema"], file)
            if mapping(value["schema"]).get("type") == "file":
                kinds = tuple(kind for kind in kinds if "json" not in kind) or _BYTES
        content: dict[str, dict[str, object]] = {kind: {**media} for kind in kinds} if media else {}
        for kind, example in mapping(value.get("examples")).items():
            if kind in content or ("/" in kind and not media):
                content.setdefault(kind, {})["example"] = example
            elif content:
                named = content[next(iter(content))].setdefault("examples", {})
                mapping(named)[kind] = {"value": example}
        if content:
            self._places |= {joined(new_place, "content", kind): place for kind in content}
            result["content"] = content
        if headers := mapping(value.get("headers")):
            result["headers"] = {name: self._header(part, file) for name, part in headers.items()}
        return result

    def _header(self, value: object, file: str) -> object:
        if not isinstance(value, dict):
            return value
        rest, schema = parts_of(value)
        return {**rest, "schema": schema_3(schema, file)}

    def _find(self, pointer: str, message: str, hint: str, code: Code = codes.ASSUMED) -> None:
        self._findings.append(finding_at(code, pointer, message, hint=hint))


def is_swagger(value: Mapping[str, object]) -> bool:
    """Return whether a document declares Swagger 2.0."""
    return str(value.get("swagger")) in ("2.0", "2")


def _key(parameter: object) -> tuple[str, str]:
    """Return the key that identifies a parameter; a request has only one body."""
    parameter_object = mapping(parameter)
    where = text(parameter_object.get("in"))
    return where, "" if where == "body" else text(parameter_object.get("name"))


def _is_file(parameter: Mapping[str, object]) -> bool:
    """Return whether a parameter is a file, or a list of files."""
    return "file" in (parameter.get("type"), mapping(parameter.get("items")).get("type"))

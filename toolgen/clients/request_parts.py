"""The parts of a request from a payload: path, query, headers, cookies and body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast, get_args

from pydantic import BaseModel
from pydantic_core import to_json

from toolgen.calls.errors import RegistrationError, ToolError
from toolgen.contract.json_value import Json
from toolgen.contract.transport import CONNECTION_HEADERS, HTTP, TOKEN, VARIABLE, Body, Media, Parameter
from toolgen.shapes.design.model import ToolModel

from .files import Field, FilePart
from .parameter_names import TakenNames, name_of_part
from .styles import cookie_parts, deep_parts, encoded, header_text, json_text, path_text, query_parts, text_of

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_OWN_HEADERS: Final = CONNECTION_HEADERS | {"cookie"}
"""Headers that only the client sets, so that a payload cannot change where a request ends."""
_TYPES: Final[Mapping[Media, str]] = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "text": "text/plain; charset=utf-8",
    "bytes": "application/octet-stream",
    "multipart": "",
}


@dataclass(slots=True, kw_only=True)
class RequestParts:
    """A request without its server, its credentials and files that must be loaded first."""

    path: str
    query: list[str] = field(default_factory=list)
    headers: list[tuple[str, str]] = field(default_factory=list)
    cookies: list[str] = field(default_factory=list)
    content: bytes | FilePart | None = None
    fields: list[tuple[str, Field | FilePart]] | None = None
    """Parts of a multipart body by name; None for other bodies."""


class RequestPlan:
    """Builder of the requests of one operation."""

    def __init__(self, name: str, http: HTTP, payload: object) -> None:
        """Create the plan of an operation with a payload class.

        Raises:
            RegistrationError: The parameters do not form a valid request.
        """
        self._name = name
        self._path, _, self._query = http.path.partition("?")
        self._body = http.body
        self._names = _attributes(payload)
        fields = getattr(payload, "model_fields", {})
        self._required = {key for key, name in self._names.items() if fields[name].is_required()}
        self._path_parameters: dict[str, Parameter] = {}
        self._others: list[Parameter] = []
        paged = http.paging.cursor if http.paging and http.paging.style != "cursor" else None
        for parameter in http.parameters:
            if parameter.place == "path":
                self._path_parameters[parameter.name or parameter.attribute] = parameter
            elif parameter.attribute != paged:
                self._others.append(parameter)
        if http.paging and http.paging.style == "cursor" and not _has(http, http.paging.cursor):
            self._others.append(Parameter(http.paging.cursor, "query", http.paging.name))
        self._taken = TakenNames([*_names(http), *map(name_of_part, self._query.split("&"))])
        requirements = (each for alternative in http.security for each in alternative)
        names = {requirement.body for requirement in requirements} - {""}
        self._filled = TakenNames(names) if names else ()
        """Names in the body that are filled by a credential."""
        self._keys = {key: _keys_of(payload, name) for key, name in self._names.items()}
        """Declared keys of the objects of an attribute, by its JSON key."""
        self._require_sound()

    def _require_sound(self) -> None:
        wanted = set(VARIABLE.findall(self._path))
        if missing := wanted - self._path_parameters.keys():
            raise RegistrationError(f"{self._name}: no attribute fills {{{min(missing)}}} in its path")
        for parameter in self._others:
            name = parameter.name or parameter.attribute
            is_header = parameter.place == "header"
            if is_header and (name.lower() in _OWN_HEADERS or not TOKEN.fullmatch(name)):
                raise RegistrationError(f"{self._name}: no attribute may be the header {name!r}")

    def document(self, payload: BaseModel) -> dict[str, Json]:
        """Return the JSON values of a payload by key, without absent attributes."""
        form: Any = {"exclude_none": True} if not _is_foreign(payload) else {"exclude_unset": True}
        serializer = type(payload).__pydantic_serializer__
        return cast(
            "dict[str, Json]",
            serializer.to_python(payload, mode="json", by_alias=True, warnings="error", **form),
        )

    def parts(self, payload: BaseModel, document: Mapping[str, Json]) -> RequestParts:
        """Return the parts of the request for a payload, whose JSON values are in `document`.

        Raises:
            ToolError: A value is not allowed at the place of its parameter.
        """
        parts = RequestParts(path=self._filled_path(document))
        if self._query:
            parts.query += self._query.split("&")
        for parameter in self._others:
            value = _value(parameter, document)
            is_sent = value is not None and self._add(parts, parameter, value)
            if not is_sent and parameter.attribute in self._required:
                raise ToolError(f"{parameter.attribute} must not be null or empty: it would be left out")
        if self._body is not None:
            self._add_body(parts, self._body, payload, document)
        return parts

    def _add(self, parts: RequestParts, parameter: Parameter, value: Json) -> bool:
        """Add a parameter, and return whether it produced any text."""
        name, style = parameter.name or parameter.attribute, parameter.style or "form"
        explode = _explodes(parameter, style)
        self._require_free_keys(parameter.attribute, value, stands_alone=explode and style != "deepObject")
        match parameter.place:
            case "query":
                parts.query += (added := query_parts(name, value, style, explode=explode))
                return bool(added)
            case "cookie":
                parts.cookies += (added := cookie_parts(name, value, explode=explode))
                return bool(added)
            case _:
                text = header_text(value, explode=bool(parameter.explode)).strip(" \t")
                if _CONTROL.search(text):
                    raise ToolError(
                        f"{parameter.attribute} must not contain control characters: it is a header"
                    )
                parts.headers.append((name, text))
                return True

    def _require_free_keys(self, attribute: str, value: Json, *, stands_alone: bool) -> None:
        """Refuse an object with a key that a server might read as another part of the request.

        Raises:
            ToolError: A key is the name of another parameter, if keys stand alone, or of another declared
                key.
        """
        if not isinstance(value, dict):
            return
        if stands_alone and any(key in self._taken for key in value):
            raise ToolError(f"{attribute} must not have a key that is another parameter")
        own = self._keys.get(attribute, frozenset())
        if not own.issuperset(value):
            others = TakenNames(own, free=own)
            if any(key in others for key in value):
                raise ToolError(f"{attribute} must not have a key that is another spelling of one of its own")

    def _filled_path(self, document: Mapping[str, Json]) -> str:
        """Return the path with the values of its parameters, none of which can leave its segment."""

        def filled(match: re.Match[str]) -> str:
            parameter = self._path_parameters[match[1]]
            value = _value(parameter, document)
            for scalar in _scalars(value):
                _require_in_segment(parameter.attribute, text_of(scalar))
            style = parameter.style or "simple"
            explode = bool(parameter.explode)
            self._require_free_keys(parameter.attribute, value, stands_alone=explode and style == "matrix")
            text = "" if value is None else path_text(match[1], value, style, explode=explode)
            _require_in_segment(parameter.attribute, text)
            return text

        path = VARIABLE.sub(filled, self._path)
        if any(segment in (".", "..") for segment in path.split("/")):
            raise ToolError(f"{self._name} was not sent: its path would lead elsewhere")
        return path

    def _add_body(
        self, parts: RequestParts, body: Body, payload: BaseModel, document: Mapping[str, Json]
    ) -> None:
        key = body.attribute
        if key and document.get(key) is None and (body.media != "json" or key not in document):
            return
        attributes = {name: document[name] for name in body.attributes if name in document}
        value: Any = document[key] if key else attributes
        content_type = content_type_of(body)
        if self._filled and isinstance(value, dict) and any(name in self._filled for name in value):
            raise ToolError(f"{key or 'the payload'} must not have a key that is a credential")
        if key and body.media in ("form", "multipart"):
            self._require_free_keys(key, value, stands_alone=False)
        match body.media:
            case "json":
                parts.content = to_json(value)
            case "text":
                parts.content = text_of(value).encode(errors="replace")
            case "bytes":
                parts.content = self._bytes(payload, body.attribute, value)
            case "form":
                parts.content = "&".join(_form(body, value)).encode()
            case _:
                parts.fields = self._multipart(payload, body, value)
        if content_type and parts.fields is None:
            parts.headers.append(("Content-Type", content_type))

    def _bytes(self, payload: BaseModel, attribute: str, value: Json) -> bytes | FilePart:
        raw = getattr(payload, self._names.get(attribute, attribute), value)
        if isinstance(raw, bytes):
            return raw
        return FilePart(name=attribute, content=text_of(value))

    def _multipart(
        self, payload: BaseModel, body: Body, value: Mapping[str, Json]
    ) -> list[tuple[str, Field | FilePart]]:
        fields: list[tuple[str, Field | FilePart]] = []
        for key, inner in value.items():
            if key in body.files:
                raw = getattr(payload, self._names[key])
                contents = raw if isinstance(raw, list | tuple) else [raw]
                files = [content for content in contents if content is not None]
                fields += [(key, FilePart(name=key, content=content)) for content in files]
                continue
            for name, item in _fields(body, {key: inner}):
                media = "application/json" if isinstance(item, dict | list) else None
                fields.append((name, (None, text_of(item), media)))
        return fields


def content_type_of(body: Body) -> str:
    """Return the media type of a body; "" for multipart bodies, whose type contains the boundary."""
    return body.content_type or _TYPES[body.media]


def _attributes(payload: object) -> dict[str, str]:
    """Return the Python names of a class's attributes by their JSON keys."""
    fields = getattr(payload, "model_fields", {})
    return {field.serialization_alias or field.alias or name: name for name, field in fields.items()}


def _is_foreign(payload: BaseModel) -> bool:
    """Return whether a payload is of a foreign schema, for which only set attributes are sent."""
    if not isinstance(payload, ToolModel):
        return False
    from toolgen.shapes.foreign.model import SchemaModel  # few services have such payloads

    return isinstance(payload, SchemaModel)


def _has(http: HTTP, attribute: str) -> bool:
    """Return whether any part of a request contains the attribute."""
    body = http.body
    in_body = body is not None and (attribute == body.attribute or attribute in body.attributes)
    return in_body or any(parameter.attribute == attribute for parameter in http.parameters)


def _names(http: HTTP) -> set[str]:
    """Return the names of all parameters and credentials of a request."""
    names = {parameter.name or parameter.attribute for parameter in http.parameters}
    for requirement in (each for alternative in http.security for each in alternative):
        names |= {requirement.scheme.key, requirement.header, requirement.query, requirement.body}
    return names if http.paging is None else names | {http.paging.name or http.paging.style}


def _keys_of(payload: Any, name: str) -> frozenset[str]:
    """Return the JSON keys of the classes that an attribute of a payload can have."""
    waiting, keys = [payload.model_fields[name].annotation], set[str]()
    while waiting:
        type_ = waiting.pop()
        waiting += get_args(type_)
        keys.update(_attributes(type_))
    return frozenset(keys)


def _value(parameter: Parameter, document: Mapping[str, Json]) -> Json:
    """Return the value of a parameter; as text if it is sent as JSON, in which case null is sent as well."""
    value = document.get(parameter.attribute)
    return json_text(value) if parameter.style == "json" and parameter.attribute in document else value


def _explodes(parameter: Parameter, style: str) -> bool:
    return style == "form" if parameter.explode is None else parameter.explode


def _form(body: Body, value: Mapping[str, Json]) -> list[str]:
    """Return the parts of a form."""
    return [f"{encoded(key)}={encoded(item)}" for key, item in _fields(body, value)]


def _fields(body: Body, value: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield the fields of a form; array items one by one or with brackets.

    As in a query, nulls are omitted.
    """
    for key, inner in value.items():
        if body.style == "deepObject":
            yield from deep_parts(key, inner)
            continue
        items = inner if isinstance(inner, list) else [inner]
        yield from ((key, item) for item in items if item is not None)


def _scalars(value: Json) -> list[Json]:
    match value:
        case dict():
            return [*value, *value.values()]
        case list():
            return list(value)
        case None:
            return []
        case _:
            return [value]


def _require_in_segment(attribute: str, text: str) -> None:
    """Refuse a text that a server might read as something other than one path segment.

    Raises:
        ToolError: The text is empty, or contains an empty or dot segment.
    """
    if not text or any(part in ("", ".", "..") for part in re.split(r"[/\\]", text)):
        raise ToolError(f"{attribute} must not be empty, nor have an empty part or only dots between slashes")

"""The responses of an operation: its result and its errors, with their statuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from toolgen.contract.names import RESERVED_CODES
from toolgen.contract.transport import MEDIA_TYPE, Media
from toolgen.shapes import naming
from toolgen.shapes.foreign.normal_form import safe_text

from . import codes
from .clauses_built import NotExpressibleError
from .clauses_layout import ClauseCall, Named, Part, Text, call, literal
from .names import RENAMED_HINT, DesignNames
from .openapi_cuts import Cut
from .openapi_document import UnreadableError, component_name, mapping, text
from .openapi_operations import OpenAPIOperation
from .openapi_types import TypeBook
from .pointers import joined

_BODILESS: Final = ("204", "205", "304")
_NAMES: Final[Mapping[str, str]] = {
    "413": "content_too_large",
    "414": "uri_too_long",
    "416": "range_not_satisfiable",
    "422": "unprocessable_entity",
    "4XX": "client_error",
    "5XX": "server_error",
    "default": "failed",
}
"""Names of statuses that differ between versions of Python, and of ranges."""
_RETRYABLE: Final = ("408", "429", "502", "503", "504")


@dataclass(slots=True, kw_only=True)
class _Answer:
    """Body of one answer."""

    status: str
    schema: object = None
    """Schema of the body; None if there is none, or if the body is not JSON."""
    place: str = ""
    media: Media = "json"
    types: tuple[str, ...] = ("application/json",)
    """Media types of the body, as in the document."""
    description: str = ""
    has_body: bool = True
    name: str = ""
    cut: Cut | None = None


@dataclass(slots=True)
class Answers:
    """The answers of one operation."""

    good: list[_Answer] = field(default_factory=list)
    bad: list[_Answer] = field(default_factory=list)

    def cuts(self) -> list[Cut]:
        return [answer.cut for answer in (*self.good, *self.bad) if answer.cut is not None]

    def good_cuts(self) -> list[Cut]:
        return [answer.cut for answer in self.good if answer.cut is not None]


def answers_of(operation: OpenAPIOperation, types: TypeBook, find: Callable[..., None]) -> Answers:
    """Return the answers of an operation; their types are added to the book."""
    answers = Answers()
    responses = mapping(operation.value.get("responses"))
    is_only = not any(status[:1] == "2" for status in responses)
    for written in responses:
        status = written.upper() if written != "default" else written
        if status.startswith("X-"):
            continue
        is_good = status[:1] == "2" or (status == "default" and is_only)
        if not is_good and status[:1] not in ("4", "5") and status != "default":
            continue
        place = joined(operation.pointer, "responses", written)
        try:
            answer = _answer(operation, responses[written], place, status, is_good=is_good)
            answer.cut = _cut(answer, types)
        except UnreadableError as error:
            find(
                codes.LEFT_OUT,
                error.pointer,
                f"{error.message}; any JSON is accepted as its response",
                error.hint,
            )
            if is_good:
                schema: dict[str, object] = {}
                answer = _Answer(status=status, schema=schema, place=place)
                answer.cut = _cut(answer, types)
                answers.good.append(answer)
            continue
        if is_good:
            answers.good.append(answer)
        elif answer.schema is not None and answer.media == "json":
            answers.bad.append(answer)
    return answers


def _answer(operation: OpenAPIOperation, value: object, place: str, status: str, *, is_good: bool) -> _Answer:
    response, pointer = operation.api.followed(value, place)
    content = mapping(response.get("content"))
    described = safe_text(text(response.get("description")))
    name = component_name(pointer) if pointer.startswith("/components/responses/") else ""
    answer = _Answer(status=status, place=pointer, description=described, name=name)
    media_kind, read = media_read(content)
    if status in _BODILESS or operation.verb == "HEAD" or not content:
        answer.has_body = False
    elif media_kind == "json":
        media, at = operation.api.followed(content[read[0]] or {}, joined(pointer, "content", read[0]))
        answer.schema, answer.place = media.get("schema"), joined(at, "schema")
        in_order = [key for key in content if key in read]
        answer.types = tuple("application/json" if "*" in key else _asked_for(key) for key in in_order)
        if answer.schema is None and is_good:
            answer.schema = {}
    else:
        answer.media, answer.schema = media_kind, {"type": "string"}
        answer.types = tuple(map(_asked_for, read))
    return answer


def media_read(content: dict[str, object]) -> tuple[Media, list[str]]:
    """Return the kind of bodies with these media types, and the types that are read this way, best first."""
    plain = {key: key.partition(";")[0].strip().lower() for key in content}
    jsons = [key for key, kind in plain.items() if kind == "application/json"]
    jsons += [
        key for key, kind in plain.items() if kind.endswith("+json") or kind in ("*/*", "application/*")
    ]
    if jsons:
        schema = mapping(content[jsons[0]]).get("schema")
        return "json", [key for key in jsons if mapping(content[key]).get("schema") == schema]
    if not _is_text(next(iter(plain.values()), "")):
        return "bytes", list(content)
    return "text", [key for key, kind in plain.items() if _is_text(kind)]


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind.endswith(("xml", "yaml", "ndjson", "jsonl", "javascript"))


def _asked_for(media_type: str) -> str:
    """Return a media type for an Accept header, without its charset."""
    kind, *parameters = (part.strip() for part in media_type.split(";"))
    return ";".join([kind, *(each for each in parameters if not each.lower().startswith("charset="))])


def _cut(answer: _Answer, types: TypeBook) -> Cut | None:
    """Return the body as an object with one property, whose types are added to the book."""
    if answer.schema is None or answer.media != "json":
        return None
    return types.cutter.cut_object({"x": (answer.schema, answer.place)}, ["x"], "out")


class AnswerWriter:
    """Writer of the clauses of answers."""

    def __init__(self, types: TypeBook, components: Any, names: DesignNames) -> None:
        self._types = types
        self._components = components
        self._names = names

    def result(self, answers: Answers, class_name: str) -> tuple[list[ClauseCall], list[ClauseCall]]:
        """Return the `Result`, if any, and the `Response`s that it needs."""
        bodies: dict[str, list[_Answer]] = {}
        for answer in answers.good:
            if answer.has_body:
                bodies.setdefault(f"{answer.media} {json.dumps(answer.schema, sort_keys=True)}", []).append(
                    answer
                )
        empty = [answer for answer in answers.good if not answer.has_body]
        if not bodies:
            return [], []
        if len(bodies) == 1 and not empty:
            (same,) = bodies.values()
            if (content := self._object_content(same[0], class_name)) is not None:
                statuses = (
                    [] if all(each.status[:1] == "2" for each in same) else [each.status for each in same]
                )
                return [call("Result", *content)], [
                    call("Response", literal(_status(each))) for each in statuses
                ]
        attributes: list[ClauseCall] = []
        responses: list[ClauseCall] = []
        for same in bodies.values():
            name = _attribute_name(same[0]) if len(bodies) == 1 else _status_name(same[0].status)
            is_required = len(bodies) == 1 and not empty
            attributes.append(self._attribute(same[0], name, class_name, required=is_required))
            media = [Named("media", literal(same[0].media))] if same[0].media != "json" else []
            for answer in same:
                responses.append(
                    call("Response", literal(_status(answer.status)), call("Body", literal(name), *media))
                )
        responses += [call("Response", literal(_status(answer.status))) for answer in empty]
        return [call("Result", *attributes)], responses

    def accept(self, answers: Answers) -> list[ClauseCall]:
        """Return the `Accept` of the success answers; empty if the client sends the same by default.

        The default also applies if the document has a range or an invalid media type.
        """
        types = dict.fromkeys(each for answer in answers.good if answer.has_body for each in answer.types)
        if not types or [*types] == ["application/json"] or not all(map(MEDIA_TYPE.fullmatch, types)):
            return []
        return [call("Accept", *map(literal, types))]

    def _object_content(self, answer: _Answer, class_name: str) -> tuple[Part | Named, ...] | None:
        """Return the content of an object clause.

        None if the answer is not an object with known properties.
        """
        if answer.cut is None or answer.media != "json" or answer.cut.separate:
            return None
        schema = answer.schema
        if isinstance(schema, dict) and isinstance(schema.get("$ref"), str) and len(schema) == 1:
            address = self._components.api.target(schema["$ref"], joined(answer.place, "$ref"))
            type_ = None if address is None else self._types.type_of(address, "out")
            if type_ is not None:
                return (type_,)
            return None
        facts = self._components.facts_of(schema, answer.place)
        if not facts.properties or facts.is_nullable or facts.types > {"object"} or facts.branches:
            return None
        try:
            inner = self._types.cutter.cut(schema, answer.place, "out")
            inner.keys, inner.definitions = answer.cut.keys, answer.cut.definitions
            inner.schema = answer.cut.schema["properties"]["x"]
            inner.properties = facts.properties
            return self._types.written(inner, class_name, None).parts or None
        except (NotExpressibleError, UnreadableError):
            return None

    def _attribute(self, answer: _Answer, name: str, class_name: str, *, required: bool) -> ClauseCall:
        described = answer.description or f"{naming.title(name)}."
        end = [Named("required", literal(True))] if required else []
        if answer.media != "json" or answer.cut is None:
            type_: Part = "String" if answer.media == "text" else "Bytes"
            return call("Attribute", literal(name), type_, Text(described), *end)
        cut = answer.cut
        properties = {
            key.replace("x", name, 1) if key == "x" else key: part
            for key, part in cut.schema["properties"].items()
        }
        schema = {**cut.schema, "properties": properties, "required": [name]}
        if not required:
            del schema["required"]
        part = properties[name]
        if isinstance(part, dict) and not text(part.get("description")):
            schema["properties"] = {name: {**part, "description": described}}
            if "$ref" in part:
                schema["properties"] = {name: {"allOf": [part], "description": described}}
        named = Cut(
            schema=schema,
            definitions=cut.definitions,
            keys=cut.keys,
            direction="out",
            properties={name: cut.properties["x"]},
            separate={name} if cut.separate else set(),
            fixed=dict.fromkeys([name], cut.fixed["x"]) if cut.fixed else {},
        )
        written = self._types.written(named, class_name, None)
        (attribute, *_) = written.parts
        if not isinstance(attribute, ClauseCall):
            raise NotExpressibleError("the response cannot be an attribute")
        return attribute

    def errors(
        self, answers: Answers, tool: str, identity: str, find: Callable[..., None]
    ) -> list[tuple[ClauseCall, ClauseCall]]:
        """Return the declared errors, each with its `Response`."""
        class_name = naming.class_name(tool)
        wanted = {f"error {identity} {answer.status}": _error_name(answer) for answer in answers.bad}
        names = self._names.assign_all(
            {each: [name, f"{name}_{each.rpartition(' ')[2].lower()}"] for each, name in wanted.items()}, tool
        )
        written: list[tuple[ClauseCall, ClauseCall]] = []
        for answer in answers.bad:
            name = names[f"error {identity} {answer.status}"]
            if (taken := _error_name(answer)) in RESERVED_CODES:
                message = f"the error {taken!r} is called {name!r}, because the runtime uses the name itself"
                find(codes.RENAMED, answer.place, message, RENAMED_HINT)
            described = answer.description or f"{naming.title(name)}."
            key = answer.place, name
            if key not in self._types.errors:
                inner = naming.class_name(class_name, name)
                self._types.errors[key] = self._details(answer, name, inner, described)
            type_, body = self._types.errors[key]
            named = [Named("retryable", literal(True))] if answer.status in _RETRYABLE else []
            error = call("Error", literal(name), type_, Text(described), *named)
            written.append((error, call("Response", literal(_status(answer.status)), literal(name), *body)))
        return written

    def _details(
        self, answer: _Answer, name: str, class_name: str, described: str
    ) -> tuple[Part, tuple[ClauseCall, ...]]:
        """Return the type of an error's details, and the attribute that is the whole body, if any."""
        attribute = _attribute_name(answer)
        try:
            content = self._object_content(answer, class_name)
            if content is not None and isinstance(content[0], str):
                return content[0], ()
            if content is not None:
                return self._types.details(
                    content, naming.class_name(name), described, class_name, answer.place
                ), ()
            attributes = [self._attribute(answer, attribute, class_name, required=True)]
        except NotExpressibleError:
            if answer.cut is not None and not answer.cut.separate:
                answer.cut.separate_all()
                return self._details(answer, name, class_name, described)
            end = Named("required", literal(True))
            attributes = [call("Attribute", literal(attribute), "Any", Text(described), end)]
        type_ = self._types.details(attributes, naming.class_name(name), described, class_name, answer.place)
        return type_, (call("Body", literal(attribute)),)


def _status(status: str) -> int | str:
    return int(status) if status.isdecimal() else status


def _status_name(status: str) -> str:
    """Return the name of a status (RFC 9110, 15)."""
    with suppress(ValueError):
        return _NAMES.get(status) or naming.snake(HTTPStatus(int(status)).phrase)
    return f"status_{status.lower()}"


def _error_name(answer: _Answer) -> str:
    """Return the name of an error: the name of its component, or of its status."""
    if answer.name and (words := naming.words(answer.name)) and words[0].isascii() and words[0][0].isalpha():
        name = "_".join(word for word in words if word.isascii())
        if naming.TOOL_NAME.fullmatch(name) and len(name) <= naming.LONGEST_NAME:
            return name
    return _status_name(answer.status)


def _attribute_name(answer: _Answer) -> str:
    if answer.media != "json":
        return "text" if answer.media == "text" else "content"
    schema = answer.schema
    return "items" if isinstance(schema, dict) and schema.get("type") == "array" else "value"

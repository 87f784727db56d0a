"""Responses: the meaning of each status, and the sources of the attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from toolgen.contract.transport import Media, Status, Verb
from toolgen.contract.transport import Response as CheckedResponse
from toolgen.shapes.fields import Field, ObjectType

from ...expr import codes
from ...expr.source import Source
from ...http import HTTP, Body, Header, Response
from ...tool_clauses import Error
from ..clause_lookup import clauses_of_kind, single_clause
from ..report import RelatedSource, source_text, suggestion
from ..types.modules import UNKNOWN
from ..types.spelling import type_text
from .headers import is_token
from .placed_types import is_read_from
from .scope import MethodScope

_CLASSES: Final = ("1XX", "2XX", "3XX", "4XX", "5XX", "default")
_BODILESS: Final = (204, 205, 304)
_EMPTY: Final = ObjectType(name="", description="", fields=())


@dataclass(slots=True)
class AnsweredAttributes:
    """The attributes of a result that responses provide, over all statuses for it."""

    has_whole_result: bool = False
    """Whether the body of a response is the result itself."""
    names: set[str] = field(default_factory=set)
    """Attributes that are a body by themselves, or are in a header."""


def responses_of(
    scope: MethodScope, clause: HTTP, verb: Verb
) -> tuple[tuple[CheckedResponse, ...], AnsweredAttributes]:
    """Return the meaning of each status, and the attributes of the result that it provides."""
    reached = AnsweredAttributes()
    responses: list[CheckedResponse] = []
    sources: dict[Status, Source] = {}
    for written in clauses_of_kind(clause.children, Response):
        first = sources.setdefault(written.status, written.source)
        if first is not written.source:
            related = [RelatedSource(message="first written here", source=first)]
            hint = "map the status to one meaning"
            _refuse(scope, written.source, written.status, "is written twice", hint, related)
            continue
        for fault, hint in _faults(scope, written):
            _refuse(scope, written.source, written.status, fault, hint)
        responses.append(_response(scope, written))
    if not any(_is_success(response) for response in responses):
        responses.insert(0, CheckedResponse("2XX"))
    for response in responses:
        if not response.error:
            source = sources.get(response.status, clause.request.source)
            _check_result(scope, response, source, verb == "HEAD", reached)
    _check_errors(scope, {response.error for response in responses})
    return tuple(responses), reached


def _is_success(response: CheckedResponse) -> bool:
    """Return whether a response is the result for a status of success, or for every status."""
    is_success = response.status in (*range(200, 300), "2XX", "default")
    return is_success and not response.error


def _response(scope: MethodScope, clause: Response) -> CheckedResponse:
    body = single_clause(clause, clause.children, Body, scope.report)
    of, where = scope.result, "result"
    if clause.error:
        of, where = _details_of(scope, clause.error), f"error {clause.error!r}"
    headers = {
        header.attribute: _header(scope, clause, header, of, where)
        for header in clauses_of_kind(clause.children, Header)
    }
    attribute = _body_attribute(scope, body, of, where) if body else ""
    media: Media = (body.media if body else None) or "json"
    return CheckedResponse(clause.status, clause.error, attribute, headers, media)


def _details_of(scope: MethodScope, error: str) -> ObjectType:
    """Return the details of an error; an object without attributes if it has none."""
    declared = next((each for each in scope.operation.errors if each.name == error), None)
    if declared is None or declared.type == UNKNOWN.name:
        return scope.unknown
    return _EMPTY if declared.type is None else scope.operation.module.objects[declared.type]


def _faults(scope: MethodScope, clause: Response) -> Iterator[tuple[str, str]]:
    """Yield the faults of a Response as a whole, each with its hint."""
    status = clause.status
    is_known = status in _CLASSES if isinstance(status, str) else 100 <= status <= 599
    if not is_known:
        hint = 'write a number from 100 to 599, "4XX" for all such statuses, or "default"'
        yield "is not an HTTP status", hint
    errors = [error.name for error in scope.operation.errors]
    if clause.error and clause.error not in errors:
        fault = f"is mapped to the error {clause.error!r}, which the method does not declare"
        yield fault, suggestion(clause.error, errors, f'add Error("{clause.error}", …) to the method')
    body = next(iter(clauses_of_kind(clause.children, Body)), None)
    if body is None:
        return
    if body.children or body.media == "multipart":
        yield "has a body with several parts, which only requests can have", "read it as bytes"
    if body.style:
        yield f"has the style {body.style!r}, which only requests can have", "remove it"
    if body.content_type:
        yield "has a content type", "remove it; media determines how a response is read"
    if body.media in ("text", "bytes") and not body.attribute:
        hint = f'name the attribute: Body("…", media="{body.media}")'
        yield f"has media={body.media!r} but names no attribute", hint
    if status in _BODILESS:
        yield (
            "has a body, but responses with this status never have one",
            "remove Body, or write another status",
        )


def _refuse(
    scope: MethodScope,
    source: Source,
    status: Status,
    fault: str,
    hint: str,
    related: list[RelatedSource] | None = None,
) -> None:
    facts = {"status": source_text(status), "fault": fault, "hint": hint}
    scope.add(codes.BAD_RESPONSE, source, related or [], **facts)


def _header(scope: MethodScope, clause: Response, header: Header, of: ObjectType, where: str) -> str:
    """Return the name of a header with an attribute of a result, or of an error's details."""
    name = header.attribute if header.name is None else header.name
    if not is_token(name):
        fault, hint = (
            "has characters that are not allowed in headers",
            "write the name that the service sends",
        )
        scope.add(codes.BAD_PARAMETER, header.source, clause="Header", name=name, fault=fault, hint=hint)
    if header.style is not None:
        fault, hint = "is only for requests, but this is a response header", "remove it"
        facts = {"clause": "Header", "style": header.style, "attribute": header.attribute, "fault": fault}
        scope.add(codes.BAD_STYLE, header.source, **facts, hint=hint)
    if header.explode is not None:
        fault = f"has explode={header.explode} in Header {header.attribute!r}, which is only for requests"
        _refuse(scope, header.source, clause.status, fault, "remove it")
    attribute = scope.attribute(header, header.attribute, of, where)
    if attribute is not None and not is_read_from(attribute.type, "header", scope.objects):
        _unreadable(
            scope, header, attribute, "be read from a header", "read it from the body, or write String"
        )
    return name


def _body_attribute(scope: MethodScope, body: Body, of: ObjectType, where: str) -> str:
    """Return the attribute that is the whole body; "" if the body is the whole object."""
    if not body.attribute:
        return ""
    media = body.media or "json"
    attribute = scope.attribute(body, body.attribute, of, where)
    if attribute is not None and not is_read_from(attribute.type, media, scope.objects):
        wanted = {"bytes": "Bytes", "text": "String"}.get(media, "an object")
        _unreadable(scope, body, attribute, f"be a body of {media}", f"write {wanted}, or another media")
    return body.attribute


def _unreadable(scope: MethodScope, clause: Body | Header, of: Field, place: str, hint: str) -> None:
    facts = {"name": of.name, "type": type_text(of.type), "place": place, "hint": hint}
    scope.add(codes.UNSENDABLE_TYPE, clause.source, **facts)


def _check_result(
    scope: MethodScope, response: CheckedResponse, source: Source, is_head: bool, reached: AnsweredAttributes
) -> None:
    """Check that a response provides all required attributes of the result."""
    has_object = not (response.body or is_head or response.status in _BODILESS)
    reached.has_whole_result = reached.has_whole_result or has_object
    reached.names |= {*response.headers, *([response.body] if response.body else [])}
    for each in () if has_object else scope.result.fields:
        if each.required and each.name not in response.headers and each.name != response.body:
            fault = f"does not provide {each.name!r}, which the result requires"
            hint = f'write Header("{each.name}", "…"), or make it optional'
            _refuse(scope, source, response.status, fault, hint)


def _check_errors(scope: MethodScope, raised: set[str]) -> None:
    """Report the method's own errors without a status; errors of its service can be for other methods."""
    for clause in clauses_of_kind(scope.operation.clause.children, Error):
        if clause.name not in raised:
            hint = f'write Response(404, "{clause.name}") with its status, or remove the error'
            scope.add(codes.UNANSWERED_ERROR, clause.source, name=clause.name, hint=hint)

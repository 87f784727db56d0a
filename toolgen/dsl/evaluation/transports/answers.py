"""Answers to requests: what each status means, and which attributes of a result come from where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from toolgen.contract.transport import Media, Status, Verb
from toolgen.contract.transport import Response as CheckedResponse
from toolgen.expr import codes
from toolgen.expr.source import Source
from toolgen.shapes.fields import Field

from ...tool_clauses import Error
from ...transports import HTTP, Body, Header, Response
from ..clause_lookup import clauses_of_kind, single_clause
from ..report import RelatedSource, source_text, suggestion
from ..types.spelling import type_text
from .headers import is_token
from .placed_types import can_be_body, can_stand
from .scope import MethodScope

_CLASSES: Final = ("1XX", "2XX", "3XX", "4XX", "5XX", "default")
_BODILESS: Final = (204, 205, 304)
_ANY_SUCCESS: Final = CheckedResponse("2XX")
"""What answers with the result where no Response says it."""


@dataclass(slots=True)
class Reached:
    """The attributes of a result that answers give, over all statuses that mean it."""

    whole: bool = False
    """Whether some body is the result itself."""
    names: set[str] = field(default_factory=set)
    """Those that are a body of their own, or stand in a header."""


def responses_of(scope: MethodScope, clause: HTTP, verb: Verb) -> tuple[tuple[CheckedResponse, ...], Reached]:
    """Return what each status means, and which attributes of the result come with it."""
    reached = Reached()
    responses: list[CheckedResponse] = []
    sources: dict[Status, Source] = {}
    for written in clauses_of_kind(clause.children, Response):
        first = sources.setdefault(written.status, written.source)
        if first is not written.source:
            related = [RelatedSource(message="it stands first here", source=first)]
            _refuse(scope, written, "stands twice", "name one meaning of the status", related)
            continue
        for fault, hint in _faults(scope, written):
            _refuse(scope, written, fault, hint)
        responses.append(_response(scope, written, verb, reached))
    if all(response.error for response in responses):
        responses.insert(0, _ANY_SUCCESS)
        reached.whole = verb != "HEAD"
    _check_errors(scope, {response.error for response in responses})
    return tuple(responses), reached


def _response(scope: MethodScope, clause: Response, verb: Verb, reached: Reached) -> CheckedResponse:
    body = single_clause(clause, clause.children, Body, scope.report)
    headers = clauses_of_kind(clause.children, Header)
    media: Media = (body.media if body else None) or "json"
    if clause.error:
        return CheckedResponse(clause.status, clause.error, media=media)
    named = {header.attribute: _header(scope, header) for header in headers}
    attribute = _body_attribute(scope, body, media, named) if body else ""
    is_empty = verb == "HEAD" or clause.status in _BODILESS
    reached.names |= {*named, *([attribute] if attribute else [])}
    reached.whole = reached.whole or not (attribute or is_empty)
    if attribute or is_empty:
        for field in scope.result.fields:
            if field.required and field.name not in named and field.name != attribute:
                fault = f"does not give {field.name!r}, which the result always has"
                hint = f'write Header("{field.name}", "…"), or make it optional'
                _refuse(scope, clause, fault, hint)
    return CheckedResponse(clause.status, "", attribute, named, media)


def _faults(scope: MethodScope, clause: Response) -> Iterator[tuple[str, str]]:
    status = clause.status
    is_known = status in _CLASSES if isinstance(status, str) else 100 <= status <= 599
    if not is_known:
        yield (
            "is no status of HTTP",
            'write a number from 100 to 599, "4XX" for a class of them, or "default"',
        )
    errors = [error.name for error in scope.operation.errors]
    if clause.error and clause.error not in errors:
        fault = f"means the error {clause.error!r}, which the method does not declare"
        yield fault, suggestion(clause.error, errors, f'add Error("{clause.error}", …) to the method')
    body = next(iter(clauses_of_kind(clause.children, Body)), None)
    if clause.error and (clauses_of_kind(clause.children, Header) or (body and body.attribute)):
        yield "takes an error apart", "remove Body and Header; the body is the details of the error"
    if body and (body.children or body.media in ("multipart", "form")):
        yield "has a body that only requests have", 'write media="json", "text" or "bytes"'
    if body and body.content_type:
        yield "has a content type", "remove it; answers are read by what the body is"
    if body and status in _BODILESS:
        yield "has a body, which this status never has", "remove Body, or write another status"


def _refuse(
    scope: MethodScope, clause: Response, fault: str, hint: str, related: list[RelatedSource] | None = None
) -> None:
    status = source_text(clause.status)
    scope.add(codes.BAD_RESPONSE, clause.source, related=related or [], status=status, fault=fault, hint=hint)


def _header(scope: MethodScope, header: Header) -> str:
    """Return the name of a header that holds an attribute of the result."""
    name = header.attribute if header.name is None else header.name
    if not is_token(name):
        scope.add(
            codes.BAD_PARAMETER,
            header.source,
            clause="Header",
            name=name,
            fault="has characters that no header has",
            hint="write the name that the service sends",
        )
    field = scope.attribute(header, header.attribute, scope.result, "result")
    if field is not None and not can_stand(field.type, "header", scope.operation.module.objects):
        _unreadable(scope, header, field, "stand in a header", "take it from the body, or write String")
    return name


def _body_attribute(scope: MethodScope, body: Body, media: Media, headers: dict[str, str]) -> str:
    """Return the attribute of the result that is the whole body; "" where the body is the result."""
    objects, result = scope.operation.module.objects, scope.result
    name = body.attribute
    if not name:
        if media not in ("text", "bytes"):
            return ""
        fits = [each.name for each in result.fields if can_be_body(each.type, media, objects)]
        fits = [each for each in fits if each not in headers]
        if len(fits) != 1:
            fault = (
                f"is {media}, and {'none' if not fits else 'several'} of the result's attributes may be it"
            )
            scope.add(codes.BAD_BODY, body.source, fault=fault, hint=f'write Body("…", media="{media}")')
            return ""
        name = fits[0]
    field = scope.attribute(body, name, result, "result")
    if field is not None and not can_be_body(field.type, media, objects):
        wanted = "Bytes" if media == "bytes" else "String"
        _unreadable(scope, body, field, f"be a body of {media}", f"write {wanted}, or remove the media")
    return name


def _unreadable(scope: MethodScope, clause: Body | Header, field: Field, place: str, hint: str) -> None:
    scope.add(
        codes.UNSENDABLE_TYPE,
        clause.source,
        name=field.name,
        type=type_text(field.type),
        place=place,
        hint=hint,
    )


def _check_errors(scope: MethodScope, raised: set[str]) -> None:
    """Report the method's own errors that no status means; those of its service may be for other methods."""
    for clause in clauses_of_kind(scope.operation.clause.children, Error):
        if clause.name not in raised:
            hint = f'write Response(404, "{clause.name}") with its status, or remove the error'
            scope.add(codes.UNANSWERED_ERROR, clause.source, name=clause.name, hint=hint)

"""Requests: the place of each attribute of a payload."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, get_args

from toolgen.contract.transport import HTTP as CheckedHTTP
from toolgen.contract.transport import MEDIA_TYPE, Media, Paging, Verb
from toolgen.contract.transport import Body as CheckedBody
from toolgen.contract.transport import Security as CheckedSecurity
from toolgen.shapes.fields import ArrayType, Field

from ...expr import codes
from ...http import HTTP, Accept, Body, File, Request
from ..clause_lookup import clauses_of_kind, single_clause
from ..report import RelatedSource
from ..types.spelling import type_text
from .answers import responses_of
from .paging import paging_of
from .parameters import Parameters
from .placed_types import can_be_body, can_be_file
from .scope import MethodScope

_BODILESS: Final = frozenset({"GET", "HEAD"})
"""Methods in which a body has no meaning (RFC 9110, section 9.3)."""
_WITH_BODY: Final = frozenset({"PUT", "POST", "PATCH"})


def request_of(scope: MethodScope, clause: HTTP, security: CheckedSecurity) -> CheckedHTTP:
    """Return a method as a request; report mistakes."""
    verb = verb_of(clause.request)
    _check_whole(scope, clause)
    parameters = Parameters(scope, clause)
    parameters.named()
    responses, reached = responses_of(scope, clause, verb)
    paging = paging_of(scope, clause, reached)
    body = _body(scope, clause, verb, parameters, paging)
    parameters.check_credentials(security)
    _check_body_credentials(scope, clause, verb, body, security)
    return CheckedHTTP(
        verb=verb,
        path=clause.request.path,
        parameters=parameters.all(),
        body=body,
        accept=_accepted(scope, clause),
        responses=responses,
        paging=paging,
        security=security,
    )


def _check_body_credentials(
    scope: MethodScope, clause: HTTP, verb: Verb, body: CheckedBody | None, security: CheckedSecurity
) -> None:
    """Report a credential in a body that cannot have it."""
    for requirement in {each for alternative in security for each in alternative if each.body}:
        fault = ""
        if verb in _BODILESS:
            fault = f"is sent in the body, which {verb} does not have"
        elif body is not None and body.media in ("text", "bytes"):
            fault = f"is sent in the body, whose media is {body.media}"
        elif body is not None and requirement.body in body.attributes:
            fault = f"is sent in the body as {requirement.body!r}, which is also an attribute"
        if fault:
            hint = "remove body from this Security, or write another Security in the method"
            scope.add(codes.BAD_SECURITY, clause.source, name=requirement.scheme.name, fault=fault, hint=hint)


def verb_of(request: Request) -> Verb:
    """Return the verb of a clause, also for an author's subclass."""
    names = {kind.__name__ for kind in type(request).__mro__}
    verb: Verb = next(each for each in get_args(Verb) if each in names)
    return verb


def _check_whole(scope: MethodScope, clause: HTTP) -> None:
    """Report a payload with unknown keys: keys beyond its attributes would be lost."""
    kind = "a JSONSchema" if scope.payload.foreign else "open" if scope.payload.open else ""
    if kind:
        hint = 'take the other keys as Attribute("…", MapOf(String, Any), "…"), and send it with Body("…")'
        scope.add(codes.UNKNOWN_KEYS, clause.source, kind=kind, hint=hint)


def _accepted(scope: MethodScope, clause: HTTP) -> tuple[str, ...]:
    """Return the requested media types; () if there are none."""
    written = single_clause(clause, clause.children, Accept, scope.report)
    if written is None:
        return ()
    for name in written.types or ("",):
        if not MEDIA_TYPE.fullmatch(name):
            hint = 'write one such as "application/hal+json"'
            facts = {"clause": "Accept", "name": name, "fault": "is not a media type", "hint": hint}
            scope.add(codes.BAD_PARAMETER, written.source, **facts)
    return written.types


def _body(
    scope: MethodScope, clause: HTTP, verb: Verb, parameters: Parameters, paging: Paging | None
) -> CheckedBody | None:
    """Return the body; attributes without another place are in the body or the query."""
    written = single_clause(clause, clause.children, Body, scope.report)
    rest = [field for field in scope.payload.fields if field.name not in parameters.sources]
    if paging is not None and paging.style != "cursor":
        rest = [field for field in rest if field.name != paging.cursor]  # the client reads it itself
    if written is not None and verb in _BODILESS:
        hint = "remove it, so that the attributes are sent in the query, or write another verb"
        scope.add(codes.BAD_BODY, written.source, fault=f"is not allowed with {verb}", hint=hint)
        return None
    if written is None:
        if verb in _WITH_BODY and rest:
            return CheckedBody(attributes=tuple(field.name for field in rest))
        body = None
    else:
        body = _written_body(scope, written, rest, parameters)
        if body is None:  # the body was reported, so its other attributes are unknown
            return None
    if body is None or body.attribute:
        for field in rest:
            if body is None or field.name != body.attribute:
                parameters.query(field, (written or clause.request).source)
    return body


def _written_body(
    scope: MethodScope, clause: Body, rest: list[Field], parameters: Parameters
) -> CheckedBody | None:
    files = clauses_of_kind(clause.children, File)
    media: Media = clause.media or ("multipart" if files else "json")
    for fault, hint in _faults(clause, media):
        scope.add(codes.BAD_BODY, clause.source, fault=fault, hint=hint)
    _check_files(scope, clause)
    attribute = _whole(scope, clause, media)
    if attribute is None:
        return None
    for name, source in [(attribute, clause.source), *((file.attribute, file.source) for file in files)]:
        if name and (earlier := parameters.sources.get(name)):
            related = [RelatedSource(message="it is sent here first", source=earlier)]
            scope.add(codes.SENT_TWICE, source, related, what=f"attribute {name!r}")
    body = CheckedBody(media=media, content_type=clause.content_type, style=clause.style)
    if attribute:
        return replace(body, attribute=attribute)
    return replace(
        body,
        attributes=tuple(field.name for field in rest),
        files=tuple(dict.fromkeys(file.attribute for file in files)),
    )


def _faults(clause: Body, media: Media) -> Iterator[tuple[str, str]]:
    """Yield the contradictions in a body, each with its hint."""
    if clause.children and media != "multipart":
        yield f"has files, but media={media!r}", 'write media="multipart", or omit media'
    if clause.children and clause.attribute:
        yield (
            "names an attribute and has files",
            "remove the attribute; the other attributes become parts too",
        )
    if media in ("text", "bytes") and not clause.attribute:
        yield f"has media={media!r} but names no attribute", f'write Body("…", media="{media}")'
    if clause.style and media not in ("form", "multipart"):
        yield f"has media={media!r} and the style {clause.style!r}", 'remove it, or write media="form"'
    if clause.content_type and not MEDIA_TYPE.fullmatch(clause.content_type):
        yield (
            f"has the content type {clause.content_type!r}",
            'write one such as "application/merge-patch+json"',
        )
    elif clause.content_type and media == "multipart":
        yield "is multipart and has a content type", "remove it; the client adds the boundary"


def _whole(scope: MethodScope, clause: Body, media: Media) -> str | None:
    """Return the attribute that is the whole body; "" for an object of several, None if it was reported."""
    if not clause.attribute:
        return None if media in ("text", "bytes") else ""
    field = scope.attribute(clause, clause.attribute, scope.payload, "payload")
    if field is None:
        return None
    if not can_be_body(field.type, media, scope.objects):
        _unsendable(scope, clause, field, f"be a body of {media}")
    return field.name


def _check_files(scope: MethodScope, clause: Body) -> None:
    for file in clauses_of_kind(clause.children, File):
        field = scope.attribute(file, file.attribute, scope.payload, "payload")
        if field is None:
            continue
        type_ = field.type.items if isinstance(field.type, ArrayType) else field.type
        if not can_be_file(type_, scope.objects):
            _unsendable(scope, file, field, "be a file")


def _unsendable(scope: MethodScope, clause: Body | File, field: Field, place: str) -> None:
    hint = {
        "be a file": "write d.Bytes, or d.String for the URI of an artifact",
        "be a body of bytes": "write d.Bytes, or d.String for the URI of an artifact",
        "be a body of text": "write String, or remove the media",
    }.get(place, "write an object, or remove the media")
    facts = {"name": field.name, "type": type_text(field.type), "place": place, "hint": hint}
    scope.add(codes.UNSENDABLE_TYPE, clause.source, **facts)

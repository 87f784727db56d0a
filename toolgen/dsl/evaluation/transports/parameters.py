"""Parameters of requests: the attributes of a payload in the path, the query, headers and cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolgen.contract.transport import VARIABLE, Parameter, Place, Security, Style
from toolgen.shapes.fields import Field, may_be_absent, may_be_none

from ...expr import codes
from ...expr.source import Source
from ...http import HTTP, Cookie, Header, Param
from ..clause_lookup import clauses_of_kind
from ..report import RelatedSource
from ..types.spelling import type_text
from .headers import header_fault, header_hint, is_token
from .placed_types import can_stand, form_of
from .scope import MethodScope
from .security import places_of
from .servers import is_plain

_STYLES: Final[dict[Place, tuple[Style, ...]]] = {
    "path": ("simple", "label", "matrix", "json"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject", "json"),
    "header": ("simple", "json"),
    "cookie": ("form", "json"),
}
_IN: Final[dict[Place, str]] = {
    "path": "the path",
    "query": "the query",
    "header": "a header",
    "cookie": "a cookie",
}


class Parameters:
    """The parameters of one request, while they are collected."""

    def __init__(self, scope: MethodScope, clause: HTTP) -> None:
        self._scope = scope
        self._clause = clause
        self._variables = path_variables(scope, clause)
        self._placed: dict[str, Parameter] = {}
        self._names: dict[tuple[str, str], Source] = {}
        self.sources: dict[str, Source] = {}
        """Source of each attribute's placement."""

    def named(self) -> None:
        """Add the attributes that clauses name, and those that fill the path by their names."""
        for child in clauses_of_kind(self._clause.children, Param):
            place: Place = "path" if self._is_in_path(child) else "query"
            self._take(child, place, child.style, child.explode)
        for header in clauses_of_kind(self._clause.children, Header):
            self._take(header, "header", header.style, header.explode)
        for cookie in clauses_of_kind(self._clause.children, Cookie):
            self._take(cookie, "cookie", cookie.style, cookie.explode)
        for variable in self._variables:
            if ("path", variable) not in self._names:
                self._fill(variable)

    def _is_in_path(self, clause: Param) -> bool:
        """Return whether a Param fills a path variable, instead of an attribute with the variable's name."""
        name = clause.attribute if clause.name is None else clause.name
        if name not in self._variables:
            return False
        placed = {
            each.attribute for each in self._clause.children if isinstance(each, Param | Header | Cookie)
        }
        has_own = self._scope.payload.field(name) is not None and name not in placed
        return name == clause.attribute or not has_own

    def query(self, field: Field, source: Source) -> None:
        """Add an attribute that no clause names to the query."""
        self._add(field, Parameter(field.name, "query"), source)

    def all(self) -> tuple[Parameter, ...]:
        """Return the parameters in the order of the payload."""
        fields = self._scope.payload.fields
        return tuple(self._placed[field.name] for field in fields if field.name in self._placed)

    def _take(
        self, clause: Param | Header | Cookie, place: Place, style: Style | None, explode: bool | None
    ) -> None:
        scope = self._scope
        field = scope.attribute(clause, clause.attribute, scope.payload, "payload")
        name = clause.attribute if clause.name is None else clause.name
        if fault := _name_fault(name, place):
            kind = type(clause).__name__
            hint = header_hint(name) if place == "header" else "write the name that the service reads"
            scope.add(codes.BAD_PARAMETER, clause.source, clause=kind, name=name, fault=fault, hint=hint)
        if style is not None and style not in _STYLES[place]:
            fits = " or ".join(repr(each) for each in _STYLES[place])
            self._bad_style(clause, style, f"is not allowed in {_IN[place]}", f"write style={fits}")
        if field is None:
            self._names[_key(place, name)] = clause.source  # one cause gives one diagnostic
            return
        form = form_of(field.type, scope.objects)
        if style == "deepObject" and form in ("value", "array"):
            self._bad_style(
                clause, style, f"does not apply to {type_text(field.type)}", "remove it, or send an object"
            )
        if style in ("spaceDelimited", "pipeDelimited") and form == "value":
            self._bad_style(
                clause, style, f"does not apply to {type_text(field.type)}", "remove it, or send a list"
            )
        own_name = "" if name == clause.attribute else name
        self._add(field, Parameter(field.name, place, own_name, style, explode), clause.source)

    def check_credentials(self, security: Security) -> None:
        """Report parameters in the place of a key from the method's security."""
        named = {
            place: requirement.scheme.name
            for alternative in security
            for requirement in alternative
            for place in places_of(requirement)
        }
        for (place, name), scheme in named.items():
            if place != "body" and (source := self._names.get(_key(place, name))):
                kind = {"header": "Header", "query": "Param", "cookie": "Cookie"}[place]
                facts = {"clause": kind, "name": name, "fault": f"is used by the security scheme {scheme!r}"}
                hint = "remove the attribute; the client gets the key from the host"
                self._scope.add(codes.BAD_PARAMETER, source, **facts, hint=hint)

    def _bad_style(self, clause: Param | Header | Cookie, style: str, fault: str, hint: str) -> None:
        self._scope.add(
            codes.BAD_STYLE,
            clause.source,
            clause=type(clause).__name__,
            style=style,
            attribute=clause.attribute,
            fault=fault,
            hint=hint,
        )

    def _fill(self, variable: str) -> None:
        """Fill a variable of the path with the attribute of the same name."""
        scope, source = self._scope, self._clause.request.source
        field = scope.payload.field(variable)
        if field is None and not scope.knows(scope.payload):
            return
        if field is None or field.name in self.sources:
            fault = "no attribute fills"
            first = f'add Attribute("{variable}", String, "…", required=True) to the payload'
            if field is not None:
                fault = f"attribute {variable!r} is sent elsewhere, and no other attribute fills"
                first = f"remove the clause that sends {variable!r} elsewhere"
            hint = f'{first}, or write Param("…", "{variable}") with the attribute that fills it'
            scope.add(codes.UNFILLED_VARIABLE, source, name=variable, fault=fault, hint=hint)
        else:
            self._add(field, Parameter(variable, "path"), source)

    def _add(self, field: Field, parameter: Parameter, source: Source) -> None:
        scope, place = self._scope, parameter.place
        name = parameter.name or parameter.attribute
        key = _key(place, name)
        for earlier, what in (
            (self.sources.get(field.name), f"attribute {field.name!r}"),
            (self._names.get(key), f"{name!r} of {_IN[place]}"),
        ):
            if earlier is not None:
                related = [RelatedSource(message="it is sent here first", source=earlier)]
                scope.add(codes.SENT_TWICE, source, related, what=what)
                return
        if parameter.style != "json" and not can_stand(field.type, place, scope.objects):
            hint = f'split it into single values, or send it in a body: Body("{field.name}")'
            scope.add(
                codes.UNSENDABLE_TYPE,
                source,
                name=field.name,
                type=type_text(field.type),
                place=f"be sent in {_IN[place]}",
                hint=hint,
            )
        if place == "path" and may_be_none(field):
            state, hint = "null", "write the type without Nullable"
            if may_be_absent(field):
                state, hint = "absent", f"add required=True or a default to {field.name!r}"
            fault = f"attribute {field.name!r}, which can be {state}, fills"
            scope.add(codes.UNFILLED_VARIABLE, source, name=name, fault=fault, hint=hint)
        self._placed[field.name] = parameter
        self.sources[field.name] = source
        self._names[key] = source


def _key(place: str, name: str) -> tuple[str, str]:
    """Return a key that is unique for each parameter; the case of headers is ignored."""
    return place, name.lower() if place == "header" else name


def _name_fault(name: str, place: Place) -> str:
    """Return the fault of a parameter's name; "" if there is none."""
    if place == "header":
        return header_fault(name)
    if place == "cookie":
        return "" if is_token(name) else "has characters that are not allowed in cookies"
    return "" if name else "is empty"


def path_variables(scope: MethodScope, clause: HTTP) -> tuple[str, ...]:
    """Return the names in a path, in their order; report the path's faults."""
    path = clause.request.path
    for fault, hint in path_faults(path):
        scope.add(codes.BAD_PATH, clause.request.source, path=path, fault=fault, hint=hint)
    return tuple(dict.fromkeys(name for name in VARIABLE.findall(path) if name))


def path_faults(path: str) -> Iterator[tuple[str, str]]:
    """Yield the faults of a path, each with its hint."""
    names = VARIABLE.findall(path)
    plain = VARIABLE.sub("", path)
    if not path.startswith("/"):
        yield "does not begin with a slash", 'write the path after the server\'s address, such as "/books"'
    if "{" in plain or "}" in plain:
        yield "has an unpaired brace", "write {name} for an attribute"
    if "" in names:
        yield "has braces without a name", "write an attribute name between them"
    for name in dict.fromkeys(name for name in names if name and names.count(name) > 1):
        yield f"names {name!r} twice", "send a second attribute"
    if "?" in plain or "#" in plain:
        yield "has a query or a fragment", "write Param for query parameters"
    elif not is_plain(plain) or re.search(r"(^|/)\.\.?(/|$)", plain):
        yield (
            "has characters that are not allowed in paths, or dot segments",
            "write them percent-encoded",
        )

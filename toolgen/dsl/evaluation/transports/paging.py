"""Pages of results: the cursors, and how the client knows whether there is another page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from toolgen.contract.transport import Paging as CheckedPaging
from toolgen.shapes.fields import (
    MISSING,
    ArrayType,
    Field,
    NumberType,
    ObjectType,
    StringType,
    may_be_absent,
    without_null,
)

from ...expr import codes
from ...http import HTTP, Body, Cookie, Header, Paging, Param
from ..clause_lookup import single_clause
from ..report import suggestion
from ..types.modules import UNKNOWN
from ..types.spelling import field_text
from .answers import AnsweredAttributes
from .scope import MethodScope

_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)+")
"""JSON Pointer (RFC 6901) to a place below the root."""


def paging_of(scope: MethodScope, clause: HTTP, reached: AnsweredAttributes) -> CheckedPaging | None:
    """Return how the client requests the next page; None for a method without pages."""
    paging = single_clause(clause, clause.children, Paging, scope.report)
    return _Paging(scope, clause, paging, reached).checked() if paging else None


class _Paging:
    def __init__(self, scope: MethodScope, http: HTTP, clause: Paging, reached: AnsweredAttributes) -> None:
        self._scope = scope
        self._http = http
        self._clause = clause
        self._reached = reached

    def checked(self) -> CheckedPaging:
        clause, scope = self._clause, self._scope
        self._attribute("cursor", scope.payload, "payload", "an optional String", _is_cursor)
        self._attribute("next", scope.result, "result", "an optional String", _is_cursor)
        self._attribute("size", scope.payload, "payload", "Int", _is_int)
        self._attribute("total", scope.result, "result", "Int", _is_int)
        self._attribute("items", scope.result, "result", "a list", _is_list)
        self._check_style()
        is_page = clause.style == "page"
        return CheckedPaging(
            style=clause.style,
            cursor=clause.cursor,
            next=clause.next,
            name=clause.name,
            size=clause.size,
            items=self._items(),
            total=clause.total,
            first=int(is_page) if clause.first is None else clause.first,
            at=clause.at,
        )

    def _attribute(
        self, argument: str, of: ObjectType, where: str, wanted: str, fits: Callable[[Field], bool]
    ) -> None:
        """Check that the attribute of an argument exists and has the required type."""
        name: str = getattr(self._clause, argument)
        if not name:
            if argument in ("cursor", "next"):
                self._refuse(f"has no {argument}", f"name an attribute of the {where} that is {wanted}")
            return
        field = of.field(name)
        if field is None:
            if self._scope.knows(of):
                choices = [each.name for each in of.fields]
                hint = suggestion(name, choices, f"add it to the {where}")
                self._refuse(f"has {argument}={name!r}, which the {where} does not have", hint)
        elif field.type != UNKNOWN and not fits(field):
            text = field_text(field) if field.default is MISSING else f"{field_text(field)} with a default"
            text = f"required {text}" if field.required else text
            self._refuse(f"has {argument}={name!r}, which is {text}, not {wanted}", f"make {name!r} {wanted}")

    def _check_style(self) -> None:
        """Check the arguments that the style requires in addition to the cursors."""
        clause, scope = self._clause, self._scope
        counts = clause.style in ("offset", "page")
        for argument in ("items", "total", "name"):
            is_fit = counts or (argument == "name" and clause.style == "link")
            if getattr(clause, argument) and not is_fit:
                self._refuse(
                    f"has {argument}, which does not apply to style={clause.style!r}", f"remove {argument}"
                )
        for sent in self._http.children:
            is_own = isinstance(sent, Param | Header | Cookie | Body) and sent.attribute == clause.cursor
            if is_own and clause.style != "cursor":
                fault = f"has cursor={clause.cursor!r}, which {type(sent).__name__} sends"
                self._refuse(fault, f"remove it: style={clause.style!r} determines how the cursor is sent")
        if clause.first is not None and not counts:
            self._refuse(f"has first, which does not apply to style={clause.style!r}", "remove first")
        if clause.at and clause.style != "cursor":
            self._refuse(
                f"has at, which does not apply to style={clause.style!r}",
                "remove at; the client finds the next page itself",
            )
        elif clause.at and not _POINTER.fullmatch(clause.at):
            self._refuse(
                f"has at={clause.at!r}, which is not a JSON Pointer", 'write one such as "/meta/next"'
            )
        is_there = (
            self._reached.has_whole_result
            or clause.next in self._reached.names
            or not scope.knows(scope.result)
        )
        if clause.style == "cursor" and not clause.at and not is_there:
            hint = f'write Header("{clause.next}", "…") in the Response, or at="/…"'
            self._refuse(f"has next={clause.next!r}, which no Response provides", hint)
        if counts and not self._items() and scope.knows(scope.result):
            self._refuse("does not name the list with the items of a page", 'write items="…"')

    def _items(self) -> str:
        """Return the list of a page, by default the only list; "" if the style needs none."""
        if self._clause.items or self._clause.style not in ("offset", "page"):
            return self._clause.items
        lists = [field.name for field in self._scope.result.fields if _is_list(field)]
        return lists[0] if len(lists) == 1 else ""

    def _refuse(self, fault: str, hint: str) -> None:
        self._scope.add(codes.BAD_PAGING, self._clause.source, fault=fault, hint=hint)


def _is_cursor(field: Field) -> bool:
    return isinstance(without_null(field.type), StringType) and may_be_absent(field)


def _is_int(field: Field) -> bool:
    type_ = without_null(field.type)
    return isinstance(type_, NumberType) and type_.integer


def _is_list(field: Field) -> bool:
    return isinstance(without_null(field.type), ArrayType)

"""Parts of an OpenAPI document that a design cannot express, and their replacements in the design.

Each clause is replaced separately: a type by a schema, and a schema that is not allowed by any JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, TypeVar

from toolgen.shapes import naming

from . import codes
from .clauses_built import Fault, NotExpressibleError
from .clauses_layout import ClauseCall
from .openapi_answers import Answers
from .openapi_cuts import Cut
from .openapi_operations import OpenAPIOperation
from .openapi_requests import PayloadParts
from .openapi_types import TypeBook
from .openapi_untyped import MISFIT, MISFIT_HINT

T = TypeVar("T")
Side: TypeAlias = Literal["payload", "result"]
"""Side of a call: its arguments or its result."""
SIDES: Final[tuple[Side, Side]] = ("payload", "result")


@dataclass(slots=True, kw_only=True)
class Draft:
    """An operation whose schemas are known to the types, before it is written."""

    operation: OpenAPIOperation
    name: str
    request: PayloadParts
    payload: Cut
    answers: Answers
    security: tuple[ClauseCall, ...]
    simplified: dict[Side, int] = field(default_factory=dict)
    """Number of times that a side was simplified, because the design could not express its clauses."""

    def simplify(self, side: Side) -> int:
        """Replace a side's attributes by schemas, then by any JSON; return how often this was done before."""
        before = self.simplified.get(side, 0)
        self.simplified[side] = before + 1
        for cut in [self.payload] if side == "payload" else self.answers.good_cuts():
            if before == 0:
                cut.separate_all()
            else:
                cut.fixed = dict.fromkeys(cut.properties, "Any") | cut.fixed
        return before


class Faults:
    """Simplifies types and operations until a design can express them."""

    def __init__(self, types: TypeBook, find: Callable[..., None]) -> None:
        self._types = types
        self._find = find
        self._refused: set[str] = set()
        """Errors, and types of their details, that a design does not allow."""

    def without(self, drafts: list[Draft], faults: list[Fault]) -> list[Draft]:
        """Return the operations, each simplified as little as possible so that the design can express it.

        An operation is left out only if the design cannot express its request or its address.
        """
        lost: dict[str, str] = {}
        mended: dict[tuple[str, str], bool] = {}
        for fault in faults:
            owner = self._types.origin(fault.owner)
            draft = next((each for each in drafts if owner in (each.name, *_classes(each))), None)
            place = owner, _place(draft, owner, fault.part)
            if place not in mended:
                mended[place] = self._mend(draft, place, fault)
            if not mended[place]:
                users = [each for each in drafts if _mentions(each, owner)] if draft is None else [draft]
                lost |= {each.name: fault.message for each in users}
        if not lost and not any(mended.values()):
            lost = {draft.name: faults[0].message for draft in drafts}
        for draft in drafts:
            if draft.name in lost:
                message = f"the design cannot express it: {lost[draft.name]}"
                hint = "this is a bug in toolgen; please report it with this operation"
                pointer = draft.operation.pointer
                self._find(codes.BAD_OPERATION, pointer, message, hint, tool=draft.operation.id)
        return [draft for draft in drafts if draft.name not in lost]

    def _mend(self, draft: Draft | None, place: tuple[str, str], fault: Fault) -> bool:
        """Simplify the clause at fault; return whether anything changed."""
        owner, clause = place
        if draft is None and fault.part and self._types.simplify(owner, is_example=clause == "Example"):
            return True
        if clause == "Error" or (draft is None and owner in self._types.types):
            word = fault.part.flat if clause == "Error" and fault.part else owner
            is_new = word not in self._refused
            self._refused.add(word)
            return is_new
        if draft is None:
            return False
        if clause == "Example":
            pointer = draft.operation.pointer
            self._find(codes.ODD_SCHEMA, pointer, MISFIT, MISFIT_HINT, tool=draft.operation.id)
            draft.request.example = {}
            return True
        return clause in SIDES and self._simplify(draft, SIDES[SIDES.index(clause)], fault.message)

    def _simplify(self, draft: Draft, side: Side, fault: str) -> bool:
        """Simplify a side of an operation; return whether that was possible."""
        before = draft.simplify(side)
        if before == 1:
            what = "arguments" if side == "payload" else "result"
            message = f"the design cannot express the types of its {what} ({fault}); any JSON is accepted"
            hint = "add them to the design"
            self._find(codes.LEFT_OUT, draft.operation.pointer, message, hint, tool=draft.operation.id)
        return before < 2

    def expressed(self, draft: Draft, side: Side, write: Callable[[], T]) -> T:
        """Return the written clauses for a side of an operation, simplified until they are valid.

        Raises:
            NotExpressibleError: The simplest clauses are not valid either.
        """
        while True:
            try:
                return write()
            except NotExpressibleError as error:
                if not self._simplify(draft, side, str(error)):
                    raise

    def errors(
        self, draft: Draft, errors: list[tuple[ClauseCall, ClauseCall]]
    ) -> list[tuple[ClauseCall, ClauseCall]]:
        """Return the errors of an operation that a design allows."""
        allowed_errors = []
        for error, response in errors:
            if {error.flat, *(part for part in error.parts if isinstance(part, str))} & self._refused:
                message = f"the design cannot express its error {getattr(error.parts[0], 'value', '')!r}"
                hint = "add it to the design"
                self._find(codes.LEFT_OUT, draft.operation.pointer, message, hint, tool=draft.operation.id)
            else:
                allowed_errors.append((error, response))
        return allowed_errors


def _classes(draft: Draft) -> tuple[str, str]:
    """Return the classes for an operation's payload and result."""
    return naming.class_name(draft.name, "payload"), naming.class_name(draft.name, "result")


def _place(draft: Draft | None, owner: str, part: ClauseCall | None) -> str:
    """Return the part of an owner that is at fault: a side or a clause; "" for the owner itself."""
    clause = part.clause if part else ""
    if draft is not None and owner in _classes(draft):
        return SIDES[_classes(draft).index(owner)]
    sides = {"Payload": "payload", "Result": "result"} if draft is not None else {}
    return sides.get(clause, clause if clause in ("Example", "Error") else "")


def _mentions(draft: Draft, owner: str) -> bool:
    """Return whether a variable is used in the clauses of an operation."""
    return any(owner in clause.parts for clause in draft.security)

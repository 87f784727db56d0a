"""The method of a service, for its generated client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from pydantic import BaseModel
from typing_extensions import TypeVar

from toolgen.calls.specs import ErrorSpec
from toolgen.contract.transport import HTTP, Function

P = TypeVar("P", bound=BaseModel, default=Any)
R = TypeVar("R", default=Any)


@dataclass(frozen=True, eq=False)
class Operation(Generic[P, R]):
    """A method with a transport: its payload, its result, and how it is called."""

    service: str
    name: str
    transport: HTTP | Function
    payload: type[P] = field(kw_only=True)
    result: Any = field(kw_only=True)
    """`R`: a class, or a type alias."""
    errors: Mapping[ErrorSpec, Any] = field(kw_only=True, default_factory=dict)
    """Its declared errors, each with the class of its details; None for an error without them."""
    is_lenient: bool = field(kw_only=True, default=False)
    """Whether an unfit answer raises `UnfitAnswerError`, which contains it as received."""
    is_sensitive: bool = field(kw_only=True, default=False)
    """Whether an attribute of its result is sensitive."""

    def __repr__(self) -> str:
        return f"Operation({self.service!r}, {self.name!r})"

"""The method of a service, as its generated client performs it."""

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
    """A method with a transport: what it takes, what it returns, and how it is reached."""

    service: str
    name: str
    transport: HTTP | Function
    payload: type[P] = field(kw_only=True)
    result: Any = field(kw_only=True)
    """`R`: a class, or an alias of types."""
    errors: Mapping[ErrorSpec, Any] = field(kw_only=True, default_factory=dict)
    """Its declared errors, each with the class of its details; None for an error without them."""
    is_lenient: bool = field(kw_only=True, default=False)
    """Whether an answer that does not fit raises `UnfitAnswerError`, which has it as received."""
    is_sensitive: bool = field(kw_only=True, default=False)
    """Whether an attribute of its result is sensitive."""

    def __repr__(self) -> str:
        return f"Operation({self.service!r}, {self.name!r})"

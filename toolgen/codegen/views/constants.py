"""Constants that are made by a call, such as those of declared errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolgen.contract.tool_facts import Error
from toolgen.expr.tree import Method, Tool

from .. import names
from ..imports import Imports
from ..spelling import RUNTIME
from ..text import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantView:
    """A constant that is made by a call."""

    name: str
    type: str
    value: str


def error_constant(
    name: str, error: Error[str], type_: str, imports: Imports, codec: Iterable[str] = ()
) -> ConstantView:
    """Return the constant of a declared error whose details are of a type; "None" where there are none."""
    maker = imports.name(RUNTIME, "ErrorSpec")
    retryable = ["is_retryable=True"] if error.is_retryable else []
    description = [f"description={quote(error.description)}"] if error.description else []
    arguments = ", ".join([quote(error.name), *codec, *description, *retryable])
    return ConstantView(name=name, type=f"{maker}[{type_}]", value=f"{maker}({arguments})")


def with_errors(text: str, owner: Tool | Method) -> str:
    """Return the docstring of a tool or a method, followed by the errors that it may raise."""
    if not owner.errors:
        return text
    lines = [f"    {names.error_spec(owner, error)}: {error.description}" for error in owner.errors]
    return "\n".join([text, "", "Raises:", *lines])

"""The message about a value of another class than the generated one: its class, and the code to write."""

from __future__ import annotations

import inspect
from typing import Final

from toolgen.contract.errors import HINT

from .model import ToolModel

_MOST_FIELDS: Final = 4
"""Maximum number of fields that the hint shows."""


def other_class_text(model: type, value: object) -> str:
    """Return the message with its hint; it shows only the class of the value."""
    if isinstance(value, type):
        kind = f"the class {value.__name__}"
    else:
        kind = "None" if value is None else type(value).__name__
    return f"expected {model.__name__}, got {kind}{HINT}{_hint(model, value)}"


def _hint(model: type, value: object) -> str:
    written = _usage(model)
    if inspect.iscoroutine(value):
        return "the coroutine was not awaited: write await before the call that created it"
    if inspect.isgenerator(value) or inspect.isasyncgen(value):
        return f"return one {written} instead of each yield"
    if isinstance(value, BaseException):
        return "write raise instead of return"
    if _has_same_fields(model, value):
        return f"convert it, because it has the same fields: {model.__name__}(**dict(…))"
    return f"{'return' if value is None else 'write'} {written}"


def _has_same_fields(model: type, value: object) -> bool:
    return (
        isinstance(value, ToolModel)
        and issubclass(model, ToolModel)
        and type(value).model_fields.keys() == model.model_fields.keys()
    )


def _usage(model: type) -> str:
    """Return an expression that constructs the class with its required fields: `AddNoteResult(id=…)`."""
    fields = model.model_fields if issubclass(model, ToolModel) else {}
    names = [f"{name}=…" for name, field in fields.items() if field.is_required()]
    shown = names if len(names) <= _MOST_FIELDS else [*names[:_MOST_FIELDS], "…"]
    return f"{model.__name__}({', '.join(shown) or '…'})"

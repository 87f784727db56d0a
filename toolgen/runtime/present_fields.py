"""Whether an optional field that may be null is present."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolgen.shapes.design.model import ToolModel


def present_fields(value: ToolModel, /, **fields: str) -> dict[str, Any]:
    """Return the set optional fields of a model as keyword arguments for another model.

    The keyword is the target's field, its value the field of `value`: absent stays absent, null stays null.
    """
    present = value.model_fields_set
    return {target: getattr(value, source) for target, source in fields.items() if source in present}


given = present_fields
"""The name that generated code of format 1 has for it."""

"""Classes whose instances contain only scalars, so that their contents cannot change."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Final, Literal, Union, get_args, get_origin

from annotated_types import BaseMetadata
from pydantic.fields import FieldInfo

from .model import ToolModel

_SCALARS: Final = (str, int, float, bool, NoneType)


def holds_scalars(model: object) -> bool:
    """Return whether it is a class of frozen instances whose fields are texts, numbers, booleans and null.

    The author's own validator can return anything, whatever the type of its field is, and a default is not
    validated.
    """
    if not (isinstance(model, type) and issubclass(model, ToolModel)):
        return False
    config, by_author = model.model_config, model.__pydantic_decorators__
    of_fields = by_author.validators or by_author.field_validators
    if of_fields or by_author.root_validators or by_author.model_validators:
        return False
    is_closed = config.get("frozen") is True and config.get("extra") == "forbid"
    return is_closed and all(map(_holds_scalar, model.model_fields.values()))


def _holds_scalar(field: FieldInfo) -> bool:
    has_scalar = field.is_required() or (
        field.default_factory is None and isinstance(field.default, _SCALARS)
    )
    limits = all(isinstance(each, BaseMetadata) for each in field.metadata)
    return has_scalar and limits and _is_scalar(field.annotation)


def _is_scalar(annotation: object) -> bool:
    if get_origin(annotation) in (Union, UnionType):
        return all(map(_is_scalar, get_args(annotation)))
    return get_origin(annotation) is Literal or annotation in _SCALARS

"""Models of pydantic-ai that wrap other models, and model classes that need the SDKs of providers."""

from __future__ import annotations

from collections.abc import Container, Iterator

from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel


def unwrapped(model: Model) -> Model:
    """Return the model inside all wrappers."""
    while isinstance(model, WrapperModel):
        model = model.wrapped
    return model


def inner_models(model: Model) -> Iterator[Model]:
    """Yield the underlying models of a model, unwrapping wrappers and routers."""
    model = unwrapped(model)
    if isinstance(model, FallbackModel):
        for inner in model.models:
            yield from inner_models(inner)
    else:
        yield model


def class_named(model: Model, names: Container[str]) -> str:
    """Return which of these pydantic-ai class names a model's class has; "" if none.

    The comparison is by name because a class can be imported only if its SDK is installed.
    """
    bases = (base for base in type(model).__mro__ if base.__module__.startswith("pydantic_ai."))
    return next((base.__name__ for base in bases if base.__name__ in names), "")

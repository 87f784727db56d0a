"""Models of pydantic-ai that wrap another model."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel


def rewrapped(wrapper: WrapperModel, inner: Model) -> WrapperModel:
    """Return a wrapper of the inner model; the same one where that is what it wraps, else a copy."""
    if inner is wrapper.wrapped:
        return wrapper
    made = copy.copy(wrapper)
    made.wrapped = inner
    return made


def unwrapped(model: Model) -> Model:
    """Return the model inside all wrappers."""
    while isinstance(model, WrapperModel):
        model = model.wrapped
    return model


def inner_models(model: Model) -> Iterator[Model]:
    """Yield the models that a model stands for: those within wrappers and routers."""
    model = unwrapped(model)
    if isinstance(model, FallbackModel):
        for inner in model.models:
            yield from inner_models(inner)
    else:
        yield model

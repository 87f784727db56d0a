"""Resolves models by name: a provider's model, or a server's URL. Errors for wrong names include a fix."""

from __future__ import annotations

import copy
import difflib
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final, cast, get_args
from urllib.parse import urlsplit

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import KnownModelName, Model, infer_model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.providers import Provider, infer_provider_class

from toolgen.contract.errors import ToolgenError
from toolgen.contract.loopback import is_loopback

from ..planner.model_names import ModelName
from .declared_tools import declaring
from .finish_reasons import MonitoredModel
from .verbatim import verbatim_class

_VARIABLE: Final = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`")
_NO_KEY: Final = "none"
"""API key for servers that need none, because the SDKs always send a key."""
_TEST: Final = "test"
"""Name of pydantic-ai's own model for tests."""


def find_model(model: Model | str) -> Model:
    """Return the pydantic-ai model with this name, prepared for monitoring and unchanged declarations.

    Raises:
        ToolgenError: there is no such model, it lacks a key, or the SDK of its provider is not installed.
    """
    chosen: object = _named(model) if isinstance(model, str) else model
    if not isinstance(chosen, Model):
        name = getattr(chosen, "__name__", repr(chosen))
        hint = 'write "openai:gpt-5", or pass an instance of a pydantic-ai model class'
        raise ToolgenError(f"{name} is not a model", hint=hint)
    return _prepared(chosen)


def _prepared(model: Model) -> Model:
    """Return a model whose streams are monitored from the first event and which sends tools unchanged.

    The author's own model object is not changed.
    """
    if isinstance(model, WrapperModel):
        inner = _prepared(model.wrapped)
        return model if inner is model.wrapped else _with(model, "wrapped", inner)
    if isinstance(model, FallbackModel):
        return _with(model, "models", [MonitoredModel(_prepared(inner)) for inner in model.models])
    kinds = tuple(kind for kind in (verbatim_class(model), declaring(model)) if kind is not None)
    return _with(model, "__class__", _mixed(type(model), kinds)) if kinds else model


def _with(model: Model, name: str, value: object) -> Model:
    own = copy.copy(model)
    setattr(own, name, value)
    return own


@cache
def _mixed(kind: type[Model], others: tuple[type[Model], ...]) -> type[Model]:
    return type(kind.__name__, (*others, kind), {})


def _named(name: str) -> Model:
    if name == _TEST:
        return infer_model(name)
    parts = ModelName.parse(name)
    try:
        if parts.url:
            return infer_model(f"{parts.provider}:{parts.model}", lambda wire: _at_url(wire, parts.url))
        _require_provider(parts)
        return infer_model(name)
    except ImportError as error:
        hint = f"pip install 'pydantic-ai-slim[{parts.provider.partition('-')[0]}]'"
        message = f"the package for models of {parts.provider} is not installed"
        raise ToolgenError(message, hint=hint) from error
    except (UserError, ValueError) as error:
        if variable := _VARIABLE.search(str(error)):
            raise ToolgenError(
                f"{name} has no API key", hint=f"set {variable[1]} in the environment"
            ) from error
        raise ToolgenError(f"{name} cannot be used: {error}", hint="correct the name") from error


def _require_provider(name: ModelName) -> None:
    """Raise if the provider of a model is unknown.

    Raises:
        ToolgenError: the provider is unknown; the hint suggests a similar name.
        ImportError: its package is not installed.
    """
    try:
        infer_provider_class(name.provider)
    except ValueError as error:
        names: Any = getattr(KnownModelName, "__value__", KnownModelName)
        providers = sorted({each.partition(":")[0] for each in get_args(names)} - {_TEST})
        near = difflib.get_close_matches(name.provider, providers, n=1)
        fix = f"did you mean {near[0]}:{name.model}?" if near else f"write one of {', '.join(providers)}"
        raise ToolgenError(f"no model provider is named {name.provider!r}", hint=fix) from error


def _at_url(provider: str, url: str) -> Provider[Any]:
    """Return the provider at a URL; the key in the environment is sent only over TLS or to this machine."""
    parsed = urlsplit(url)
    make = cast("Callable[..., Provider[Any]]", infer_provider_class(provider))
    if parsed.scheme == "https" or is_loopback(parsed.hostname or ""):
        try:
            return make(base_url=url)
        except UserError:  # no key is set, and the server may need none
            pass
    return make(base_url=url, api_key=_NO_KEY)

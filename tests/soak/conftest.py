"""The provider and the models of `tests/conformance/adapters`."""

from tests.conformance.adapters.conftest import (
    anthropic_model,
    any_model,
    gemini_model,
    http,
    model,
    models,
    openai,
    openai_model,
    provider,
    responses_model,
)

__all__ = [
    "anthropic_model",
    "any_model",
    "gemini_model",
    "http",
    "model",
    "models",
    "openai",
    "openai_model",
    "provider",
    "responses_model",
]

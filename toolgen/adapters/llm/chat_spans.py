"""What the span of a request says of a model of pydantic-ai, its settings and its response.

Names and values are those of OpenTelemetry's semantic conventions for generative AI; nothing of what is said
is among them.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.models.instrumented import InstrumentedModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from toolgen.agents.planner.chats import NO_CHATS, Chat, Chats

_PROVIDERS: Final = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-cloud": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Providers' names in the conventions by their names in pydantic-ai, where they differ."""
_PARAMETERS: Final = (
    *("max_tokens", "temperature", "top_p", "top_k", "seed"),
    *("frequency_penalty", "presence_penalty", "stop_sequences"),
)
"""Settings that the conventions have under `gen_ai.request.`."""


def chat_span(
    chats: Chats, model: Model, settings: ModelSettings, *, is_streamed: bool
) -> AbstractContextManager[Chat]:
    """Return the span of a request, to be entered; none where a wrapper of the model makes one itself."""
    if chats is NO_CHATS or _is_instrumented(model):
        return NO_CHATS.of(model.model_name)
    merged: dict[str, Any] = {**(model.settings or {}), **settings}
    parameters = {
        f"gen_ai.request.{name}": merged[name] for name in _PARAMETERS if merged.get(name) is not None
    }
    if is_streamed:
        parameters["gen_ai.request.stream"] = True
    provider = _PROVIDERS.get(model.system, model.system)
    return chats.of(model.model_name, provider=provider, parameters={**parameters, **_server(model.base_url)})


def record_response(chat: Chat, response: ModelResponse) -> None:
    """Record the response to a request, or a piece of it, in its span."""
    used = response.usage
    chat.respond(
        model=response.model_name or "",
        id=response.provider_response_id or "",
        finish_reasons=[response.finish_reason] if response.finish_reason else (),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_tokens or None,
        cache_creation_tokens=used.cache_write_tokens or None,
    )


def _is_instrumented(model: Model) -> bool:
    while isinstance(model, WrapperModel):
        if isinstance(model, InstrumentedModel):
            return True
        model = model.wrapped
    return False


def _server(url: str | None) -> dict[str, str | int]:
    try:
        parsed = urlsplit(url or "")
        host, port = parsed.hostname, parsed.port
    except ValueError:
        return {}
    if not host:
        return {}
    return {"server.address": host, "server.port": port or (80 if parsed.scheme == "http" else 443)}

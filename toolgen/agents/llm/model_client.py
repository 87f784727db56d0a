"""One answer of a model: the request, the stream, and the finish reason."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pydantic_ai.messages import ModelMessage, ModelResponse, PartStartEvent, repair_messages
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.instrumented import InstrumentedModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from toolgen.contract.record import frozen_record

from ..planner.chats import NO_CHATS, Chat, Chats
from ..planner.planner import PlanInput
from .declared_tools import dialect_of
from .failures import interrupted_error, planner_error
from .finish_reasons import FinishReason, StreamMonitor, finish_reason_of, monitor_stream
from .streaming import StreamReporter
from .wrappers import class_named, inner_models, unwrapped

if TYPE_CHECKING:
    from google.genai.types import Citation as GeminiCitation

_PROVIDERS: Final = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-cloud": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Provider names in OpenTelemetry's semantic conventions for generative AI, by pydantic-ai's name.

Only names that differ are listed.
"""
_PARAMETERS: Final = (
    *("max_tokens", "temperature", "top_p", "top_k", "seed"),
    *("frequency_penalty", "presence_penalty", "stop_sequences"),
)
"""Settings that these conventions define under `gen_ai.request.`."""

_MOST_SEGMENTS: Final = 10
"""Maximum number of segments in which a provider can return one answer (Anthropic's `pause_turn`)."""
_MOST_UNSTREAMED: Final = 21_333
"""Maximum number of tokens that Anthropic's SDK returns without a stream: the tokens of ten minutes."""


@frozen_record
class ModelReply:
    """A complete answer of a model, and its finish reason."""

    response: ModelResponse
    finish_reason: FinishReason
    recited: Sequence[GeminiCitation] = ()
    """Sources that Gemini reports as quoted by the answer."""


class ModelClient:
    """Sends requests to one model."""

    def __init__(
        self,
        model: Model,
        settings: ModelSettings | None,
        *,
        stream: bool,
        require_finish_reason: bool,
        strict: bool = True,
    ) -> None:
        self.model = model
        self.dialect = dialect_of(model, strict=strict)
        """Dialect of the tools that are sent to the model."""
        self._settings: ModelSettings = {**_no_retry_setting(model), **(settings or {})}
        self._streams = stream and _can_stream(model)
        self._needs_reason = require_finish_reason
        self._needs_raw_finish_reason = any(
            class_named(inner, ("OpenAIChatModel",)) for inner in inner_models(model)
        )

    async def request(
        self,
        messages: Sequence[ModelMessage],
        parameters: ModelRequestParameters,
        settings: ModelSettings,
        plan_input: PlanInput,
        reporter: StreamReporter | None = None,
    ) -> ModelReply:
        """Request an answer, in as many segments as the provider returns, and return it merged.

        Raises:
            PlannerError: the provider will not answer.
            ProviderError: the provider is temporarily unable to answer, or the answer was interrupted.
        """
        settings = {**self._settings, **settings}
        answer: ModelResponse | None = None
        for _ in range(_MOST_SEGMENTS):
            request_messages = [*messages, answer] if answer else list(messages)
            is_streamed = self._is_streamed(settings, reporter)
            with chat_span(plan_input.chats, self.model, settings, is_streamed=is_streamed) as chat:
                piece, monitor = await self._request_once(
                    request_messages, parameters, settings, reporter, is_streamed
                )
                record_response(chat, piece)
            used = piece.usage
            plan_input.reports.usage(
                piece.model_name or self.model.model_name, used.input_tokens, used.output_tokens
            )
            if not _is_incomplete(piece, monitor):
                finish_reason = finish_reason_of(
                    piece, monitor, needs_reason=self._needs_reason, needs_word=self._needs_raw_finish_reason
                )
                if finish_reason == "broken":
                    raise interrupted_error(self.model.model_name, "the provider never marked its end")
                response = _merge_responses(answer, piece)
                return ModelReply(response=response, finish_reason=finish_reason, recited=monitor.recited)
            answer = _merge_responses(answer, piece)
            await asyncio.sleep(self.model.continuation_delay(answer) or 0)
            if reporter:
                reporter.offset = len(answer.parts)
        raise interrupted_error(self.model.model_name, "the provider did not finish it")

    def _is_streamed(self, settings: ModelSettings, reporter: StreamReporter | None) -> bool:
        return (self._streams and reporter is not None) or _is_streamed_anyway(self.model, settings)

    async def _request_once(
        self,
        messages: list[ModelMessage],
        parameters: ModelRequestParameters,
        settings: ModelSettings,
        reporter: StreamReporter | None,
        is_streamed: bool,
    ) -> tuple[ModelResponse, StreamMonitor]:
        messages = self.model.prepare_messages(_repair_messages(messages), parameters)
        monitor, has_begun = StreamMonitor(), False
        try:
            if not is_streamed:
                answer = await self.model.request(messages, settings, parameters)
            else:
                async with self.model.request_stream(messages, settings, parameters) as stream:
                    monitor = monitor_stream(stream)
                    async for event in stream:
                        has_begun = True
                        if reporter and self._streams:
                            reporter.report_event(event)
                    answer = stream.get()
            if reporter and not self._streams:
                for index, part in enumerate(answer.parts):
                    reporter.report_event(PartStartEvent(index=index, part=part))
            return answer, monitor
        except Exception as error:
            system = self.model.system
            converted = planner_error(error, self.model.model_name, system=system, has_begun=has_begun)
            if converted is error:
                raise
            raise converted from None  # the provider's error may contain data that must not be logged


def _is_incomplete(piece: ModelResponse, monitor: StreamMonitor) -> bool:
    """Return whether the provider has more of this answer, for example from a background job."""
    is_background = bool((piece.provider_details or {}).get("background"))
    return piece.state == "suspended" and (is_background or not monitor.is_open)


def _repair_messages(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Return the messages with a result for each call and a call for each result, as providers require."""
    return repair_messages(messages, repair_last_response=False)


def _merge_responses(before: ModelResponse | None, piece: ModelResponse) -> ModelResponse:
    """Return an answer with its next segment; a poll for the same answer returns the whole answer again."""
    if before is None or (
        before.provider_response_id and before.provider_response_id == piece.provider_response_id
    ):
        return piece
    return replace(piece, parts=[*before.parts, *piece.parts])


def _no_retry_setting(model: Model) -> ModelSettings:
    """Return the setting that limits the SDK to one attempt, because engines retry; empty if it is set."""
    model = unwrapped(model)
    is_set = "max_retries" in (model.settings or {})
    if is_set or isinstance(model, FallbackModel) or "max_retries" in model.unsupported_settings:
        return {}
    return {"max_retries": 0}


def _can_stream(model: Model) -> bool:
    model = unwrapped(model)
    if type(model).request_stream is Model.request_stream:
        return False
    return getattr(model, "stream_function", ...) is not None  # a `FunctionModel` may have no such function


def _is_streamed_anyway(model: Model, settings: ModelSettings) -> bool:
    """Return whether pydantic-ai streams a non-streaming request, which hides how the answer ends."""

    def may_be_long(inner: Model) -> bool:
        most = settings.get("max_tokens", (inner.settings or {}).get("max_tokens"))
        return most is None or most > _MOST_UNSTREAMED

    return any(
        class_named(inner, ("AnthropicModel",)) and may_be_long(inner) for inner in inner_models(model)
    )


def chat_span(
    chats: Chats, model: Model, settings: ModelSettings, *, is_streamed: bool
) -> AbstractContextManager[Chat]:
    """Return the span of a request as a context manager; no span if a wrapper of the model creates one."""
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

"""One answer of a model: the request, what streams in, and the short waits that a provider asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    PartStartEvent,
    repair_messages,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from toolgen.contract.errors import ToolgenError
from toolgen.runtime.agents import PlanReports

from .failures import ProviderError, failure
from .telling import Telling
from .verbatim import carrying

_MOST_WAITS: Final = 2
"""Attempts that one request makes on its own; then the engine's begin."""
_LONGEST_WAIT_S: Final = 20.0
_MOST_SEGMENTS: Final = 10
"""Pieces in which a provider may give one answer (Anthropic's `pause_turn`)."""


def found(model: Model | str) -> Model:
    """Return a model by its name.

    Raises:
        ToolgenError: there is none, it lacks a key, or the SDK of its provider is not installed.
    """
    try:
        return carrying(infer_model(model))
    except ImportError as error:
        hint = f"pip install 'pydantic-ai-slim[{str(model).partition(':')[0]}]'"
        raise ToolgenError(f"the provider of {model} has an SDK, and it is missing", hint=hint) from error
    except (UserError, ValueError) as error:
        raise ToolgenError(f"{model} is no model to ask: {error}") from error


class Asking:
    """Asks one model."""

    def __init__(self, model: Model, settings: ModelSettings | None, *, stream: bool) -> None:
        self.model = model
        self._settings: ModelSettings = {**_attempts(model), **(settings or {})}
        self._streams = stream and _can_stream(model)

    async def answer(
        self,
        messages: Sequence[ModelMessage],
        parameters: ModelRequestParameters,
        settings: ModelSettings,
        reports: PlanReports,
        telling: Telling | None = None,
    ) -> ModelResponse:
        """Return the whole answer, in however many pieces the provider gives it.

        Raises:
            PlannerError: the provider will not answer.
            ProviderError: it does not answer now.
        """
        settings = {**self._settings, **settings}
        answer: ModelResponse | None = None
        for _ in range(_MOST_SEGMENTS):
            asked = [*messages, answer] if answer else list(messages)
            piece = await self._patient(asked, parameters, settings, telling)
            used = piece.usage
            reports.usage(piece.model_name or self.model.model_name, used.input_tokens, used.output_tokens)
            answer = _joined(answer, piece)
            if answer.state != "suspended":
                return answer
            await asyncio.sleep(self.model.continuation_delay(answer) or 0)
            if telling:
                telling.offset = len(answer.parts)
        raise ProviderError(f"{self.model.model_name}: the provider did not finish its answer")

    async def _patient(
        self,
        messages: list[ModelMessage],
        parameters: ModelRequestParameters,
        settings: ModelSettings,
        telling: Telling | None,
    ) -> ModelResponse:
        """Return an answer, after the short waits that the provider asks for."""
        for attempt in range(_MOST_WAITS + 1):
            try:
                return await self._once(messages, parameters, settings, telling)
            except Exception as error:
                meant = failure(error, self.model.model_name)
                wait = meant.retry_after if isinstance(meant, ProviderError) else None
                has_told = telling is not None and telling.has_told
                if wait is None or wait > _LONGEST_WAIT_S or attempt == _MOST_WAITS or has_told:
                    if meant is error:
                        raise
                    raise meant from None  # the provider's own error may hold what no log should show
                await asyncio.sleep(wait)
        raise AssertionError("the last attempt raises or returns")

    async def _once(
        self,
        messages: list[ModelMessage],
        parameters: ModelRequestParameters,
        settings: ModelSettings,
        telling: Telling | None,
    ) -> ModelResponse:
        messages = self.model.prepare_messages(_repaired(messages), parameters)
        if self._streams and telling:
            async with self.model.request_stream(messages, settings, parameters) as stream:
                async for event in stream:
                    telling.take(event)
                answer = stream.get()
            if answer.state == "incomplete":
                raise ProviderError(f"{self.model.model_name}: the answer broke off")
            return answer
        answer = await self.model.request(messages, settings, parameters)
        if telling:
            for index, part in enumerate(answer.parts):
                telling.take(PartStartEvent(index=index, part=part))
        return answer


def _repaired(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Return the messages as every provider takes them: each call answered, each result called for."""
    return repair_messages(messages, repair_last_response=False)


def _joined(before: ModelResponse | None, piece: ModelResponse) -> ModelResponse:
    """Return an answer with its next piece; a poll for the same answer brings all of it again."""
    if before is None or (
        before.provider_response_id and before.provider_response_id == piece.provider_response_id
    ):
        return piece
    return replace(piece, parts=[*before.parts, *piece.parts])


def _attempts(model: Model) -> ModelSettings:
    """Return the setting for one attempt by the SDK, for an engine counts them; none where it is set."""
    while isinstance(model, WrapperModel):
        model = model.wrapped
    is_set = "max_retries" in (model.settings or {})
    if is_set or isinstance(model, FallbackModel) or "max_retries" in model.unsupported_settings:
        return {}
    return {"max_retries": 0}


def _can_stream(model: Model) -> bool:
    while isinstance(model, WrapperModel):
        model = model.wrapped
    if type(model).request_stream is Model.request_stream:
        return False
    return getattr(model, "stream_function", ...) is not None  # a `FunctionModel` may have no such function

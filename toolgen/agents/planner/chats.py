"""OpenTelemetry `chat` spans for the model requests of planners.

Names and attributes follow OpenTelemetry's semantic conventions for generative AI ("Inference span"). They
contain no message content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from toolgen.calls.steps.failures import log
from toolgen.events.telemetry.spans import Attributes, ToolSpans, ending

if TYPE_CHECKING:
    from opentelemetry.trace import Span


class Chat:
    """The span of one request to a model; `respond` records the response."""

    __slots__ = ("_span",)

    def __init__(self, span: Span | None) -> None:
        self._span = span

    def respond(
        self,
        *,
        model: str = "",
        id: str = "",
        finish_reasons: Sequence[str] = (),
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cache_read_tokens: int | None = None,
        cache_creation_tokens: int | None = None,
    ) -> None:
        """Record the provider's facts about its response; never raises.

        Input tokens are all input tokens, including cached tokens that were read or written.
        """
        if self._span is None:
            return
        attributes = {
            "gen_ai.response.model": model,
            "gen_ai.response.id": id,
            "gen_ai.response.finish_reasons": list(finish_reasons),
            "gen_ai.usage.input_tokens": input_tokens,
            "gen_ai.usage.output_tokens": output_tokens,
            "gen_ai.usage.cache_read.input_tokens": cache_read_tokens,
            "gen_ai.usage.cache_creation.input_tokens": cache_creation_tokens,
        }
        try:
            for name, value in attributes.items():
                if value is not None and value != "" and value != []:
                    self._span.set_attribute(name, value)
        except Exception:  # noqa: BLE001 - the host's tracer; a span never fails a call
            log.exception("the attributes of a span were not set")


_NO_CHAT: Final = Chat(None)


class Chats:
    """Creates the spans of the model requests of one planning, or none."""

    def __init__(self, spans: ToolSpans | None = None, agent: str = "", session_id: str = "") -> None:
        """Construct with the spans of the runtime, in which `chat` spans may be disabled."""
        self._spans = spans if spans is not None and spans.makes_chats else None
        self._agent = agent
        self._session_id = session_id

    @contextmanager
    def of(self, model: str, *, provider: str = "", parameters: Attributes | None = None) -> Iterator[Chat]:
        """Make a span of a request to a model current while the request is sent and its response is read.

        An exception that leaves the block is recorded by type.

        Args:
            model: Requested model name.
            provider: Its name in the conventions, for example `openai` or `aws.bedrock`.
            parameters: Further attributes of the conventions, for example `gen_ai.request.temperature`.
        """
        if self._spans is None:
            yield _NO_CHAT
            return
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "gen_ai.agent.id": self._agent,
            "gen_ai.agent.name": self._agent.rpartition(".")[2],
            "gen_ai.conversation.id": self._session_id,
        }
        span = self._spans.started(f"chat {model}", {**attributes, **(parameters or {})}, is_client=True)
        with ending(span):
            yield Chat(span)


NO_CHATS: Final = Chats()

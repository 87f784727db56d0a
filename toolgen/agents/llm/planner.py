"""The planner `LLMPlanner`; pydantic-ai is imported when a planner is constructed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolgen.calls.specs import NativeTool
from toolgen.contract.extras import extra
from toolgen.contract.policy import History
from toolgen.runtime import ToolSpec

from ..planner.messages import Message
from ..planner.planner import PlanInput, PlanResult

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings


class LLMPlanner:
    """Plans by asking a model.

    `model` is a model of pydantic-ai, or a name such as `openai:gpt-5`. It is told the instructions of the
    agent, and its description where it has none. `settings` are those of pydantic-ai, such as
    `{"temperature": 0, "cache": True}`; the provider's SDK makes no attempts of its own unless `max_retries`
    stands in them. `stream=False` asks for whole answers.

    An answer counts only where its provider says why it ended. `require_finish_reason=False` is for servers
    that never say it, and takes an answer that breaks off for a whole one.

    OpenAI and Anthropic are asked to hold the model to the schemas of the tools, as far as they can be said
    in what these providers have (`toolgen.catalog.providers`). `strict=False` leaves them as they are.
    """

    def __init__(
        self,
        model: Model | str,
        *,
        settings: ModelSettings | None = None,
        stream: bool = True,
        require_finish_reason: bool = True,
        strict: bool = True,
    ) -> None:
        """Construct a planner and resolve its model.

        Raises:
            ToolgenError: pydantic-ai or the SDK of the provider is missing, or the name names no model.
        """
        with extra("llm"):
            from .model_client import ModelClient
            from .models import find_model
        self._asking = ModelClient(
            find_model(model),
            settings,
            stream=stream,
            require_finish_reason=require_finish_reason,
            strict=strict,
        )

    async def plan_start(self, plan_input: PlanInput) -> PlanResult:
        """Return what the model wants to do first.

        Raises:
            PlannerError: the provider will not answer this, however often it is asked.
            ProviderError: it does not answer now.
        """
        return await self._plan(plan_input)

    async def plan_resume(self, plan_input: PlanInput) -> PlanResult:
        """Return what the model wants to do after the newest results; raises as `plan_start`."""
        return await self._plan(plan_input)

    async def summarize(self, messages: tuple[Message, ...], plan_input: PlanInput, history: History) -> str:
        """Return a short summary of the messages, by one request to the model; raises as `plan_start`."""
        from .planning import summarize

        return await summarize(self._asking, messages, plan_input)

    def check_native(self, native: Sequence[NativeTool], tools: Sequence[ToolSpec]) -> None:
        """Raise for native tools of the model's provider that it cannot have beside these other tools.

        Raises:
            RegistrationError: as said.
        """
        from .native_tools import check

        check(native, tools, self._asking.model)

    async def _plan(self, plan_input: PlanInput) -> PlanResult:
        from .planning import request_plan

        return await request_plan(self._asking, plan_input)

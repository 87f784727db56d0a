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
    """Plans with a language model.

    `model` is a model of pydantic-ai, or a name, for example `openai:gpt-5`. The model receives the agent's
    instructions, or the agent's description if it has no instructions. `settings` are pydantic-ai settings,
    for example `{"temperature": 0, "cache": True}`; the provider's SDK does not retry unless they contain
    `max_retries`. `stream=False` requests whole answers.

    An answer is accepted only if its provider reports why it ended. `require_finish_reason=False` is for
    servers that never report it; it accepts an interrupted answer as complete.

    OpenAI and Anthropic are asked to enforce the tools' schemas on the model, as far as these providers can
    express them (`toolgen.catalog.providers`). `strict=False` sends the schemas unchanged.
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
            ToolgenError: pydantic-ai or the provider's SDK is missing, or there is no model with this name.
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
        """Return the model's first plan.

        Raises:
            PlannerError: the provider will not answer this request, no matter how often it is retried.
            ProviderError: the provider is temporarily unable to answer.
        """
        return await self._plan(plan_input)

    async def plan_resume(self, plan_input: PlanInput) -> PlanResult:
        """Return the model's plan after the newest results; raises as `plan_start`."""
        return await self._plan(plan_input)

    async def summarize(self, messages: tuple[Message, ...], plan_input: PlanInput, history: History) -> str:
        """Return a short summary of the messages with one request to the model; raises as `plan_start`."""
        from .planning import summarize

        return await summarize(self._asking, messages, plan_input)

    def check_native(self, native: Sequence[NativeTool], tools: Sequence[ToolSpec]) -> None:
        """Raise if the model cannot combine its provider's native tools with these other tools.

        Raises:
            RegistrationError: the model does not support the combination.
        """
        from .native_tools import check

        check(native, tools, self._asking.model)

    async def _plan(self, plan_input: PlanInput) -> PlanResult:
        from .planning import request_plan

        return await request_plan(self._asking, plan_input)

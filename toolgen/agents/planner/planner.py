"""The protocol of planners: they decide, turn by turn, which tools are called and what is answered.

A planner is called once at the start of a run and once after each batch of results. It receives the
conversation and the tools, and returns one of five plans. It may be slow, wrong and nondeterministic; the
loop is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol, TypeAlias

from pydantic_core import to_json

from toolgen.calls.results import RetryHint
from toolgen.calls.specs import NativeTool, ToolSpec
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record, record

from ..loop.documents import AwaitKind
from .chats import NO_CHATS, Chats
from .messages import AssistantMessage, Message, PlannedCall
from .provider_facts import ProviderFacts


@record
class CallTools:
    """Plan to call these tools in parallel."""

    calls: tuple[PlannedCall, ...]
    text: str = ""
    """Text next to the calls."""
    native: Any = None
    """Answer as the provider sent it; see `AssistantMessage.native`."""
    provider: ProviderFacts | None = None
    """Facts of the provider about the answer, as in the other plans."""


@record
class FinalResponse:
    """Plan to end the run with this text."""

    text: str
    native: Any = None
    is_truncated: bool = False
    """Whether the planner reached a limit before the text was complete."""
    provider: ProviderFacts | None = None


@record
class FinalResult:
    """Plan to end the run with this typed result, JSON that fits `PlanInput.result_schema`."""

    result: Json
    text: str = ""
    native: Any = None
    provider: ProviderFacts | None = None


@record
class Await:
    """Plan to ask a person; the run continues with the answer."""

    kind: AwaitKind
    """`external`: a result that comes from outside."""
    question: str
    schema: Mapping[str, Json] | None = None
    """JSON Schema of the answer, within the subset of `ToolOutcome.ask`; None for a text."""
    missing_fields: tuple[str, ...] = ()
    restrict_to_tool: str = ""
    """Wire name of the only tool that can be called next."""
    text: str = ""
    native: Any = None


@record
class HandOver:
    """Plan to hand the conversation over to another agent."""

    agent: str
    """ID of the agent, one of `PlanInput.transfers`."""
    message: str = ""
    """Message to the agent; if empty, the person's own message."""
    native: Any = None


PlanResult: TypeAlias = CallTools | FinalResponse | FinalResult | Await | HandOver


class PlanReports(Protocol):
    """Receives the reports of a planner while it plans. All but `usage` are best effort."""

    def text(self, delta: str) -> None:
        """Report a piece of the reply."""
        ...

    def thought(self, text: str) -> None:
        """Report a piece of the planner's reasoning."""
        ...

    def arguments(self, call_id: str, name: str, delta: str) -> None:
        """Report a piece of the arguments of a call."""
        ...

    def usage(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """Report the token usage of one request to a model."""
        ...

    def restarted(self, reason: str) -> None:
        """Report that the planner starts again: its text, thoughts and arguments so far are discarded."""
        ...


@frozen_record
class PlanInput:
    """The input of one planning."""

    agent: str
    """ID of the agent."""
    description: str
    run_id: str
    session_id: str
    turn_id: str
    labels: Mapping[str, str]
    step: int
    """Number of the planning in the run; the first is 0."""
    messages: tuple[Message, ...]
    """The conversation as shown by the history policy, oldest first; new messages are at the end."""
    tools: tuple[ToolSpec, ...]
    """The tools that can be called now, with their wire names, in a stable order."""
    native: tuple[NativeTool, ...] = ()
    agent_instructions: str = ""
    """Instructions of the agent, with the values of the state; "" if its design has none."""
    instructions: str = ""
    """Instructions of the toolsets and tools; the same tools give the same text."""
    retry_hints: tuple[RetryHint, ...] = ()
    """Hints of the newest results: how to repair failed calls."""
    restrict_to_tool: str = ""
    """Wire name of the only tool that should be called next."""
    transfers: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of the agents that can take over, by ID."""
    result_schema: Mapping[str, Json] | None = None
    """JSON Schema of the final result; None if the run ends with text."""
    closing: str = ""
    """Reason why this is the last planning, in which only a final answer is accepted; "" otherwise."""
    reports: PlanReports
    chats: Chats = NO_CHATS
    """Creates the spans of model requests, for planners that use a model."""


class Planner(Protocol):
    """Decides what a run does next.

    A history policy with summaries needs a planner that also has `summarize`. A planner with `check_native`
    can refuse native tools when its agent is registered. `LLMPlanner` has both.
    """

    async def plan_start(self, plan_input: PlanInput, /) -> PlanResult:
        """Return the first plan of a run.

        Raises:
            PlannerUnavailableError: it is temporarily unavailable; it is retried for minutes
                (`PlannerRetry`).
            PlannerError: it will not plan this; it is not retried.
            Exception: any other failure; there are three attempts in all. The run's failure has the class of
                the exception, and its message only if the class has `is_told = True`.
        """
        ...

    async def plan_resume(self, plan_input: PlanInput, /) -> PlanResult:
        """Return the plan after the newest results; raises as `plan_start`."""
        ...


def assistant_message_of(result: PlanResult) -> AssistantMessage:
    """Return a plan as the assistant message that the conversation stores."""
    match result:
        case CallTools():
            return AssistantMessage(
                text=result.text, calls=result.calls, native=result.native, provider=result.provider
            )
        case Await():
            return AssistantMessage(text=result.text or result.question, native=result.native)
        case HandOver():
            return AssistantMessage(text=result.message, native=result.native)
        case FinalResponse():
            return AssistantMessage(text=result.text, native=result.native, provider=result.provider)
        case FinalResult():
            text = result.text or to_json(result.result).decode()
            return AssistantMessage(text=text, native=result.native, provider=result.provider)

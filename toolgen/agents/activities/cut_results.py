"""The tool `read_result`, with which a model reads the rest of a result that was not shown in full.

Plannings that show a truncated result offer the tool; no snapshot contains it. It reads from the run's
conversation, or from the artifact of a result that exceeded the byte limit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Final

from pydantic import Field
from pydantic_core import from_json

from toolgen.calls.context import ToolContext
from toolgen.calls.errors import ToolError
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.toolsets.directory import Directory
from toolgen.contract.record import frozen_record
from toolgen.contract.tokens import BYTES_OF_TOKEN
from toolgen.shapes.python.sensitive import Sensitive

from ..host import AgentHost
from ..loop.documents import PlanArgument, RunFacts, StepCall
from ..loop.limits import is_allowed
from ..planner.message_sizes import is_marker, with_place, within_tokens
from ..planner.messages import Message, ToolAnswer, ToolMessage
from ..planner.planner import PlanInput
from .conversation import policy_of_history

_NAME: Final = "read_result"
_TOOLSET: Final = "toolgen.results"
_ID: Final = f"{_TOOLSET}.{_NAME}"
_DESCRIPTION: Final = (
    "Read more of a result that is not shown in full. Its `read_on` has the `call` and "
    "the `start` to begin with."
)
_MOST: Final = 16_000
"""Maximum number of characters in one range."""
_ESCAPED: Final = 8
"""Maximum number of bytes per character in a result, including its share of the text around it."""
_SHARE: Final = 4
"""Minimum number of ranges for which a history policy has room."""


@frozen_record(kw_only=False)
class ReadRange:
    """A part of the JSON text of a result, in characters."""

    text: Annotated[str, Sensitive()]
    """Excluded from events, because it is unknown which field of the result the range belongs to."""
    start: int
    end: int
    """Position after the last character that was read."""
    of: int
    """Number of characters in the whole result."""


@frozen_record(kw_only=False)
class _Overflow:
    """Artifact with the whole result, and the beginning that is shown."""

    uri: str
    beginning: str


class CutResults:
    """Truncates results for plannings, and reads their remaining text."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host
        self._artifacts = host.tools.artifacts

    def cut(
        self,
        plan_input: PlanInput,
        messages: tuple[Message, ...],
        directory: Directory,
        argument: PlanArgument,
    ) -> tuple[PlanInput, RegisteredTool | None]:
        """Return the planner's input with the messages to send, and the tool that reads further.

        The tool is None if no readable result is truncated, if the run must not call it, or if the agent has
        its own tool with this name.
        """
        history = policy_of_history(argument["facts"])
        most = None if history is None else history.keep_tokens
        if most is None and self._artifacts is None:
            return replace(plan_input, messages=messages), None
        reads = self._readable(messages, directory, argument)
        marked = tuple(self._marked(message, directory, reads) for message in messages) if reads else messages
        sent = marked if most is None else within_tokens(marked, most, reads)
        if not _has_cut(messages, sent, reads):
            return replace(plan_input, messages=sent), None
        return replace(plan_input, messages=sent, tools=(*plan_input.tools, self.tool.spec)), self.tool

    def is_called(self, call: StepCall) -> bool:
        """Return whether a call is a call of `read_result` that was offered when it was planned."""
        return call["tool"] == _ID and call["name"] == _NAME

    @cached_property
    def tool(self) -> RegisteredTool:
        """The tool, created when it is first offered."""
        bound = func_tool(
            self._read,
            name=_NAME,
            toolset=_TOOLSET,
            description=_DESCRIPTION,
            annotations={"read_only": True},
        )
        return RegisteredTool(
            bound.spec, bound.execute, raw=False, toolset=_TOOLSET, options=self._host.options
        )

    def _readable(
        self, messages: Sequence[Message], directory: Directory, argument: PlanArgument
    ) -> frozenset[str]:
        """Return the calls whose results a run can read further; empty if it must not call the tool."""
        is_free = not argument["closing"] and not argument["restrict_to_tool"]
        if not is_free or not is_allowed((), argument["facts"]) or _NAME in directory.by_name:
            return frozenset()
        return frozenset(
            answer.id
            for message in messages
            if isinstance(message, ToolMessage)
            for answer in message.answers
            if _is_open(answer, directory)
        )

    def _marked(self, message: Message, directory: Directory, reads: Collection[str]) -> Message:
        """Return the results of a batch; results cut by the byte limit name the position to read from."""
        if not isinstance(message, ToolMessage) or not any(map(is_marker, message.answers)):
            return message
        answers = [
            with_place(answer, len(overflow.beginning))
            if answer.id in reads and (overflow := self._overflow(answer, directory)) is not None
            else answer
            for answer in message.answers
        ]
        return replace(message, answers=tuple(answers))

    def _overflow(self, answer: ToolAnswer, directory: Directory) -> _Overflow | None:
        """Return the artifact of a result that was truncated by the byte limit; None for any other result.

        A hook after the tool saw only the truncated result, and could have changed the rest. So a result of a
        tool with such hooks has no overflow.
        """
        tool = directory.by_name.get(answer.name)
        if self._artifacts is None or tool is None or tool.after or not is_marker(answer):
            return None
        match from_json(answer.text):
            case {"uri": str(uri), "beginning": str(beginning)}:
                return _Overflow(uri, beginning)
            case _:
                return None

    async def _read(
        self,
        ctx: ToolContext,
        call: Annotated[str, Field(description="The `call` of its `read_on`.")],
        start: Annotated[int, Field(ge=0, description="The first character to read, from 0.")] = 0,
        length: Annotated[int, Field(ge=1, description="Maximum number of characters to return.")] = 4_000,
    ) -> ReadRange:
        meta = ctx.meta
        facts = self._host.events.facts.get(meta.run_id)
        text = None if facts is None else await self._text(meta.run_id, facts, call)
        if text is None or facts is None:
            raise ToolError(f"no result of {call!r} can be read further; call its tool again")
        if start >= len(text):
            raise ToolError(f"the result has {len(text)} characters")
        end = min(start + min(length, self._most(facts)), len(text))
        return ReadRange(text[start:end], start, end, len(text))

    def _most(self, facts: RunFacts) -> int:
        """Return the maximum length of a range that is not truncated again, in characters."""
        most, history = min(_MOST, self._host.tools.limits.result_bytes // _ESCAPED), policy_of_history(facts)
        if history is not None and history.keep_tokens is not None:
            most = min(most, history.keep_tokens * BYTES_OF_TOKEN // _SHARE)
        return max(most, 1)

    async def _text(self, run_id: str, facts: RunFacts, call: str) -> str | None:
        """Return the whole JSON text of a result that the run can read; None if it is not available."""
        answer = await self._answer(run_id, facts, call)
        directory = (await self._host.advertised(run_id, facts)).directory
        if answer is None or not _is_open(answer, directory):
            return None
        overflow = self._overflow(answer, directory)
        if overflow is None or self._artifacts is None:
            return answer.text
        from toolgen.capabilities.artifacts import overflow_name

        artifact = await self._artifacts.read(overflow.uri, facts["session_id"])
        if artifact is None or artifact.info.name != overflow_name(answer.name, answer.id):
            return None  # a tool can forge such a marker for an artifact of another call
        return artifact.data.decode()

    async def _answer(self, run_id: str, facts: RunFacts, call: str) -> ToolAnswer | None:
        """Return the result of a call of this run or of the conversation before it."""
        transcripts = self._host.transcripts
        for before in (run_id, *facts.get("history_run_ids", ())):
            if (answer := _of_call(await transcripts.of_run(before), call)) is not None:
                return answer
        return _of_call(await transcripts.of_conversation(facts), call)


def _is_open(answer: ToolAnswer, directory: Directory) -> bool:
    """Return whether a result has no sensitive values; False if the tool is not in the directory."""
    tool = directory.by_name.get(answer.name)
    return tool is not None and not tool.spec.is_sensitive


def _of_call(messages: Sequence[Message], call: str) -> ToolAnswer | None:
    answers = (
        answer for message in messages if isinstance(message, ToolMessage) for answer in message.answers
    )
    return next((answer for answer in answers if answer.id == call), None)


def _has_cut(messages: Sequence[Message], sent: Sequence[Message], reads: Collection[str]) -> bool:
    """Return whether a sent result is truncated and can be read further."""
    return any(
        answer is not shown and answer.id in reads
        for message, cut in zip(messages, sent, strict=True)
        if isinstance(message, ToolMessage) and isinstance(cut, ToolMessage) and message is not cut
        for answer, shown in zip(message.answers, cut.answers, strict=True)
    )

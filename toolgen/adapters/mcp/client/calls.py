"""One call of a server's tool: its connection, its retry, its questions, its result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final

import mcp_types as types
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError

from toolgen.contract.boundary import TimeLimitError
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.runtime import CallMeta, OutcomeUnknownError, ToolContext, ToolError, ToolOutcome, Unfinished

from .connection import ServerConnection
from .errors import (
    ConnectionLostError,
    MalformedAnswerError,
    MCPServerError,
    RefusedError,
    ServerFailedError,
    shortened,
    shown_name,
)
from .failures import unavailable, unreadable
from .questions import ResumedRequest, first_question, next_question, resumed_by
from .results import outcome_of
from .tools import ServerTool

_MOST_STATES: Final = 10
"""Maximum number of times that a server may request its state back without a question."""
_FIRST_PAUSE_S: Final = 0.05
"""Seconds before the state is returned to the server for the first time; each further pause is doubled."""

Lease = Callable[[CallMeta], AbstractAsyncContextManager[ServerConnection]]
Answer = types.CallToolResult | types.InputRequiredResult

log = logger("toolgen.mcp")


class ToolCaller:
    """Makes the calls of one server's tools."""

    def __init__(self, server: str, lease: Lease, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._server = server
        self._lease = lease
        self._sleep = sleep

    async def call(
        self, tool: ServerTool, arguments: Mapping[str, Any], ctx: ToolContext
    ) -> ToolOutcome | Unfinished:
        """Return the result of a call, or the question of its server.

        Raises:
            ToolError: The call failed, or was not made.
            OutcomeUnknownError: The connection ended, and the call might have run.
            TimeLimitError: The server has reported nothing for too long.
        """
        ctx.has_begun = False  # not sent yet
        resumed = resumed_by(ctx)
        if (further := next_question(resumed, tool.spec)) is not None:
            return further
        silence = _Silence(tool.silence_s)
        try:
            async with silence.timer:
                answer = await self._answered(tool, dict(arguments), ctx, resumed, silence)
        except TimeoutError:
            if not silence.timer.expired():
                raise
            raise TimeLimitError(has_begun=ctx.has_begun, limit=silence.limit) from None
        except ConnectionLostError as error:
            log.warning("a call of %s was not answered: %s", tool.spec.id, error)
            if not error.was_sent:
                raise unavailable(tool.spec, self._gone()) from None
            message = f"the connection to the MCP server {self._server!r} ended before the answer"
            if isinstance(error, ServerFailedError):
                message = error.message
                if tool.spec.may_repeat:
                    raise unavailable(tool.spec, message) from None
            raise OutcomeUnknownError(f"{message}; {tool.spec.name} may have run") from None
        except MalformedAnswerError as error:
            raise unreadable(tool.spec, self._server, error.message) from None
        except RefusedError as error:
            log.warning("a call of %s was not made: %s", tool.spec.id, error)
            raise unavailable(tool.spec, error.message) from None
        except MCPServerError as error:
            log.warning("a call of %s was not made: %s", tool.spec.id, error)
            raise unavailable(tool.spec, self._gone()) from None
        except MCPError as error:
            raise ToolError(f"{tool.spec.name}: {shown_name(error.message, 2_000)}") from None
        if isinstance(answer, types.InputRequiredResult):
            question = first_question(answer, tool.spec)
            assert question is not None, "a state alone was given back"
            return question
        return outcome_of(answer, tool.spec, self._server, has_schema=tool.has_output_schema)

    def _gone(self) -> str:
        return f"the MCP server {self._server!r} cannot be reached now"

    async def _answered(
        self,
        tool: ServerTool,
        arguments: dict[str, Json],
        ctx: ToolContext,
        resumed: ResumedRequest,
        silence: _Silence,
    ) -> Answer:
        """Return the answer; repeat the call once if the server did not receive it, or if it may be repeated.

        Raises:
            ConnectionLostError: The connection ended twice, or the call was sent and must not be repeated.
        """
        try:
            return await self._once(tool, arguments, ctx, resumed, silence)
        except ConnectionLostError as error:
            if error.was_sent and not tool.spec.may_repeat:
                raise
            log.info("retrying a call of %s: %s", tool.spec.id, error)
            ctx.has_begun = False
            return await self._once(tool, arguments, ctx, resumed, silence)

    async def _once(
        self,
        tool: ServerTool,
        arguments: dict[str, Any],
        ctx: ToolContext,
        resumed: ResumedRequest,
        silence: _Silence,
    ) -> Answer:
        async with self._lease(ctx.meta) as connection:
            await self._require_unchanged(connection, tool)
            await ctx.begin()
            responses, state = resumed.responses, resumed.state
            progress = _progress_of(ctx, silence)
            pause = _FIRST_PAUSE_S
            for _ in range(_MOST_STATES):
                sent = None if responses is None else dict(responses)
                answer = await connection.call(tool.name, arguments, progress, sent, state, ctx.meta)
                if not isinstance(answer, types.InputRequiredResult) or answer.input_requests:
                    return answer
                responses, state = None, answer.request_state
                await self._sleep(pause)
                pause *= 2
        raise unreadable(
            tool.spec, self._server, f"it returned a state without a question {_MOST_STATES} times"
        )

    async def _require_unchanged(self, connection: ServerConnection, tool: ServerTool) -> None:
        """Raise if a tool has changed since it was listed, or is gone.

        Raises:
            ToolError: The tool has changed, or the server no longer lists it.
        """
        listing = await connection.current()
        digest = listing.digest_of(tool.name)
        name = shortened(tool.name)
        if digest is None:
            raise unavailable(tool.spec, f"the MCP server {self._server!r} no longer has the tool {name!r}")
        if digest != tool.digest or (tool.pin and listing.pin_of(tool.name) != tool.pin):
            raise unavailable(
                tool.spec,
                f"the MCP server {self._server!r} has changed the tool {name!r} since it was listed",
            )


class _Silence:
    """Timeout for a call whose server reports no progress."""

    def __init__(self, seconds: float | None) -> None:
        """Start the timer of a call; None means no limit."""
        self.seconds = seconds
        self.timer = asyncio.timeout(seconds)
        self._is_broken = False

    @property
    def limit(self) -> str:
        """Exceeded limit, as text for an error."""
        if self._is_broken:
            return f"for {self.seconds:g} seconds after its last progress"
        return f"within {self.seconds:g} seconds"

    def restart(self) -> None:
        """Restart the timer."""
        if self.seconds is not None:
            with suppress(RuntimeError):  # the call has ended
                self.timer.reschedule(asyncio.get_running_loop().time() + self.seconds)
                self._is_broken = True


def _progress_of(ctx: ToolContext, silence: _Silence) -> ProgressFnT | None:
    """Return the progress callback of a call; None if progress is not needed."""
    if ctx.report is None and silence.seconds is None:
        return None

    async def report(progress: float, total: float | None, message: str | None) -> None:
        silence.restart()
        if ctx.report is not None:
            fraction = min(1.0, max(0.0, progress / total)) if total else None
            ctx.progress(fraction, shown_name(message or ""))

    return report

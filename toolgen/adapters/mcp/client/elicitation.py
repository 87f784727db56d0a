"""Questions of a server during a call (MCP through 2025-11-25), answered by a callback of the host."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from toolgen.calls.answer_schema import answer_issues
from toolgen.contract.boundary import Contained
from toolgen.contract.extras import extra
from toolgen.contract.json_value import Json
from toolgen.contract.logs import log_failure, logger
from toolgen.contract.record import frozen_record
from toolgen.runtime import CallMeta

with extra("mcp"):  # the package's first import of the SDK, which its other modules need
    import mcp_types as types
    from mcp.client.session import ClientRequestContext

from .forms import FormQuestion, UnaskableError, page_of, question_of, with_defaults
from .peer_log import PeerLog

log = logger("toolgen.mcp")

_DECLINED: Final = types.ElicitResult(action="decline")
_CANCELLED: Final = types.ElicitResult(action="cancel")


@frozen_record
class Elicitation:
    """Question of a server during one of its calls."""

    server: str
    """Name of the toolset."""
    message: str
    """Question, with hidden characters shown as escapes."""
    schema: Mapping[str, Any]
    """JSON Schema of the answer, a flat object; empty for a page to open."""
    url: str
    """URL of the page, with `https` or `http`; "" for a form."""
    meta: CallMeta | None
    """Facts of the call; None if several calls are open, because the protocol does not identify the call."""


OnElicitation: TypeAlias = Callable[[Elicitation], Awaitable[Mapping[str, Json] | None]]
"""Returns a person's answer: the fields of a form, `{}` for an opened page, None to decline."""


class Elicitations:
    """Answers the questions that arrive on one connection while calls are open."""

    def __init__(
        self,
        server: str,
        callback: OnElicitation | None,
        refusal_of: Callable[[Mapping[str, Any] | None], str],
    ) -> None:
        """Store the name of the toolset and the host's callback.

        Without a callback every question is declined.
        `refusal_of` returns for a question's `_meta` why it was not decoded, and "" if it was.
        """
        self._server = server
        self._callback = callback
        self._refusal_of = refusal_of
        self._log = PeerLog()
        self._open: list[CallMeta] = []
        self._asked: set[asyncio.Task[object]] = set()

    @contextmanager
    def of_call(self, meta: CallMeta) -> Iterator[None]:
        """Accept questions for the duration of the context.

        The end of the last call cancels its questions.
        """
        self._open.append(meta)
        try:
            yield
        finally:
            self._open.remove(meta)
            if not self._open:
                for task in self._asked:
                    task.cancel()

    async def answered(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Return the answer to a question, from the callback or declined."""
        if self._callback is None or not self._open:
            return _DECLINED
        try:
            question = self._question(params)
        except UnaskableError as error:
            what = "a question of the MCP server %r is declined: it %s"
            self._log.log(logging.WARNING, what, self._server, error.message)
            return _DECLINED
        task = asyncio.ensure_future(self._result(self._callback, question))
        self._asked.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            if (own := asyncio.current_task()) is not None and own.cancelling():
                raise
            return _CANCELLED
        finally:
            self._asked.discard(task)

    def _question(self, params: types.ElicitRequestParams) -> FormQuestion:
        """Return the question for a person.

        Raises:
            UnaskableError: The question cannot be shown to a person.
        """
        if reason := self._refusal_of(params.meta):
            raise UnaskableError(reason)
        if isinstance(params, types.ElicitRequestURLParams):
            return page_of(params.message, params.url)
        return question_of(params.message, params.requested_schema)

    async def _result(self, callback: OnElicitation, question: FormQuestion) -> types.ElicitResult:
        """Return the host's answer; cancelled if the callback fails or its answer does not fit."""
        elicitation = Elicitation(
            server=self._server,
            message=question.message,
            schema=question.schema,
            url=question.url,
            meta=self._open[0] if len(self._open) == 1 else None,
        )
        try:
            with Contained():
                answer = await callback(elicitation)
        except Exception as error:  # noqa: BLE001 - author code; logged, and the question is cancelled
            log_failure(log, error, "a question of the MCP server %r cannot be answered", self._server)
            return _CANCELLED
        if answer is None:
            return _DECLINED
        if question.url:
            return types.ElicitResult(action="accept")
        content = with_defaults(question.schema, answer)
        if issues := answer_issues(question.schema, content, 1):
            message = "the answer to a question of the MCP server %r does not fit: %s"
            self._log.log(logging.ERROR, message, self._server, issues[0])
            return _CANCELLED
        return types.ElicitResult(action="accept", content=content)

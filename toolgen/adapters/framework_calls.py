"""Calls of a snapshot for a framework that runs the loop: who calls, and how a waiting call is resumed.

A framework keeps by the id of a call whether a person approved it, and calls the tool again after that. The
question is found again in the runtime, by session, id, tool and arguments, so that what was asked is what
runs, in another process too. No argument of a tool answers it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.runtime import CallMeta, Snapshot, Suspended, ToolResult, ToolSpec, ToolValidationError
from toolgen.runtime.waiting.answers import cancel_answer
from toolgen.runtime.waiting.asking import question_order
from toolgen.runtime.waiting.errors import (
    BadAnswerError,
    NoEngineError,
    NotAllowedAnswerError,
    SuspensionError,
)

C = TypeVar("C")

MetaOf: TypeAlias = CallMeta | Callable[[C], CallMeta]
"""The facts of a call, or what returns them of the framework's own context of the call."""
Spec: TypeAlias = ToolSpec[Any, Any]


@dataclass(frozen=True, slots=True)
class FrameworkCalls(Generic[C]):
    """Calls tools of a snapshot with the facts that the host gives.

    Raises:
        ToolgenError: it is given no snapshot, such as the runtime itself, or no facts.
    """

    snapshot: Snapshot
    meta: MetaOf[C]

    def __post_init__(self) -> None:
        snapshot: object = self.snapshot
        if not isinstance(snapshot, Snapshot):
            raise ToolgenError(
                f"{type(snapshot).__name__!r} is no snapshot of tools",
                hint="give what `await runtime.snapshot(…)` returns",
            )
        meta: object = self.meta
        if not isinstance(meta, CallMeta) and not callable(meta):
            raise ToolgenError(
                f"{type(meta).__name__!r} is no CallMeta",
                hint="give CallMeta(session_id=…), or a function that returns one",
            )

    @property
    def tools(self) -> list[tuple[Spec, str]]:
        """The tools in the order of the snapshot, each with the description that a model reads."""
        told = self.snapshot.declarations()
        return [(spec, str(one["description"])) for spec, one in zip(self.snapshot.specs, told, strict=True)]

    def meta_of(self, context: C, tool_call_id: str) -> CallMeta:
        """Return the facts of a call; its id is the framework's, where the host gives none."""
        meta = self.meta if isinstance(self.meta, CallMeta) else self.meta(context)
        return meta if meta.tool_call_id else replace(meta, tool_call_id=tool_call_id)

    async def call(self, tool: str, arguments: Mapping[str, object] | str, meta: CallMeta) -> ToolResult:
        """Return the result of a call; where it waits for a person, only its newest question stays open."""
        result = await self.snapshot.call(tool, arguments, meta)
        asked = result.suspension
        if asked is not None and result.status == "suspended" and asked.kind != "pending":
            await self._take_back_older(asked, meta)
        return result

    async def resume(
        self, spec: Spec, arguments: Mapping[str, object] | str, meta: CallMeta, answer: Json, by: str = ""
    ) -> ToolResult:
        """Return the result of a call that waited, after the answer of a person.

        The answer counts for what the person was asked. Where that is not what these arguments ask, such as
        after somebody edited them, the call is made and suspended anew. An answer that is not taken leaves
        the call suspended, and `Suspended.reason` says why.
        """
        asked = await self._question(spec, meta)
        if asked is not None and self._asks_about(asked, spec, arguments, meta):
            return await self.deliver(asked, answer, meta, by)
        result = await self.call(spec.name, arguments, meta)
        again = result.suspension
        if asked is None or again is None or result.status != "suspended":
            return result
        is_same = (again.arguments_mac, again.question) == (asked.arguments_mac, asked.question)
        is_same = is_same and asked.outer is None  # what an agent asks next time is another question
        return await self.deliver(again, answer, meta, by) if is_same else result  # a hook may rewrite them

    async def open_question(
        self, spec: Spec, arguments: Mapping[str, object] | str, meta: CallMeta
    ) -> Suspended | None:
        """Return what a call with these arguments waits for already; None where it does not wait."""
        asked = await self._question(spec, meta)
        return asked if asked is not None and self._asks_about(asked, spec, arguments, meta) else None

    async def deliver(self, asked: Suspended, answer: Json, meta: CallMeta, by: str = "") -> ToolResult:
        """Return the result of a call after its answer; suspended as before where the answer is not taken."""
        try:
            return await self.snapshot.deliver(asked.token, answer, session_id=meta.session_id, by=by)
        except (BadAnswerError, NotAllowedAnswerError) as error:
            again = replace(asked, reason=error.message)
            return ToolResult(tool=asked.tool, status="suspended", suspensions=(again,))

    async def cancel(self, asked: Suspended, meta: CallMeta, reason: str) -> ToolResult:
        """Return the denial of a call that nobody is going to answer."""
        return await self.snapshot.deliver(asked.token, cancel_answer(reason), session_id=meta.session_id)

    async def _take_back_older(self, asked: Suspended, meta: CallMeta) -> None:
        for other in await self._of_call(meta):
            if other.call.run_id == asked.call.run_id:
                return
            try:
                await self.cancel(other, meta, "the call was made again")
            except SuspensionError:  # it was answered meanwhile
                continue

    async def _question(self, spec: Spec, meta: CallMeta) -> Suspended | None:
        """Return what the newest call of these ids asks first; None where none waits."""
        waiting = [one for one in await self._of_call(meta) if one.call.tool == spec.id]
        newest = waiting[-1].call.run_id if waiting else ""
        return min((one for one in waiting if one.call.run_id == newest), key=question_order, default=None)

    def _asks_about(
        self, asked: Suspended, spec: Spec, arguments: Mapping[str, object] | str, meta: CallMeta
    ) -> bool:
        """Return whether a question is about these arguments, sensitive values too."""
        try:
            payload = spec.payload.encode(spec.payload.decode(arguments))
        except ToolValidationError:
            return False
        return self.snapshot.arguments_mac(spec.id, payload, meta) == asked.call.arguments_mac

    async def _of_call(self, meta: CallMeta) -> list[Suspended]:
        """Return the questions of a call that are open, oldest first."""
        if not meta.tool_call_id:
            return []
        try:
            waiting = await self.snapshot.suspended(meta.session_id)
        except NoEngineError:  # no call can wait, so none does
            return []
        mine = [one for one in waiting if one.call.tool_call_id == meta.tool_call_id]
        return [one for one in mine if one.kind != "pending"]

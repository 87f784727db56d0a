"""Calls of a snapshot for a framework that runs the loop: who calls, and how a waiting call is answered.

A framework makes a call again, under the same id, after a person has answered, or because it runs a node of
its graph again. The runtime knows the call by its name and executes it once, in another process too. No
argument of a tool answers a question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Generic, NotRequired, TypeAlias, TypedDict, TypeVar, cast

from toolgen.calls.call import CallName
from toolgen.catalog.entry import tool_entry
from toolgen.catalog.providers import Projection, declarations
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.runtime import CallMeta, Snapshot, Suspended, ToolResult, ToolSpec
from toolgen.waiting.answers import cancel_answer
from toolgen.waiting.errors import (
    BadAnswerError,
    NotAllowedAnswerError,
    OtherQuestionError,
    SuspensionError,
)
from toolgen.waiting.waits import Waits

C = TypeVar("C")

MetaOf: TypeAlias = CallMeta | Callable[[C], CallMeta]
"""The facts of a call, or what returns them of the framework's own context of the call."""
Spec: TypeAlias = ToolSpec
_Place: TypeAlias = tuple[str, str, str]
"""Owner, session, and place or turn of the calls of one model answer."""


class NamedAnswer(TypedDict):
    """The answer of a person to one question."""

    id: str
    """`Suspended.id` of the question."""
    answer: Json
    """Answer that fits the question's `answer_schema`."""
    by: NotRequired[str]
    """Person who answers."""


def named_answer(document: object) -> NamedAnswer | None:
    """Return what was given, where it is an answer that names its question."""
    if not isinstance(document, Mapping) or not {"id", "answer"} <= set(document) <= {"id", "answer", "by"}:
        return None
    id_, by = document["id"], document.get("by", "")
    if not isinstance(id_, str) or not isinstance(by, str):
        return None
    return {"id": id_, "answer": document["answer"], "by": by}


def _to(asked: Suspended, document: object) -> NamedAnswer:
    """Return an answer to this question.

    Raises:
        OtherQuestionError: it names another one, or none.
    """
    answer = named_answer(document)
    if answer is None:
        raise OtherQuestionError(
            'the answer has no question id: pass {"id": …, "answer": …}, with the `id` of the question'
        )
    if answer["id"] != asked.id:
        raise OtherQuestionError(
            f"the answer is for the question {answer['id']!r}, but this question is {asked.id!r}"
        )
    return answer


@dataclass(slots=True, eq=False)
class _Caller:
    """Who waits for one call of a framework."""

    is_detached: bool = False
    """The call goes on if the caller is cancelled."""
    is_interrupted: bool = False
    """The caller ends with a question, for which a framework cancels no other call."""


def _needs_place(spec: Spec) -> bool:
    """Return whether the result of one call of a tool must not be taken for that of another call."""
    return spec.confirm is not None or not spec.may_repeat


def waits_of(snapshot: Snapshot) -> Waits:
    """Return `Runtime.waits` for a snapshot, whose protocol has only the part that `toolgen.calls` needs."""
    return cast(Waits, snapshot.waits)


def decoded(projection: Projection, arguments: Mapping[str, object] | str) -> str:
    """Return the arguments that a model sent as a document of the tool's own schema; nothing is checked."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return projection.decode(text).decode("utf-8", "surrogatepass")


@frozen_record
class FrameworkCalls(Generic[C]):
    """The calls that one framework makes of the tools of a snapshot, with the facts that the host gives.

    Raises:
        ToolgenError: it is given no snapshot, such as the runtime itself, or no facts.
    """

    interface: str
    """Name of the framework."""
    snapshot: Snapshot
    meta: MetaOf[C]
    _callers: dict[_Place, list[_Caller]] = field(default_factory=dict, init=False, repr=False)
    """Those who wait for calls now, by the place of the calls."""

    def __post_init__(self) -> None:
        snapshot: object = self.snapshot
        if not isinstance(snapshot, Snapshot):
            raise ToolgenError(
                f"{type(snapshot).__name__!r} is not a tool snapshot",
                hint="pass the result of `await runtime.tools.snapshot(…)`",
            )
        meta: object = self.meta
        if not isinstance(meta, CallMeta) and not callable(meta):
            raise ToolgenError(
                f"{type(meta).__name__!r} is not a CallMeta",
                hint="pass CallMeta(session_id=…), or a function that returns one",
            )

    @property
    def tools(self) -> list[tuple[Spec, str]]:
        """The tools in the order of the snapshot, each with the description that a model reads."""
        declarations = self.snapshot.declarations()
        return [
            (spec, str(declaration["description"]))
            for spec, declaration in zip(self.snapshot.specs, declarations, strict=True)
        ]

    def projected(self, dialect: str) -> list[tuple[Spec, Projection]]:
        """Return the tools in the order of the snapshot, as a provider is told of them in a dialect.

        What a model sends is decoded by the projection, with `decoded`.
        """
        entries = [
            {**tool_entry(spec.record()), "description": description} for spec, description in self.tools
        ]
        return list(zip(self.snapshot.specs, declarations(entries, dialect).projections, strict=True))

    def meta_of(self, context: C, tool_call_id: str) -> CallMeta:
        """Return the facts of a call; its id is the framework's, where the host gives none."""
        meta = self.meta if isinstance(self.meta, CallMeta) else self.meta(context)
        return meta if meta.tool_call_id else replace(meta, tool_call_id=tool_call_id)

    def named(
        self,
        context: C,
        tool: str,
        arguments: Mapping[str, object] | str,
        call_id: str,
        checkpoint: str = "",
        *,
        may_ask: bool = False,
    ) -> FrameworkCall:
        """Return a call that the framework may make again; one without an id is another call each time.

        `checkpoint` is its place in the conversation: the same whenever the framework makes the call again,
        and another one where a model gives the id again. If the framework knows none, it is the turn. Without
        a turn a call is another one each time, unless it needs a place.

        Raises:
            ToolgenError: a call of this tool has neither a place nor a turn.
        """
        meta, caller = self.meta_of(context, call_id), _Caller()
        if call_id and not checkpoint and not meta.turn_id:
            registered = self.snapshot.directory.by_name.get(tool)
            if registered is not None and (may_ask or _needs_place(registered.spec)):
                raise self._without_place(registered.spec)
            call_id = ""
        name = CallName(
            interface=self.interface,
            call_id=call_id,
            checkpoint=checkpoint,
            is_detached=lambda: caller.is_detached,
        )
        return FrameworkCall(
            snapshot=self.snapshot,
            tool=tool,
            arguments=arguments,
            meta=meta,
            name=name if call_id else None,
            caller=caller,
            callers=self._callers,
        )

    def require_turn(self, may_ask: Collection[str] = ()) -> None:
        """Raise for a framework that knows no place of a call, if the facts of all calls have no turn.

        Args:
            may_ask: Ids of further tools whose calls need a place.

        Raises:
            ToolgenError: as said; a function that returns the facts is asked at each call.
        """
        if isinstance(self.meta, CallMeta) and not self.meta.turn_id:
            for spec in self.snapshot.specs:
                if spec.id in may_ask or _needs_place(spec):
                    raise self._without_place(spec)

    def _without_place(self, spec: Spec) -> ToolgenError:
        return ToolgenError(
            f"the CallMeta of a call of {spec.id!r} has no turn_id, and {self.interface} does not report the "
            "position of a call in the conversation: if the model reuses a call id, the id would name the "
            "earlier call",
            hint="pass CallMeta(turn_id=…): a new id for each turn, and the same id when a turn is resumed",
        )

    def unnamed(
        self, context: C, tool: str, arguments: Mapping[str, object] | str, tool_call_id: str
    ) -> FrameworkCall:
        """Return a call whose id the framework does not know, so that it cannot make it again."""
        call = self.named(context, tool, arguments, "")
        if call.meta.tool_call_id:
            return call
        return replace(call, meta=replace(call.meta, tool_call_id=tool_call_id))


@frozen_record
class FrameworkCall:
    """One call of a framework."""

    snapshot: Snapshot
    tool: str
    """Wire name."""
    arguments: Mapping[str, object] | str
    meta: CallMeta
    name: CallName | None
    caller: _Caller = field(repr=False)
    callers: dict[_Place, list[_Caller]] = field(repr=False)
    """Those of `FrameworkCalls`."""

    @contextmanager
    def among_siblings(self) -> Iterator[None]:
        """Let the calls of the same place go on if this one fails and the framework cancels them for it.

        A framework does not say why it cancels a call. If another call of the same place has raised an error
        before, that is the reason, and not that somebody has stopped the run.
        """
        meta, turn = self.meta, "" if self.name is None else self.name.checkpoint or self.meta.turn_id
        place = (meta.requested_by, meta.session_id, turn)
        others = self.callers.setdefault(place, []) if turn else []
        others.append(self.caller)
        try:
            yield
        except Exception:
            if not self.caller.is_interrupted:
                for other in others:
                    other.is_detached = True
            raise
        finally:
            others.remove(self.caller)
            if not others:
                self.callers.pop(place, None)

    async def result(self) -> ToolResult:
        """Return the result: of the call that is made now, or of the same one that was made before."""
        if self.name is None:
            return await self.snapshot.call(self.tool, self.arguments, self.meta)
        return await self.snapshot.call_once(self.name, self.tool, self.arguments, self.meta)

    async def question(self) -> Suspended | None:
        """Return what the call asks that was made before with the same arguments; None for nothing."""
        calls = waits_of(self.snapshot).named_calls(self.tool)
        if self.name is None or calls is None:
            return None
        return await calls.question(self.name, self.arguments, self.meta)

    async def question_ids(self) -> frozenset[str] | None:
        """Return the ids of all that the call has asked; None if its record is gone, or it was not made."""
        calls = waits_of(self.snapshot).named_calls(self.tool)
        if self.name is None or calls is None:
            return frozenset()
        return await calls.question_ids(self.name, self.arguments, self.meta)

    async def answer(self, asked: Suspended, document: object, wait_s: float | None = None) -> ToolResult:
        """Return the result after a `NamedAnswer`; suspended as before, with a reason, if it is refused.

        Where nobody's answer is taken any more, it is what became of the call. It takes as long as the call
        takes, and who is cancelled meanwhile cancels the call; with `wait_s` it is pending after so many
        seconds, and the call goes on.

        Raises:
            Exception: the engine, or its store, cannot be used; the call can be made again, and the same
                answer given.
        """
        try:
            answer = _to(asked, document)
            return await self._deliver(asked, answer["answer"], answer.get("by", ""), wait_s)
        except (BadAnswerError, NotAllowedAnswerError, OtherQuestionError) as error:
            again = replace(asked, reason=error.message)
            return ToolResult(tool=asked.tool, status="suspended", suspensions=(again,))
        except SuspensionError:
            return await self.result()

    async def answer_by_call(self, asked: Suspended, answer: Json, by: str = "") -> ToolResult:
        """Return the result after an answer that a framework kept by the id of the call alone.

        It counts for the first question of the call alone, which is all that a framework is sure to have
        shown: a further one, one that is asked again, and one of the agent that does it want to be named.
        """
        is_first = asked.number == 1 and not asked.reason and asked.outer is None
        return await self.answer(asked, {"id": asked.id, "answer": answer, "by": by} if is_first else None)

    async def cancel(self, asked: Suspended, reason: str) -> ToolResult:
        """Return the denial of a call that nobody is going to answer."""
        return await self._deliver(asked, cancel_answer(reason), "", None)

    async def _deliver(self, asked: Suspended, answer: Json, by: str, wait_s: float | None) -> ToolResult:
        return await waits_of(self.snapshot).answer_as_caller(
            asked.token,
            answer,
            session_id=self.meta.session_id,
            by=by,
            is_detached=lambda: self.caller.is_detached,
            wait_s=wait_s,
        )

"""Calls of a snapshot for a framework that runs the loop: callers, and answers to suspended calls.

A framework repeats a call under the same id after a person answered, or because it executes a node of its
graph again. The runtime identifies the call by its name and executes it once, even in another process.
Arguments of a tool never answer a question.
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
from toolgen.waiting.suspensions import Suspensions

C = TypeVar("C")

MetaOf: TypeAlias = CallMeta | Callable[[C], CallMeta]
"""Facts of a call, or a function that derives them from the framework's own context of the call."""
Spec: TypeAlias = ToolSpec
_Place: TypeAlias = tuple[str, str, str]
"""Owner, session, and checkpoint or turn of the calls in one model answer."""


class NamedAnswer(TypedDict):
    """A person's answer to one question."""

    id: str
    """`Suspended.id` of the question."""
    answer: Json
    """Answer that fits the question's `answer_schema`."""
    by: NotRequired[str]
    """Person who answers."""


def named_answer(document: object) -> NamedAnswer | None:
    """Return the document if it is an answer that names its question; None otherwise."""
    if not isinstance(document, Mapping) or not {"id", "answer"} <= set(document) <= {"id", "answer", "by"}:
        return None
    id_, by = document["id"], document.get("by", "")
    if not isinstance(id_, str) or not isinstance(by, str):
        return None
    return {"id": id_, "answer": document["answer"], "by": by}


def _to(suspended: Suspended, document: object) -> NamedAnswer:
    """Return the document as an answer to this question.

    Raises:
        OtherQuestionError: The document names another question, or none.
    """
    answer = named_answer(document)
    if answer is None:
        raise OtherQuestionError(
            'the answer has no question id: pass {"id": …, "answer": …}, with the `id` of the question'
        )
    if answer["id"] != suspended.id:
        raise OtherQuestionError(
            f"the answer is for the question {answer['id']!r}, but this question is {suspended.id!r}"
        )
    return answer


@dataclass(slots=True, eq=False)
class _Caller:
    """Caller of one framework call, which awaits its result."""

    is_detached: bool = False
    """Whether the call continues if the caller is cancelled."""
    is_interrupted: bool = False
    """Whether the caller ends with a question. In this case a framework cancels no other call."""


def _needs_place(spec: Spec) -> bool:
    """Return whether the result of one call of a tool must not be reused for another call."""
    return spec.confirm is not None or not spec.may_repeat


def waits_of(snapshot: Snapshot) -> Suspensions:
    """Return `Runtime.suspensions` of a snapshot, whose type declares only what `toolgen.calls` needs."""
    return cast(Suspensions, snapshot.suspensions)


def decoded(projection: Projection, arguments: Mapping[str, object] | str) -> str:
    """Return a model's arguments as a JSON document for the tool's own schema, without validation."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return projection.decode(text).decode("utf-8", "surrogatepass")


@frozen_record
class FrameworkCalls(Generic[C]):
    """Calls that one framework makes to the tools of a snapshot, with facts from the host.

    Raises:
        ToolgenError: `snapshot` is not a snapshot (for example the runtime itself), or `meta` is no
            `CallMeta`.
    """

    interface: str
    """Name of the framework."""
    snapshot: Snapshot
    meta: MetaOf[C]
    _callers: dict[_Place, list[_Caller]] = field(default_factory=dict, init=False, repr=False)
    """Callers that await a result now, by the place of their calls."""

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
        """Return the tools in the order of the snapshot, each with its declaration in a provider's dialect.

        Decode the model's arguments with this projection: `decoded`.
        """
        entries = [
            {**tool_entry(spec.record()), "description": description} for spec, description in self.tools
        ]
        return list(zip(self.snapshot.specs, declarations(entries, dialect).projections, strict=True))

    def meta_of(self, context: C, tool_call_id: str) -> CallMeta:
        """Return the facts of a call. If the host sets no call id, the framework's id is used."""
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
        """Return a call that the framework can repeat. A call without an id is a new call each time.

        `checkpoint` is the position of the call in the conversation: the same if the framework repeats the
        call, and another one if a model reuses the id. If the framework knows no position, the turn is used.
        Without a turn, a call is a new call each time, unless it needs a position.

        Raises:
            ToolgenError: A call of this tool needs a position, and has neither a checkpoint nor a turn.
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
        """Raise if calls need a position, the framework knows none, and the facts of all calls have no turn.

        Args:
            may_ask: Ids of further tools whose calls need a position.

        Raises:
            ToolgenError: `meta` has no turn. If `meta` is a function, each call is checked instead.
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
        """Return a call whose id the framework does not know, so that it cannot repeat it."""
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
    """The callers of `FrameworkCalls`."""

    @contextmanager
    def among_siblings(self) -> Iterator[None]:
        """Let the sibling calls of the same place continue if this call fails and the framework cancels them.

        A framework does not report why it cancels a call. If a sibling call has raised an error before, that
        error is the reason, and nobody has stopped the run.
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
        """Return the result of this call, or of the same call if it was made before."""
        if self.name is None:
            return await self.snapshot.call(self.tool, self.arguments, self.meta)
        return await self.snapshot.call_once(self.name, self.tool, self.arguments, self.meta)

    async def question(self) -> Suspended | None:
        """Return the pending question of the earlier call with the same arguments; None if there is none."""
        calls = waits_of(self.snapshot).named_calls(self.tool)
        if self.name is None or calls is None:
            return None
        return await calls.question(self.name, self.arguments, self.meta)

    async def question_ids(self) -> frozenset[str] | None:
        """Return the ids of all questions that the call has asked.

        None if its record is gone, or was never written.
        """
        calls = waits_of(self.snapshot).named_calls(self.tool)
        if self.name is None or calls is None:
            return frozenset()
        return await calls.question_ids(self.name, self.arguments, self.meta)

    async def answer(self, suspended: Suspended, document: object, wait_s: float | None = None) -> ToolResult:
        """Return the result after a `NamedAnswer`; suspended again, with a reason, if the answer is rejected.

        If the call no longer accepts an answer, return its outcome. The method waits for the call, and
        cancelling the method cancels the call. With `wait_s`, the result is pending after that many seconds,
        and the call continues.

        Raises:
            Exception: The engine or its store cannot be used. The call can be repeated with the same answer.
        """
        try:
            answer = _to(suspended, document)
            return await self._deliver(suspended, answer["answer"], answer.get("by", ""), wait_s)
        except (BadAnswerError, NotAllowedAnswerError, OtherQuestionError) as error:
            again = replace(suspended, reason=error.message)
            return ToolResult(tool=suspended.tool, status="suspended", suspensions=(again,))
        except SuspensionError:
            return await self.result()

    async def answer_by_call(self, suspended: Suspended, answer: Json, by: str = "") -> ToolResult:
        """Return the result after an answer that a framework stored only by the id of the call.

        The answer is accepted only for the first question of the call, because that is the only question that
        the framework has certainly shown. Further questions, repeated questions and questions of a
        sub-agent's call must be named.
        """
        is_first = suspended.number == 1 and not suspended.reason and suspended.outer is None
        return await self.answer(
            suspended, {"id": suspended.id, "answer": answer, "by": by} if is_first else None
        )

    async def cancel(self, suspended: Suspended, reason: str) -> ToolResult:
        """Cancel a suspended call that nobody will answer, and return its result."""
        return await self._deliver(suspended, cancel_answer(reason), "", None)

    async def _deliver(self, suspended: Suspended, answer: Json, by: str, wait_s: float | None) -> ToolResult:
        return await waits_of(self.snapshot).answer_as_caller(
            suspended.token,
            answer,
            session_id=self.meta.session_id,
            by=by,
            is_detached=lambda: self.caller.is_detached,
            wait_s=wait_s,
        )

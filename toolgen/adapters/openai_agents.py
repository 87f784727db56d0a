"""The tools of a snapshot as function tools of OpenAI's Agents SDK: `toolgen[openai-agents]`.

The SDK asks whether a call needs approval before it runs it, and shows a person its name and its arguments. A
tool that may ask is therefore called there: its question waits in the runtime, where `openai_agents_question`
finds it. What the model does not read stands in `ToolCallOutputItem.custom_data`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary, finalize

from toolgen.calls.call import NO_META
from toolgen.catalog.providers import Projection
from toolgen.contract.extras import extra
from toolgen.contract.json_value import Json
from toolgen.runtime import CallMeta, Content, ImageContent, Snapshot, Suspended, TextContent, ToolResult
from toolgen.waiting.unfit import asks_again

from .framework_calls import FrameworkCall, FrameworkCalls, MetaOf, NamedAnswer, Spec, decoded
from .result_view import ResultView, result_view

with extra("openai-agents"):
    from agents import FunctionTool, RunContextWrapper, ToolApprovalItem, ToolOutputImage, ToolOutputText
    from agents.strict_schema import ensure_strict_json_schema
    from agents.tool import FunctionToolCustomDataContext
    from agents.tool_context import ToolContext

__all__ = ["AnswerOf", "NamedAnswer", "openai_agents_question", "openai_agents_tools"]

AnswerOf: TypeAlias = Callable[[RunContextWrapper[object], Suspended], NamedAnswer | None]
"""Returns what the person has answered whose approval the SDK knows, with the `id` of the question; None
where there is no answer."""
_INTERFACE: Final = "openai-agents"
_STRICT: Final = "openai-responses-strict"
_PLAIN: Final = "openai-responses"
_MOST_EARLY: Final = 1_000
"""Results of one tool that one run may leave to be fetched."""
_NOT_ASKED: Final = "no approval was requested for this call"


def openai_agents_tools(
    snapshot: Snapshot,
    meta: MetaOf[RunContextWrapper[object]] = NO_META,
    *,
    may_ask: Collection[str] | None = None,
    answer: AnswerOf | None = None,
) -> list[FunctionTool]:
    """Return the tools of a snapshot, in its order.

    Args:
        snapshot: What is offered.
        meta: The facts of each call, or what returns them of the run's context; never of the model. Their
            `turn_id` is another one for each run, and the same one when a run is resumed.
        may_ask: Ids of the tools whose calls may wait for a person; by default those with a confirmation,
            and those that an agent answers. Another tool that asks is denied.
        answer: What a person adds to an approval, or answers to a question of a tool; by default a yes to the
            first question of a call.

    Raises:
        ToolgenError: `meta` has no `turn_id`, and a tool may ask or must not run twice: the SDK does not say
            in which run a call is made, and a model may give the same id in each. A function that returns
            facts without one raises when such a tool is called.
    """
    calls = FrameworkCalls(interface=_INTERFACE, snapshot=snapshot, meta=meta)
    asking = {spec.id for spec in snapshot.specs if _may_ask(snapshot, spec)} if may_ask is None else may_ask
    calls.require_turn(asking)
    return [
        _SnapshotTool(calls, spec, projection, answer, spec.id in asking).function_tool()
        for spec, projection in _projected(calls)
    ]


def _projected(calls: FrameworkCalls[Any]) -> list[tuple[Spec, Projection]]:
    """Return the tools in OpenAI's strict dialect, those that the SDK would rewrite in the plain one."""
    return [
        (spec, strict if _is_kept(strict) else plain)
        for (spec, strict), (_, plain) in zip(calls.projected(_STRICT), calls.projected(_PLAIN), strict=True)
    ]


def _is_kept(projection: Projection) -> bool:
    """Return whether the SDK sends the schema as it is: it rewrites those that it takes for strict."""
    if not projection.is_strict:
        return True
    text = json.dumps(projection.schema)
    try:
        return bool(ensure_strict_json_schema(json.loads(text)) == json.loads(text))
    except Exception:  # noqa: BLE001 - the SDK's own errors for what it cannot rewrite
        return False


async def openai_agents_question(
    snapshot: Snapshot, item: ToolApprovalItem, meta: CallMeta = NO_META
) -> Suspended | None:
    """Return what an interruption asks a person, with the token that takes it back.

    None where nothing waits, such as for arguments that are no JSON: an approval would run nothing.
    `meta` are the facts of the call.
    """
    calls: FrameworkCalls[None] = FrameworkCalls(interface=_INTERFACE, snapshot=snapshot, meta=meta)
    for spec, projection in _projected(calls):
        if projection.name == item.tool_name and item.call_id is not None:
            arguments = decoded(projection, item.arguments or "{}")
            return await calls.named(None, spec.name, arguments, item.call_id).question()
    return None


class _EarlyResults:
    """Results of calls that ended while the SDK asked whether they need approval, until it runs the calls.

    A run that is cancelled in between leaves them: they are dropped with its usage, the object that all
    contexts of one run share.
    """

    def __init__(self) -> None:
        self._of_run: dict[int, dict[str, ToolResult]] = {}

    def has(self, context: RunContextWrapper[object], call_id: str) -> bool:
        """Return whether the result of a call is kept."""
        return call_id in self._of_run.get(id(context.usage), ())

    def is_full(self, context: RunContextWrapper[object]) -> bool:
        """Return whether no further result of this run is kept."""
        return len(self._of_run.get(id(context.usage), ())) >= _MOST_EARLY

    def keep(self, context: RunContextWrapper[object], call_id: str, result: ToolResult) -> None:
        """Keep the result of a call."""
        key = id(context.usage)
        if key not in self._of_run:
            self._of_run[key] = {}
            finalize(context.usage, self._of_run.pop, key, None).atexit = False
        self._of_run[key][call_id] = result

    def take(self, context: RunContextWrapper[object], call_id: str) -> ToolResult | None:
        """Return the result of a call, which is kept no more; None where there is none."""
        return self._of_run.get(id(context.usage), {}).pop(call_id, None)


@dataclass(slots=True)
class _SnapshotTool:
    """One tool, and the results of its calls that the SDK has not fetched."""

    calls: FrameworkCalls[RunContextWrapper[object]]
    spec: Spec
    projection: Projection
    answer: AnswerOf | None
    may_ask: bool
    early: _EarlyResults = field(default_factory=_EarlyResults)
    views: WeakKeyDictionary[ToolContext[Any], ResultView] = field(default_factory=WeakKeyDictionary)

    def function_tool(self) -> FunctionTool:
        """Return the tool as the SDK has it."""
        return FunctionTool(
            name=self.projection.name,
            description=self.projection.description,
            params_json_schema=dict(self.projection.schema),
            strict_json_schema=self.projection.is_strict,
            on_invoke_tool=self._invoke,
            needs_approval=self._needs_approval if self.may_ask else False,
            custom_data_extractor=self._custom_data,
        )

    async def _needs_approval(
        self, context: RunContextWrapper[object], arguments: dict[str, Json], call_id: str
    ) -> bool:
        """Make the call and return whether it waits for a person; else its result is kept for `_invoke`.

        Where no further result is kept, `_invoke` makes the call, and denies it if it asks.
        """
        if self.early.has(context, call_id):
            return False
        call = self._call(context, arguments, call_id)
        with call.among_siblings():
            if await call.question() is not None:
                return True
            if self.early.is_full(context):
                return False
            result = await call.result()
        if result_view(result).approval is not None:
            return True
        self.early.keep(context, call_id, result)
        return False

    async def _invoke(
        self, context: ToolContext[Any], arguments: str
    ) -> str | list[ToolOutputText | ToolOutputImage]:
        """Return what the model reads of a call that needs no approval, or that has it."""
        call = self._call(context, arguments, context.tool_call_id)
        asked: Suspended | None = None
        result = self.early.take(context, context.tool_call_id)
        with call.among_siblings():
            if result is None and self.may_ask:
                asked = await call.question()
            if result is None:
                result = await (call.result() if asked is None else self._answered(context, call, asked))
            again = result_view(result).approval
            while again is not None and (asked is None or not asks_again(asked, again)):
                result = await call.cancel(again, _NOT_ASKED)  # the SDK cannot ask any more
                again = result_view(result).approval
        self.views[context] = view = result_view(result)
        return _output(view)

    def _call(
        self, context: RunContextWrapper[object], arguments: Mapping[str, Json] | str, call_id: str
    ) -> FrameworkCall:
        arguments = decoded(self.projection, arguments)
        return self.calls.named(context, self.spec.name, arguments, call_id, may_ask=self.may_ask)

    async def _answered(self, context: ToolContext[Any], call: FrameworkCall, asked: Suspended) -> ToolResult:
        """Return the result of a call that waited, after what the person has said."""
        if self.answer is not None:
            answer = self.answer(context, asked)
            return await (call.cancel(asked, _NOT_ASKED) if answer is None else call.answer(asked, answer))
        if asked.kind != "confirmation":
            return await call.cancel(asked, _NOT_ASKED)
        return await call.answer_by_call(asked, {"approved": True})

    def _custom_data(self, ended: FunctionToolCustomDataContext) -> Mapping[str, Json] | None:
        """Return what only the application reads of the result."""
        view = self.views.pop(ended.tool_context, None)
        return None if view is None else {"toolgen": view.as_json()}


def _may_ask(snapshot: Snapshot, spec: Spec) -> bool:
    tool = snapshot.directory.by_id.get(spec.id)
    return spec.confirm is not None or (tool is not None and tool.starts_run)


def _output(view: ResultView) -> str | list[ToolOutputText | ToolOutputImage]:
    if not view.content:
        return view.text
    return [ToolOutputText(text=view.text), *map(_block, view.content)]


def _block(content: Content) -> ToolOutputText | ToolOutputImage:
    match content:
        case TextContent(text=text):
            return ToolOutputText(text=text)
        case ImageContent(data=data, media_type=media_type):
            encoded = base64.b64encode(data).decode()
            return ToolOutputImage(image_url=f"data:{media_type};base64,{encoded}")
        case _:
            return ToolOutputText(text=json.dumps(_note(content.as_json())))


def _note(block: Mapping[str, Json]) -> dict[str, Json]:
    """Return a block that the SDK has no output for, without its data."""
    return {name: value for name, value in block.items() if name != "data"}

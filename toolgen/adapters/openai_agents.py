"""Function tools of OpenAI's Agents SDK for the tools of a snapshot: `toolgen[openai-agents]`.

Before the SDK runs a call, it asks whether the call needs approval, and shows a person its name and
arguments. Therefore a tool that can ask is called at that point: its question is suspended in the runtime,
where `openai_agents_question` finds it. `ToolCallOutputItem.custom_data` contains the facts that the model
does not read.
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
"""Returns the answer of a person whose approval the SDK knows, with the `id` of the question.

None without one.
"""
_INTERFACE: Final = "openai-agents"
_STRICT: Final = "openai-responses-strict"
_PLAIN: Final = "openai-responses"
_MOST_EARLY: Final = 1_000
"""Maximum number of unfetched results of one tool per run."""
_NOT_ASKED: Final = "no approval was requested for this call"


def openai_agents_tools(
    snapshot: Snapshot,
    meta: MetaOf[RunContextWrapper[object]] = NO_META,
    *,
    may_ask: Collection[str] | None = None,
    answer: AnswerOf | None = None,
) -> list[FunctionTool]:
    """Return the tools of a snapshot, in the order of the snapshot.

    Args:
        snapshot: The tools to offer.
        meta: Facts of each call, or a function that derives them from the run's context; never from the
            model. Their `turn_id` must differ for each run, and must be the same when a run is resumed.
        may_ask: Ids of the tools whose calls can wait for a person; by default the tools with a confirmation,
            and the tools that an agent executes. If another tool asks, its call is denied.
        answer: Returns a person's addition to an approval, or the answer to a question of a tool; by default
            the first question of a call is approved.

    Raises:
        ToolgenError: `meta` has no `turn_id`, and a tool can ask or must not run twice: the SDK does not
            report the run of a call, and a model can reuse an id in each run. If a function returns facts
            without `turn_id`, the error is raised when such a tool is called.
    """
    calls = FrameworkCalls(interface=_INTERFACE, snapshot=snapshot, meta=meta)
    asking = {spec.id for spec in snapshot.specs if _may_ask(snapshot, spec)} if may_ask is None else may_ask
    calls.require_turn(asking)
    return [
        _SnapshotTool(calls, spec, projection, answer, spec.id in asking).function_tool()
        for spec, projection in _projected(calls)
    ]


def _projected(calls: FrameworkCalls[Any]) -> list[tuple[Spec, Projection]]:
    """Return the tools in OpenAI's strict dialect, or the plain one if the SDK would rewrite a schema."""
    return [
        (spec, strict if _is_kept(strict) else plain)
        for (spec, strict), (_, plain) in zip(calls.projected(_STRICT), calls.projected(_PLAIN), strict=True)
    ]


def _is_kept(projection: Projection) -> bool:
    """Return whether the SDK sends the schema unchanged; it rewrites schemas that it considers strict."""
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
    """Return the question of an interruption, with the token that answers it.

    None if no call is suspended, for example for arguments that are not JSON: an approval would run nothing.
    `meta` is the facts of the call.
    """
    calls: FrameworkCalls[None] = FrameworkCalls(interface=_INTERFACE, snapshot=snapshot, meta=meta)
    for spec, projection in _projected(calls):
        if projection.name == item.tool_name and item.call_id is not None:
            arguments = decoded(projection, item.arguments or "{}")
            return await calls.named(None, spec.name, arguments, item.call_id).question()
    return None


class _EarlyResults:
    """Results of calls that ended during the SDK's approval check, until the SDK runs the calls.

    If a run is cancelled in between, its results are dropped together with its usage, the object that all
    contexts of a run share.
    """

    def __init__(self) -> None:
        self._of_run: dict[int, dict[str, ToolResult]] = {}

    def has(self, context: RunContextWrapper[object], call_id: str) -> bool:
        """Return whether the result of a call is stored."""
        return call_id in self._of_run.get(id(context.usage), ())

    def is_full(self, context: RunContextWrapper[object]) -> bool:
        """Return whether the maximum number of results of this run is stored."""
        return len(self._of_run.get(id(context.usage), ())) >= _MOST_EARLY

    def keep(self, context: RunContextWrapper[object], call_id: str, result: ToolResult) -> None:
        """Store the result of a call."""
        key = id(context.usage)
        if key not in self._of_run:
            self._of_run[key] = {}
            finalize(context.usage, self._of_run.pop, key, None).atexit = False
        self._of_run[key][call_id] = result

    def take(self, context: RunContextWrapper[object], call_id: str) -> ToolResult | None:
        """Remove and return the result of a call; None if there is none."""
        return self._of_run.get(id(context.usage), {}).pop(call_id, None)


@dataclass(slots=True)
class _SnapshotTool:
    """One tool, and the results of its calls that the SDK has not fetched yet."""

    calls: FrameworkCalls[RunContextWrapper[object]]
    spec: Spec
    projection: Projection
    answer: AnswerOf | None
    may_ask: bool
    early: _EarlyResults = field(default_factory=_EarlyResults)
    views: WeakKeyDictionary[ToolContext[Any], ResultView] = field(default_factory=WeakKeyDictionary)

    def function_tool(self) -> FunctionTool:
        """Return the tool in the SDK's form."""
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
        """Make the call and return whether it waits for a person; otherwise store its result for `_invoke`.

        If the maximum number of results is stored, `_invoke` makes the call, and denies it if it asks.
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
        """Return the text for the model after a call that needs no approval, or is approved."""
        call = self._call(context, arguments, context.tool_call_id)
        suspended: Suspended | None = None
        result = self.early.take(context, context.tool_call_id)
        with call.among_siblings():
            if result is None and self.may_ask:
                suspended = await call.question()
            if result is None:
                result = await (
                    call.result() if suspended is None else self._answered(context, call, suspended)
                )
            again = result_view(result).approval
            while again is not None and (suspended is None or not asks_again(suspended, again)):
                result = await call.cancel(again, _NOT_ASKED)  # the SDK can no longer ask
                again = result_view(result).approval
        self.views[context] = view = result_view(result)
        return _output(view)

    def _call(
        self, context: RunContextWrapper[object], arguments: Mapping[str, Json] | str, call_id: str
    ) -> FrameworkCall:
        arguments = decoded(self.projection, arguments)
        return self.calls.named(context, self.spec.name, arguments, call_id, may_ask=self.may_ask)

    async def _answered(
        self, context: ToolContext[Any], call: FrameworkCall, suspended: Suspended
    ) -> ToolResult:
        """Return the result of a suspended call after the person's answer."""
        if self.answer is not None:
            answer = self.answer(context, suspended)
            return await (
                call.cancel(suspended, _NOT_ASKED) if answer is None else call.answer(suspended, answer)
            )
        if suspended.kind != "confirmation":
            return await call.cancel(suspended, _NOT_ASKED)
        return await call.answer_by_call(suspended, {"approved": True})

    def _custom_data(self, ended: FunctionToolCustomDataContext) -> Mapping[str, Json] | None:
        """Return the facts of the result that only the application reads."""
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
    """Return a content block without an SDK counterpart, without its data."""
    return {name: value for name, value in block.items() if name != "data"}

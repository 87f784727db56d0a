"""The tools of a snapshot as a toolset of pydantic-ai: `toolgen[pydantic-ai]`.

A failed call is no success there: what the model may repair is a `ModelRetry`, the rest a `ToolFailed`. A
call that waits is deferred, with the question and all arguments in the metadata of `DeferredToolRequests`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import SchemaValidator, core_schema

from toolgen.contract.json_value import Json
from toolgen.contract.names import SESSION
from toolgen.runtime import CallMeta, Snapshot
from toolgen.runtime.calls import NO_META

from .extras import extra
from .framework_calls import FrameworkCalls, MetaOf, Spec
from .result_view import ResultView, approval_json, result_view

with extra("pydantic-ai"):
    from pydantic_ai import RunContext
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed
    from pydantic_ai.messages import ToolReturn
    from pydantic_ai.models import Model
    from pydantic_ai.tools import AgentDepsT, ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

    from .llm.blocks import accepted_media_types, blocks_content

_ANY: Final = SchemaValidator(core_schema.any_schema())
"""Leaves the arguments to toolgen, whose issues have an example."""


def pydantic_ai_toolset(
    snapshot: Snapshot,
    meta: MetaOf[RunContext[AgentDepsT]] = NO_META,
    *,
    id: str = "toolgen",
    max_retries: int = 3,
) -> SnapshotToolset[AgentDepsT]:
    """Return the tools of a snapshot as a toolset, for `Agent(toolsets=[…])` or one run.

    Args:
        snapshot: What is offered.
        meta: The facts of each call, or what returns them of the run's context; never of the model.
        id: Of the toolset, unique among those of the agent.
        max_retries: How often in a row a tool may be called with arguments that do not fit.
    """
    return SnapshotToolset(snapshot, meta, id=id, max_retries=max_retries)


class SnapshotToolset(AbstractToolset[AgentDepsT]):
    """Made by `pydantic_ai_toolset`."""

    def __init__(
        self, snapshot: Snapshot, meta: MetaOf[RunContext[AgentDepsT]], *, id: str, max_retries: int
    ) -> None:
        self._calls = FrameworkCalls(snapshot, meta)
        self._id = id
        self._max_retries = max_retries

    @property
    def id(self) -> str:
        return self._id

    async def get_instructions(self, ctx: RunContext[AgentDepsT]) -> str | None:
        """Return what the model is told with the tools."""
        return self._calls.snapshot.instructions or None

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Return the tools by wire name."""
        return {spec.name: self._tool(spec, description) for spec, description in self._calls.tools}

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> ToolReturn:
        """Return the result of a call, or of one that a person has approved.

        Raises:
            ApprovalRequired: a person has to approve it.
            CallDeferred: a person has to answer, or its work goes on elsewhere.
            ModelRetry: the arguments do not fit.
            ToolFailed: it failed or was denied.
        """
        meta = self._calls.meta_of(ctx, ctx.tool_call_id or "")
        if ctx.tool_call_approved:
            spec = next(one for one in self._calls.snapshot.specs if one.name == name)
            answer, by = _approval(ctx.tool_call_metadata)
            result = await self._calls.resume(spec, tool_args, meta, answer, by)
        else:
            result = await self._calls.call(name, tool_args, meta)
        return _returned(result_view(result), ctx.model if isinstance(ctx.model, Model) else None)

    async def deliver(self, token: str, answer: Json, meta: CallMeta) -> ToolReturn | ToolFailed:
        """Return what stands in `DeferredToolResults.calls` for a question, or for work that is over.

        The token is that of the metadata of the request, the answer fits its `answer_schema`.

        Raises:
            SuspensionError: the answer is not taken; the call still waits.
            CallDeferred: the tool has another question.
        """
        snapshot = self._calls.snapshot
        view = result_view(await snapshot.deliver(token, answer, session_id=meta.session_id))
        try:
            return _returned(view, None)
        except ModelRetry as error:
            return ToolFailed(error.message)
        except ToolFailed as error:
            return error

    def _tool(self, spec: Spec, description: str) -> ToolsetTool[AgentDepsT]:
        definition = ToolDefinition(
            name=spec.name,
            description=description,
            parameters_json_schema=spec.payload.schema,
            sequential=spec.is_sequential and spec.sequential_by in ("", SESSION),
            metadata={"id": spec.id, "tags": list(spec.tags), "hints": dict(spec.hints)},
        )
        return ToolsetTool(
            toolset=self, tool_def=definition, max_retries=self._max_retries, args_validator=_ANY
        )


def _approval(given: object) -> tuple[Json, str]:
    """Return a yes with what the host adds to it in `DeferredToolResults.metadata`, and who answers."""
    said = given if isinstance(given, Mapping) else {}
    added = {name: said[name] for name in ("message", "payload") if name in said}
    by = said.get("by")
    return {"approved": True, **added}, by if isinstance(by, str) else ""


def _returned(view: ResultView, model: Model | None) -> ToolReturn:
    """Return what the model reads, and beside it what only the application does.

    Raises:
        ApprovalRequired, CallDeferred, ModelRetry, ToolFailed: as `SnapshotToolset.call_tool`.
    """
    if view.approval is not None:
        asked = approval_json(view.approval, with_token=True)
        if view.approval.kind == "confirmation":
            raise ApprovalRequired(metadata=asked)
        raise CallDeferred(metadata=asked, kind="question")
    if view.work is not None and view.status == "suspended":
        raise CallDeferred(metadata=approval_json(view.work, with_token=True))
    if view.error is not None:
        failure = ModelRetry if view.error.is_repairable else ToolFailed
        raise failure(view.text)
    shown = blocks_content([one.as_json() for one in view.content], accepted_media_types(model))
    return ToolReturn(view.text, content=shown or None, metadata=view.as_json())

"""A pydantic-ai toolset for the tools of a snapshot: `toolgen[pydantic-ai]`.

A failed call raises: `ModelRetry` if the model can repair it, `ToolFailed` otherwise. A suspended call is
deferred, with the question and all arguments in the metadata of `DeferredToolRequests`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import SchemaValidator, core_schema

from toolgen.calls.call import NO_META
from toolgen.catalog.providers import Projection
from toolgen.contract.extras import extra
from toolgen.contract.json_value import Json
from toolgen.contract.names import SESSION
from toolgen.runtime import CallMeta, Snapshot, Suspended, ToolResult

from .framework_calls import FrameworkCall, FrameworkCalls, MetaOf, Spec, decoded, waits_of
from .result_view import ResultView, approval_json, result_view

with extra("pydantic-ai"):
    from pydantic_ai import RunContext
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed
    from pydantic_ai.messages import ModelResponse, ToolReturn
    from pydantic_ai.models import Model
    from pydantic_ai.tools import AgentDepsT, ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

    from toolgen.agents.llm.blocks import accepted_media_types, blocks_content
    from toolgen.agents.llm.declared_tools import known_dialect

__all__ = ["SnapshotToolset", "pydantic_ai_toolset"]

_ANY: Final = SchemaValidator(core_schema.any_schema())
"""Accepts any arguments, because toolgen validates them and adds an example to its issues."""


def pydantic_ai_toolset(
    snapshot: Snapshot,
    meta: MetaOf[RunContext[AgentDepsT]] = NO_META,
    *,
    id: str = "toolgen",
    max_retries: int = 3,
) -> SnapshotToolset[AgentDepsT]:
    """Return the tools of a snapshot as a toolset, for `Agent(toolsets=[…])` or one run.

    Args:
        snapshot: The tools to offer.
        meta: Facts of each call, or a function that derives them from the run's context; never from the
            model.
        id: Id of the toolset, unique among the toolsets of the agent.
        max_retries: How often in a row a tool can be called with arguments that do not fit.
    """
    return SnapshotToolset(snapshot, meta, id=id, max_retries=max_retries)


class SnapshotToolset(AbstractToolset[AgentDepsT]):
    """pydantic-ai toolset, created by `pydantic_ai_toolset`."""

    def __init__(
        self, snapshot: Snapshot, meta: MetaOf[RunContext[AgentDepsT]], *, id: str, max_retries: int
    ) -> None:
        self._calls = FrameworkCalls(interface="pydantic-ai", snapshot=snapshot, meta=meta)
        self._id = id
        self._max_retries = max_retries

    @property
    def id(self) -> str:
        return self._id

    async def get_instructions(self, ctx: RunContext[AgentDepsT]) -> str | None:
        """Return the instructions for the model that belong to the tools."""
        return self._calls.snapshot.instructions or None

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Return the tools by the names that the model sees."""
        if (dialect := _dialect(ctx.model)) is None:
            return {
                spec.name: self._tool(spec, spec.name, description, spec.payload.schema, strict=None)
                for spec, description in self._calls.tools
            }
        return {
            projection.name: self._tool(
                spec,
                projection.name,
                projection.description,
                dict(projection.schema),
                strict=_strict(projection),
            )
            for spec, projection in self._calls.projected(dialect)
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Json],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> ToolReturn:
        """Return the result of a call, or of the suspended call that a person has approved.

        Raises:
            ApprovalRequired: A person has to approve the call.
            CallDeferred: A person has to answer, or the work continues elsewhere.
            ModelRetry: The arguments do not fit.
            ToolFailed: The call failed or was denied.
        """
        id_ = ctx.tool_call_id or ""
        called, arguments = self._called(ctx.model, name, tool_args)
        call = self._calls.named(ctx, called, arguments, id_, _checkpoint(ctx, id_))
        with call.among_siblings():
            suspended = await call.question() if ctx.tool_call_approved else None
            result = await (
                call.result() if suspended is None else _approved(call, suspended, ctx.tool_call_metadata)
            )
        return _returned(result_view(result), ctx.model if isinstance(ctx.model, Model) else None)

    async def deliver(self, token: str, answer: Json, meta: CallMeta) -> ToolReturn | ToolFailed:
        """Return the value for `DeferredToolResults.calls` after an answer, or after the end of the work.

        The token is from the metadata of the request, and the answer must fit its `answer_schema`.

        Raises:
            SuspensionError: The answer is not accepted; the call stays suspended.
            CallDeferred: The tool has another question.
        """
        snapshot = self._calls.snapshot
        answered = waits_of(snapshot).answer_as_caller(token, answer, session_id=meta.session_id)
        view = result_view(await answered)
        try:
            return _returned(view, None)
        except ModelRetry as error:
            return ToolFailed(error.message)
        except ToolFailed as error:
            return error

    def _called(
        self, model: object, name: str, arguments: dict[str, Json]
    ) -> tuple[str, Mapping[str, Json] | str]:
        """Return the wire name of a tool, and the model's arguments in the form of the tool's own schema."""
        dialect = _dialect(model)
        for spec, projection in self._calls.projected(dialect) if dialect else ():
            if projection.name == name:
                return spec.name, decoded(projection, arguments)
        return name, arguments

    def _tool(
        self, spec: Spec, name: str, description: str, schema: dict[str, object], *, strict: bool | None
    ) -> ToolsetTool[AgentDepsT]:
        definition = ToolDefinition(
            name=name,
            description=description,
            parameters_json_schema=schema,
            strict=strict,
            sequential=spec.is_sequential and spec.sequential_by in ("", SESSION),
            metadata={"id": spec.id, "tags": list(spec.tags), "hints": dict(spec.hints)},
        )
        return ToolsetTool(
            toolset=self, tool_def=definition, max_retries=self._max_retries, args_validator=_ANY
        )


def _dialect(model: object) -> str | None:
    """Return the dialect of a model with a known wire format; None if pydantic-ai adapts the schema."""
    return known_dialect(model, strict=True) if isinstance(model, Model) else None


def _strict(projection: Projection) -> bool | None:
    """Return the `strict` flag for pydantic-ai; None if the API has none."""
    return projection.is_strict if projection.dialect.is_strict else None


async def _approved(call: FrameworkCall, suspended: Suspended, approval: object) -> ToolResult:
    """Approve a call with the host's additions in `DeferredToolResults.metadata`, and return its result.

    There, `id` names the question, and `by` the person who answers.
    """
    facts = approval if isinstance(approval, Mapping) else {}
    by = facts["by"] if isinstance(facts.get("by"), str) else ""
    answer: Json = {
        "approved": True,
        **{name: facts[name] for name in ("message", "payload") if name in facts},
    }
    if "id" not in facts:
        return await call.answer_by_call(suspended, answer, by)
    return await call.answer(suspended, {"id": str(facts["id"]), "answer": answer, "by": by})


def _checkpoint(ctx: RunContext[Any], tool_call_id: str) -> str:
    """Return the model response that contains a call; it is the same if a later run continues the call."""
    for message in reversed(ctx.messages):
        if isinstance(message, ModelResponse) and any(
            part.tool_call_id == tool_call_id for part in message.tool_calls
        ):
            return f"{message.run_id}/{message.timestamp.timestamp()}"
    return ""


def _returned(view: ResultView, model: Model | None) -> ToolReturn:
    """Return the text for the model, with metadata that only the application reads.

    Raises:
        ApprovalRequired, CallDeferred, ModelRetry, ToolFailed: See `SnapshotToolset.call_tool`.
    """
    if view.approval is not None:
        suspended = approval_json(view.approval, with_token=True)
        if view.approval.kind == "confirmation":
            raise ApprovalRequired(metadata=suspended)
        raise CallDeferred(metadata=suspended, kind="question")
    if view.work is not None and view.status == "suspended":
        raise CallDeferred(metadata=approval_json(view.work, with_token=True))
    if view.error is not None:
        failure = ModelRetry if view.error.is_repairable else ToolFailed
        raise failure(view.text)
    shown = blocks_content([block.as_json() for block in view.content], accepted_media_types(model))
    return ToolReturn(view.text, content=shown or None, metadata=view.as_json())

"""A toolset that an agent implements: each call starts a run of the agent."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..results import Delegated
from ..steps.result_encoding import render_template

if TYPE_CHECKING:
    from ..context import ToolContext
    from ..specs import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRoute:
    """The agent that implements a toolset; used in the place of an executor."""

    agent: str
    """Id."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """By tool id, the message to the agent; `{field}` stands for an argument. Without one, it is the
    canonical JSON of the payload."""

    def method_of(self, spec: ToolSpec[Any, Any]) -> Callable[[Any, ToolContext], Awaitable[Delegated]]:
        """Return the function of one tool: it returns which run must answer."""
        prompt = self.prompts.get(spec.id)

        async def delegate(payload: Any, ctx: ToolContext) -> Delegated:
            document: bytes = spec.payload.encode(payload)
            text = document.decode()
            message = text if prompt is None else render_template(prompt, json.loads(document), longest=None)
            return Delegated(agent=self.agent, message=message)

        delegate.starts_run = True  # type: ignore[attr-defined]  # it does nothing else; see `Entry.runs_once`
        return delegate

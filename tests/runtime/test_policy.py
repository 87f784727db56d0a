"""A policy and a preview look at a copy of what was frozen: nothing that they do changes what runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolgen.runtime import (
    Allow,
    Ask,
    BoundTool,
    CallMeta,
    Continue,
    Decision,
    Hook,
    Runtime,
    StaticToolset,
    ToolCall,
    ToolSpec,
)
from toolgen.runtime.toolsets.functions import func_tool
from toolgen.runtime.waiting.sqlite import SqliteSuspensionStore

META = CallMeta(session_id="s")


class Mail:
    """A tool with a list among its arguments, and what it was called with."""

    def __init__(self) -> None:
        self.sent: list[list[str]] = []
        made = func_tool(self.send, toolset="office.mail")
        self.tool: BoundTool = replace(made, preview=self.preview)

    async def send(self, to: list[str], text: str = "") -> int:
        """Send a mail."""
        self.sent.append(to)
        return len(to)

    def preview(self, payload: Any) -> str:
        payload.to.append("preview@x.example")
        return f"To {', '.join(payload.to)}"


class Meddling:
    """Changes what it looks at, and keeps it."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        self.seen: list[tuple[list[str], bytes, str]] = []

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Decision:
        self.seen.append((list(call.payload.to), call.payload_json, preview))
        call.payload.to.append("policy@x.example")
        return self.decision


def office(mail: Mail, **host: Any) -> Runtime:
    runtime = Runtime(**host)
    runtime.register(StaticToolset(name="office.mail", bound=(mail.tool,)))
    return runtime


@pytest.mark.parametrize("hooks", [(), (Hook(),)])
async def test_what_a_policy_or_a_preview_changes_does_not_run(hooks: tuple[Hook, ...]) -> None:
    mail, policy = Mail(), Meddling(Allow())
    result = await office(mail, policy=policy, hooks=hooks).call("send", {"to": ["a@x.example"]}, META)
    assert (result.status, mail.sent) == ("ok", [["a@x.example"]])
    ((to, frozen, preview),) = policy.seen
    assert (to, preview) == (["a@x.example"], "To a@x.example, preview@x.example")
    assert frozen == b'{"to":["a@x.example"],"text":""}'


async def test_nor_does_it_once_a_person_has_approved(tmp_path: Path) -> None:
    mail, policy = Mail(), Meddling(Ask(question="Send it?"))
    store = SqliteSuspensionStore(tmp_path / "s.db")
    runtime = office(mail, policy=policy, suspensions=store)
    waiting = (await runtime.call("send", {"to": ["a@x.example"]}, META)).suspension
    assert waiting is not None
    done = await runtime.deliver(waiting.token, {"approved": True})
    assert (done.status, mail.sent) == ("ok", [["a@x.example"]])


async def test_a_policy_sees_what_the_hooks_made_of_the_arguments() -> None:
    class Adds(Hook):
        async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Continue:
            return Continue(payload=payload.model_copy(update={"to": ["hook@x.example"]}))

    mail, policy = Mail(), Meddling(Allow())
    await office(mail, policy=policy, hooks=[Adds()]).call("send", {"to": ["a@x.example"]}, META)
    assert (policy.seen[0][0], mail.sent) == (["hook@x.example"], [["hook@x.example"]])

"""A policy and a preview look at a copy of what was frozen: nothing that they do changes what runs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field

from tests.agents.tools import Resetting, resetting
from tests.runtime.tools import waiting
from toolgen.calls.errors import RegistrationError
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ToolAuthorization
from toolgen.runtime import (
    Allow,
    Ask,
    BoundTool,
    CallMeta,
    ConfirmSpec,
    Continue,
    Decision,
    Deny,
    Hook,
    Runtime,
    StaticToolset,
    ToolCall,
    ToolResult,
    ToolSpec,
)

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
    runtime.tools.register(StaticToolset(name="office.mail", bound=(mail.tool,)))
    return runtime


@pytest.mark.parametrize("hooks", [(), (Hook(),)])
async def test_what_a_policy_or_a_preview_changes_does_not_run(hooks: tuple[Hook, ...]) -> None:
    mail, policy = Mail(), Meddling(Allow())
    result = await office(mail, policy=policy, hooks=hooks).call("send", {"to": ["a@x.example"]}, META)
    assert (result.status, mail.sent) == ("ok", [["a@x.example"]])
    ((to, frozen, preview),) = policy.seen
    assert (to, preview) == (["a@x.example"], "To a@x.example, preview@x.example")
    assert frozen == b'{"to":["a@x.example"],"text":""}'


async def test_nor_does_it_once_a_person_has_approved(engine: InProcessEngine) -> None:
    mail, policy = Mail(), Meddling(Ask(question="Send it?"))
    runtime = office(mail, policy=policy, engine=engine)
    waiting = (await runtime.call("send", {"to": ["a@x.example"]}, META)).suspension
    assert waiting is not None
    done = await runtime.suspensions.answer(waiting.token, {"approved": True})
    assert (done.status, mail.sent) == ("ok", [["a@x.example"]])


async def test_a_policy_sees_what_the_hooks_made_of_the_arguments() -> None:
    class Adds(Hook):
        async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Continue:
            return Continue(payload=payload.model_copy(update={"to": ["hook@x.example"]}))

    mail, policy = Mail(), Meddling(Allow())
    await office(mail, policy=policy, hooks=[Adds()]).call("send", {"to": ["a@x.example"]}, META)
    assert (policy.seen[0][0], mail.sent) == (["hook@x.example"], [["hook@x.example"]])


class Then:
    """Decides one thing after the other, and the last one from then on."""

    def __init__(self, *decisions: Decision) -> None:
        self.left = list(decisions)
        self.seen: list[tuple[bytes, str]] = []

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Decision:
        self.seen.append((call.payload_json, preview))
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


async def approved(mail: Mail, policy: Then, engine: InProcessEngine, **host: Any) -> ToolResult:
    """Return the result of a call that a person has approved."""
    runtime = office(mail, policy=policy, engine=engine, **host)
    asked = waiting(await runtime.call("send", {"to": ["a@x.example"]}, META))
    return await runtime.suspensions.answer(asked.token, {"approved": True})


async def test_a_policy_that_changed_its_mind_denies_what_a_person_approved(engine: InProcessEngine) -> None:
    events = Events()
    mail, policy = Mail(), Then(Ask(question="Send it?"), Deny(message="it is night"))
    async with events.subscribe(types=["tool_authorization"]) as subscription:
        result = await approved(mail, policy, engine, events=events)
        events.close()
        told = [event async for event in subscription if isinstance(event, ToolAuthorization)]
    assert (result.status, mail.sent) == ("denied", [])
    assert json.loads(result.json) == {"error": "it is night", "code": "denied"}
    assert [(event.decision, event.decided_by) for event in told] == [
        ("approved", "person"),
        ("denied", "policy"),
    ]
    assert policy.seen[0] == policy.seen[1], "it sees the call as it was frozen"


@pytest.mark.parametrize("second", [Ask(question="Send it?"), Ask(question="Really?"), Allow()], ids=repr)
async def test_what_a_policy_asks_again_counts_as_answered(engine: InProcessEngine, second: Decision) -> None:
    mail, policy = Mail(), Then(Ask(question="Send it?"), second)
    assert (await approved(mail, policy, engine)).status == "ok"
    assert (len(policy.seen), mail.sent) == (2, [["a@x.example"]])


async def test_a_policy_may_deny_what_the_design_had_confirmed(engine: InProcessEngine) -> None:
    mail, policy = Mail(), Then(Allow(), Deny(message="it is night"))
    mail.tool = replace(mail.tool, spec=replace(mail.tool.spec, confirm=ConfirmSpec()))
    assert ((await approved(mail, policy, engine)).status, mail.sent) == ("denied", [])


async def test_a_policy_that_fails_after_an_approval_lets_nothing_run(engine: InProcessEngine) -> None:
    class Breaks(Then):
        async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Decision:
            decision = await super().decide(call, spec, preview)
            if len(self.seen) > 1:
                raise RuntimeError("the directory is away")
            return decision

    mail = Mail()
    result = await approved(mail, Breaks(Ask(question="Send it?")), engine)
    assert (result.status, mail.sent) == ("error", [])
    assert b"directory" not in result.json


async def test_a_policy_is_not_asked_about_what_a_person_denied(engine: InProcessEngine) -> None:
    mail, policy = Mail(), Then(Ask(question="Send it?"))
    runtime = office(mail, policy=policy, engine=engine)
    asked = waiting(await runtime.call("send", {"to": ["a@x.example"]}, META))
    assert (await runtime.suspensions.answer(asked.token, {"approved": False})).status == "denied"
    assert len(policy.seen) == 1


async def test_interceptors_run_again_and_what_they_fill_is_in_no_journal(engine: InProcessEngine) -> None:
    class Users:
        fills = frozenset({"user_id"})
        count = 0

        async def intercept(self, call: ToolCall, payload: Any) -> None:
            self.count += 1
            payload.set_user_id(f"u-secret-{self.count}")

    users, executor = Users(), Resetting()
    made = Runtime(engine=engine, interceptors=[users])
    made.tools.register(resetting(executor))
    asked = waiting(await made.call("factory_reset", {"device_id": "h01"}, META))
    before = users.count
    await made.suspensions.answer(asked.token, {"approved": True})
    assert executor.asked == [f"h01 for u-secret-{users.count}"]
    assert users.count == before + 1
    status = await engine.status(asked.run_id)
    told = [event async for event in engine.events(asked.run_id, follow=False)]
    assert "u-secret" not in json.dumps([status.input, status.output, told])


async def test_a_policy_and_a_preview_may_say_what_is_no_text(engine: InProcessEngine) -> None:
    mail = Mail()
    mail.tool = replace(mail.tool, preview=lambda payload: "To \udce9")
    runtime = office(mail, policy=Then(Ask(question="Send \udce9?")), engine=engine)
    asked = waiting(await runtime.call("send", {"to": ["a@x.example"]}, META))
    assert (asked.question, asked.preview) == ("Send ??", "To ?")
    assert (await runtime.suspensions.answer(asked.token, {"approved": True})).status == "ok"


NO_TEXT: Any = b"Send it?"
NOTHING: Any = None


@pytest.mark.parametrize(
    ("decision", "mistake"),
    [
        (Ask(question=NO_TEXT), "the policy returned a question of type bytes; it must be a string"),
        (Deny(message=NOTHING), "the policy returned a message of type NoneType; it must be a string"),
    ],
)
async def test_a_policy_whose_text_is_no_string_lets_nothing_run(
    engine: InProcessEngine, decision: Decision, mistake: str, caplog: pytest.LogCaptureFixture
) -> None:
    """And the log says whose mistake it is."""
    mail = Mail()
    runtime = office(mail, policy=Then(decision), engine=engine)
    result = await runtime.call("send", {"to": ["a@x.example"]}, META)
    assert (result.status, mail.sent) == ("error", [])
    assert mistake in caplog.text


@pytest.mark.parametrize(
    ("policy", "message", "hint"),
    [
        (Then, "the policy Then is a class", "pass an instance: Then(…)"),
        ("allow", "the policy str has no method decide", "add `async def decide(self, call"),
    ],
)
def test_what_cannot_decide_is_refused(policy: Any, message: str, hint: str) -> None:
    with pytest.raises(RegistrationError, match=message) as raised:
        Runtime(policy=policy)
    assert str(raised.value.hint).startswith(hint)


class Command(BaseModel):
    path: str
    flags: str = Field(default="", exclude=True)


class Allowing:
    """Allows calls, by their encoded arguments."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    async def decide(self, call: ToolCall, spec: ToolSpec, preview: str) -> Decision:
        self.seen.append(call.payload_json)
        return Allow()


async def test_what_a_policy_allows_is_what_runs() -> None:
    """A field that the type does not write is in nothing that a policy sees."""
    ran: list[Command] = []

    async def run(command: Command) -> str:
        """Run."""
        ran.append(command)
        return "done"

    policy = Allowing()
    runtime = Runtime(policy=policy)
    runtime.tools.register(function_toolset("x.shell", [run]))
    result = await runtime.call("run", {"command": {"path": "/srv/a", "flags": "--force"}}, META)
    assert result.status == "ok"
    assert policy.seen == [b'{"command":{"path":"/srv/a"}}']
    assert ran == [Command(path="/srv/a")]

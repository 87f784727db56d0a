"""Answers to approvals that count for further calls of their session."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest

from gen.assistant.toolsets import devices
from tests.runtime.granting import (
    ANYWHERE,
    BELOW,
    META,
    SAFE,
    TOOL,
    Host,
    asked,
    granted,
    policy,
    status,
)
from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.events.records import ToolAuthorization
from toolgen.runtime import (
    Allow,
    Ask,
    CallMeta,
    ConfirmSpec,
    Deny,
    RegistrationError,
    Runtime,
    Suspended,
    ToolContext,
    ToolOutcome,
    Unfinished,
)
from toolgen.runtime.functions import Sensitive, func_tool, function_toolset
from toolgen.waiting import (
    BadAnswerError,
    CallName,
    UnknownGrantError,
    requester_may_not_approve,
)


@pytest.fixture(params=["memory", "file"])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    return Host(None if request.param == "memory" else tmp_path / "runs.db")


async def test_a_grant_lets_so_many_further_calls_run(host: Host) -> None:
    async with host.runtime() as runtime:
        grant = await granted(runtime)
        assert (grant.granted_by, grant.uses, grant.used, grant.tool) == ("jo", 2, 0, "x.disk.write")
        result = await runtime.call(TOOL, {"path": "/srv/b"}, META)
        assert result.approved_by == "approved by jo at 1970-01-12 13:46:40 UTC"
        assert [await status(runtime) for _ in range(2)] == ["ok", "suspended"]
        assert host.disk.written == ["/srv/a", "/srv/b", "/srv/b"]
        (grant,) = await runtime.suspensions.grants("s")
        assert grant.used == 2
        assert grant.approved_by == "approved by jo at 1970-01-12 13:46:40 UTC"


async def test_calls_at_the_same_time_never_take_one_use_twice(host: Host) -> None:
    async with host.runtime() as runtime:
        await granted(runtime, {"expires_s": 60, "uses": 3})
        statuses = await asyncio.gather(*[status(runtime, f"/srv/{name}") for name in "bcdefgh"])
        assert sorted(statuses) == ["ok"] * 3 + ["suspended"] * 4
        assert len(host.disk.written) == 4


async def test_a_grant_expires(host: Host) -> None:
    async with host.runtime() as runtime:
        await granted(runtime)
        host.clock.now += 60
        assert await status(runtime) == "suspended"
        assert await runtime.suspensions.grants("s") == ()


async def test_a_revoked_grant_is_used_no_more(host: Host) -> None:
    async with host.runtime() as runtime:
        grant = await granted(runtime)
        with pytest.raises(UnknownGrantError):
            await runtime.suspensions.revoke(grant.id, session_id="other", by="jo")
        await runtime.suspensions.revoke(grant.id, session_id="s", by="jo")
        await runtime.suspensions.revoke(grant.id)
        assert await runtime.suspensions.grants("s") == ()
        assert await status(runtime) == "suspended"
        with pytest.raises(UnknownGrantError):
            await runtime.suspensions.revoke("grant_other")
        with pytest.raises(UnknownGrantError):
            await runtime.suspensions.revoke(grant.tool)


@pytest.mark.parametrize(
    "other",
    [
        replace(META, session_id="other"),
        replace(META, requested_by="jo"),
        replace(META, requested_by=""),
        replace(META, agent="x.helper"),
        replace(META, labels={"tenant": "b"}),
        replace(META, session_id=""),
    ],
)
async def test_it_counts_for_its_session_requester_agent_and_labels_only(host: Host, other: CallMeta) -> None:
    async with host.runtime() as runtime:
        await granted(runtime)
        assert await status(runtime, meta=other) == "suspended"


async def test_a_pattern_compares_the_arguments(host: Host) -> None:
    async with host.runtime() as runtime:
        await granted(runtime, {**ANYWHERE, **BELOW})
        paths = ("/srv/../etc", "/srvx", "/etc", "/srv/b")
        assert [await status(runtime, path) for path in paths] == ["suspended"] * 3 + ["ok"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (r'{"path": "/srv/b", "path": "/etc"}', "suspended"),
        (r'{"path": "/etc", "path": "\u002fsrv/b"}', "ok"),
        (r'{"path": "/srv/\u002e\u002e/etc"}', "suspended"),
        (r'{"path": "/srv/b\u0000"}', "suspended"),
        (r'{"path": "/srv/%2e%2e/etc"}', "suspended"),
        (r'{"path": "/SRV/b"}', "suspended"),
    ],
)
async def test_a_pattern_compares_what_runs_and_not_what_was_written(arguments: str, expected: str) -> None:
    host = Host()
    async with host.runtime() as runtime:
        await granted(runtime, {**ANYWHERE, **BELOW})
        assert (await runtime.call(TOOL, arguments, META)).status == expected
    assert host.disk.written == ["/srv/a", *(["/srv/b"] if expected == "ok" else [])]


async def test_a_changed_tool_asks_again(tmp_path: Path) -> None:
    host = Host(tmp_path / "runs.db")
    async with host.runtime() as runtime:
        await granted(runtime)
    host.facts["annotations"] = {"destructive": False, "open_world": False}
    async with host.runtime() as runtime:
        assert await status(runtime) == "suspended"
    host.facts["annotations"] = SAFE
    async with host.runtime() as runtime:
        assert await status(runtime) == "ok"
    host.facts["confirm"] = ConfirmSpec()
    async with host.runtime() as runtime:
        assert await status(runtime) == "suspended"


async def test_another_secret_does_not_count(tmp_path: Path) -> None:
    host = Host(tmp_path / "runs.db")
    async with host.runtime() as runtime:
        await granted(runtime)
    host.how = {"secret": bytes(16)}
    async with host.runtime() as runtime:
        assert await runtime.suspensions.grants("s") == ()
        assert await status(runtime) == "suspended"


async def test_a_grant_answers_a_policy_that_asks_and_none_that_denies(tmp_path: Path) -> None:
    host = Host(tmp_path / "runs.db")
    async with host.runtime() as runtime:
        await granted(runtime)
    for decision, expected in (
        (Deny(message="no"), "denied"),
        (Ask(question="sure?"), "ok"),
        (Allow(), "ok"),
        (Ask(question="?"), "suspended"),
    ):
        host.policy = policy(decision)
        async with host.runtime() as runtime:
            assert await status(runtime) == expected


async def refused(runtime: Runtime, answer: Any, by: str = "jo") -> str:
    waiting = await asked(runtime)
    with pytest.raises(BadAnswerError) as raised:
        await runtime.suspensions.answer(waiting.token, answer, by=by)
    return f"{raised.value.message}; {raised.value.hint}"


async def test_an_answer_grants_only_where_it_may(host: Host) -> None:
    async with host.runtime() as runtime:
        yes: dict[str, Any] = {"approved": True, "grant": ANYWHERE}
        assert "grant" in (await asked(runtime)).answer_schema["properties"]
        assert "the name of the person" in await refused(runtime, yes, by="")
        assert "cannot grant further calls" in await refused(runtime, {**yes, "approved": False})
        assert "grant.uses" in await refused(runtime, {**yes, "grant": {"expires_s": 60}})
        assert "grant.uses" in await refused(runtime, {**yes, "grant": {"expires_s": 60, "uses": 1000}})
        assert "grant.expires_s" in await refused(runtime, {**yes, "grant": {"expires_s": 1e9, "uses": 1}})
        assert "grant.tool" in await refused(runtime, {**yes, "grant": {**ANYWHERE, "tool": "y"}})
        regex = {**ANYWHERE, "pattern": {"/path": {"matches": ".*"}}}
        assert "is not a condition" in await refused(runtime, {**yes, "grant": regex})
        typo = {**ANYWHERE, "pattern": {"/pth": {"equal": "a"}}}
        assert "'/pth', which is not an argument of" in await refused(runtime, {**yes, "grant": typo})
    host.facts["annotations"] = {}  # and so destructive
    async with host.runtime() as runtime:
        assert "grant.pattern" in await refused(runtime, yes)
    host.facts = {"annotations": SAFE, "confirm": ConfirmSpec()}
    async with host.runtime() as runtime:
        assert "grant" not in (await asked(runtime)).answer_schema["properties"]
        assert "Confirm(…, grantable=True)" in await refused(runtime, yes)
    assert host.disk.written == []


async def by_itself(asked: Suspended, answer: Any, by: str) -> str:
    return "not you" if by == asked.requested_by else ""


@pytest.mark.parametrize("rule", [requester_may_not_approve, by_itself])
async def test_a_rule_that_wants_a_second_person_excludes_grants(tmp_path: Path, rule: Any) -> None:
    host = Host(tmp_path / "runs.db")
    async with host.runtime() as runtime:
        await granted(runtime)
        waiting = await asked(runtime, meta=replace(META, session_id="t"))
    host.options = {"rule": rule}
    async with host.runtime() as runtime:
        assert "grant" not in (await asked(runtime)).answer_schema["properties"]
        answer: Any = {"approved": True, "grant": ANYWHERE}
        with pytest.raises(BadAnswerError, match="second person"):
            await runtime.suspensions.answer(waiting.token, answer, by="jo")


async def test_an_approval_that_the_tool_asks_itself_grants_nothing() -> None:
    async def wipe(ctx: ToolContext) -> str | Unfinished:
        """Wipe."""
        return "done" if ctx.approved("Sure?") else ToolOutcome.approval("Sure?")

    runtime = Runtime(engine=InProcessEngine())
    tool = func_tool(wipe, toolset="x.disk", annotations=SAFE, confirm=ConfirmSpec(grantable=True))
    runtime.tools.register(function_toolset("x.disk", [tool]))
    async with runtime:
        first = (await runtime.call("wipe", {}, META)).suspension
        assert first is not None
        answer: Any = {"approved": True, "grant": ANYWHERE}
        second = (await runtime.suspensions.answer(first.token, answer, by="jo")).suspension
        assert second is not None
        assert "grant" not in second.answer_schema["properties"]
        again = (await runtime.call("wipe", {}, META)).suspension  # by the grant, and asks itself
        assert again is not None
        assert again.question == "Sure?"
        assert (await runtime.suspensions.answer(again.token, {"approved": True})).status == "ok"
        (grant,) = await runtime.suspensions.grants("s")
        assert grant.used == 1


async def test_an_answer_of_a_peer_grants_only_if_the_host_says_so(host: Host) -> None:
    answer: Any = {"approved": True, "grant": ANYWHERE}
    async with host.runtime() as runtime:
        waiting = await asked(runtime)
        with pytest.raises(BadAnswerError, match="cannot grant further calls"):
            await runtime.suspensions.answer_as_caller(waiting.token, answer, by="jo")
        with pytest.raises(BadAnswerError, match="cannot grant further calls"):
            await runtime.suspensions.answer_as_caller(waiting.token, answer, by="jo", wait_s=1)
    host.options = {"peers_may_grant": True}
    async with host.runtime() as runtime:
        waiting = await asked(runtime)
        await runtime.suspensions.answer_as_caller(waiting.token, answer, by="jo")
        assert len(await runtime.suspensions.grants("s")) == 1


async def test_each_use_names_who_approved_it() -> None:
    host, events = Host(), Events()
    host.how = {"events": events}
    async with events.subscribe(types=["tool_authorization"]) as subscription:
        async with host.runtime() as runtime:
            grant = await granted(runtime)
            assert await status(runtime) == "ok"
        events.close()
        _, used = [event async for event in subscription if isinstance(event, ToolAuthorization)]
    assert (used.decision, used.decided_by, used.answered_by) == ("approved", "person", "jo")
    assert (used.grant_id, used.reason) == (grant.id, "approved by jo at 1970-01-12 13:46:40 UTC")


@pytest.mark.asyncio(loop_factories=["virtual"])
@pytest.mark.parametrize("is_revoked", [False, True])
async def test_a_call_that_is_executed_again_keeps_its_use(tmp_path: Path, is_revoked: bool) -> None:
    host = Host(tmp_path / "runs.db")
    host.facts["annotations"] = {**SAFE, "idempotent": True}
    name = CallName(interface="test", call_id="c", is_idempotency_key=True)
    async with host.runtime() as runtime:
        grant = await granted(runtime, {"expires_s": 60, "uses": 1})
        host.disk.hold = asyncio.Event()
        call = asyncio.create_task(runtime.call_once(name, TOOL, {"path": "/srv/b"}, META))
        await host.disk.holding.wait()
    await asyncio.wait([call])
    host.disk.hold = None
    if is_revoked:
        async with host.runtime(worker=False) as client:
            await client.suspensions.revoke(grant.id, by="jo")
    async with host.runtime() as runtime:
        result = await runtime.call_once(name, TOOL, {"path": "/srv/b"}, META)
        assert result.status == ("suspended" if is_revoked else "ok")
        assert host.disk.written == ["/srv/a", "/srv/b", *([] if is_revoked else ["/srv/b"])]
        assert result.approved_by == ("" if is_revoked else grant.approved_by)
        assert [grant.used for grant in await runtime.suspensions.grants("s")] == ([] if is_revoked else [1])
        assert await status(runtime) == "suspended"


async def test_a_call_by_the_ids_of_another_one_takes_a_use_of_its_own(host: Host) -> None:
    meta = replace(META, run_id="r", tool_call_id="c")
    async with host.runtime() as runtime:
        await granted(runtime, {"expires_s": 60, "uses": 1})
        assert [await status(runtime, meta=meta) for _ in range(2)] == ["ok", "suspended"]


async def test_a_process_that_executes_no_runs_uses_no_grant(tmp_path: Path) -> None:
    host = Host(tmp_path / "runs.db")
    async with host.runtime() as runtime:
        await granted(runtime)
        async with host.runtime(worker=False) as client:
            call = asyncio.create_task(status(client))
            assert await call == "suspended"
        assert (await runtime.suspensions.grants("s"))[0].used == 0


async def test_a_pattern_names_no_sensitive_argument() -> None:
    async def pay(card: Annotated[str, Sensitive()], amount: int) -> str:
        """Pay."""
        return "paid"

    runtime = Runtime(engine=InProcessEngine())
    tool = func_tool(pay, toolset="x.bank", annotations=SAFE, confirm=ConfirmSpec(grantable=True))
    runtime.tools.register(function_toolset("x.bank", [tool]))
    async with runtime:
        arguments: dict[str, Any] = {"card": "4111", "amount": 1}
        waiting = (await runtime.call("pay", arguments, META)).suspension
        assert waiting is not None
        for place, value in (("/card", "4111"), ("", arguments), ("/card/0", "4")):
            answer: Any = {"approved": True, "grant": {**ANYWHERE, "pattern": {place: {"equal": value}}}}
            with pytest.raises(BadAnswerError, match="which is sensitive"):
                await runtime.suspensions.answer(waiting.token, answer, by="jo")
        answer = {"approved": True, "grant": {**ANYWHERE, "pattern": {"/amount": {"equal": 1}}}}
        assert (await runtime.suspensions.answer(waiting.token, answer, by="jo")).status == "ok"
        assert (await runtime.call("pay", {"card": "4222", "amount": 1.0}, META)).status == "ok"


def test_what_grants_further_calls_has_no_payload() -> None:
    host = Host()
    payload = devices.LIST_DEVICES.payload
    host.facts["confirm"] = ConfirmSpec(grantable=True, payload=payload)
    with pytest.raises(RegistrationError, match="'write' is grantable, but its approval has a payload"):
        host.runtime()

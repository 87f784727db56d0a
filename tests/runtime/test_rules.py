"""A policy of rules: deny wins over ask, ask over allow, whatever their order."""

from __future__ import annotations

import itertools
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgen.calls.functions.tools import func_tool
from toolgen.engines import InProcessEngine
from toolgen.runtime import Allow, Ask, CallMeta, ConfirmSpec, Deny, RegistrationError, Runtime, ToolCall
from toolgen.runtime.functions import function_toolset
from toolgen.runtime.rules import ArgumentPattern, RulePolicy

META = CallMeta(session_id="s")
RULES: list[Any] = [
    {"decision": "allow", "tool": "disk.files.read"},
    {"decision": "ask", "tag": "files", "reason": "May it touch files?"},
    {"decision": "deny", "arguments": {"/path": {"path_prefix": "/etc"}}},
    {
        "decision": "deny",
        "annotations": {"destructive": True, "read_only": False},
        "reason": "Nothing is lost.",
    },
    {"decision": "allow", "arguments": {"/path": {"path_prefix": "/srv/data"}}},
]


async def read(path: str) -> str:
    """Read a file."""
    return f"read {path}"


async def delete(path: str, *, force: bool = False) -> str:
    """Delete a file."""
    return f"deleted {path}"


async def add(path: str | None = None) -> str:
    """Add a file."""
    return "added"


READ = func_tool(read, toolset="disk.files", annotations={"read_only": True})
DELETE = func_tool(delete, toolset="disk.files", annotations={"destructive": True}, tags=("files",))
ADD = func_tool(add, toolset="disk.files", annotations={"destructive": False}, tags=("files", "new"))


def desk(policy: RulePolicy, **options: Any) -> Runtime:
    runtime = Runtime(policy=policy, engine=InProcessEngine(), **options)
    runtime.tools.register(function_toolset("disk.files", [READ, DELETE, ADD]))
    return runtime


async def decided(policy: RulePolicy, tool: Any, arguments: str) -> Allow | Ask | Deny:
    call = ToolCall(tool=tool.spec.id, payload_json=arguments.encode())
    return await policy.decide(call, tool.spec, "")


async def test_deny_wins_over_ask_and_ask_over_allow_in_any_order() -> None:
    for rules in itertools.permutations(RULES):
        policy = RulePolicy(rules)
        assert await decided(policy, READ, '{"path": "/srv/data/x"}') == Allow()
        assert await decided(policy, ADD, '{"path": "/srv/data/x"}') == Ask(question="May it touch files?")
        assert await decided(policy, DELETE, '{"path": "/srv/data/x"}') == Deny(message="Nothing is lost.")
        assert await decided(policy, READ, '{"path": "/etc/passwd"}') == Deny(
            message='read is denied by a rule of the host if path is "/etc" or a path below it'
        )


@pytest.mark.parametrize("path", ["/srv/../etc/passwd", "/ETC/passwd", "etc", "/%65tc", "/etc/", "//etc", ""])
async def test_what_may_be_a_denied_path_is_denied_and_no_allowed_one(path: str) -> None:
    patterns = {"/path": {"path_prefix": "/etc"}}
    restricting = RulePolicy([{"decision": "deny", "arguments": patterns}])
    assert isinstance(await decided(restricting, READ, f'{{"path": "{path}"}}'), Deny)
    asking = RulePolicy([{"decision": "ask", "arguments": patterns}])
    assert isinstance(await decided(asking, READ, f'{{"path": "{path}"}}'), Ask)
    allowing = RulePolicy([{"decision": "allow", "arguments": patterns}], otherwise="deny")
    expected = Allow if path == "/etc/" else Deny
    assert isinstance(await decided(allowing, READ, f'{{"path": "{path}"}}'), expected)


@given(st.sampled_from(["/etc", "/srv/etc", "/srv/data/etc"]), st.text(alphabet="/.\\%aE\u212a", max_size=6))
def test_a_pattern_in_doubt_covers_all_that_it_covers_otherwise(prefix: str, rest: str) -> None:
    pattern = ArgumentPattern.from_json({"/path": {"path_prefix": prefix}})
    arguments: dict[str, Any] = {"path": f"/etc{rest}"}
    assert pattern.matches(arguments) <= pattern.matches(arguments, in_doubt=True)


async def test_an_absent_path_is_below_no_prefix() -> None:
    policy = RulePolicy([{"decision": "deny", "arguments": {"/path": {"path_prefix": "/etc"}}}])
    for arguments in ("{}", '{"path": null}', '{"path": "/srv"}'):
        assert await decided(policy, ADD, arguments) == Allow()
    assert isinstance(await decided(policy, ADD, '{"path": ["/srv"]}'), Deny)


async def test_a_call_that_no_rule_covers_goes_as_before_or_as_otherwise_says() -> None:
    rule: Any = {"decision": "allow", "tool": "disk.files.read"}
    assert await decided(RulePolicy([rule]), ADD, "{}") == Allow()
    assert await decided(RulePolicy([rule], otherwise="ask"), ADD, "{}") == Ask()
    assert await decided(RulePolicy([rule], otherwise="ask"), READ, "{}") == Allow()
    assert await decided(RulePolicy([rule], otherwise="deny"), ADD, "{}") == Deny(
        message="add is not allowed with these arguments by the host's rules"
    )


async def test_a_runtime_decides_by_the_rules_of_a_toml_file() -> None:
    settings = tomllib.loads("""
        otherwise = "deny"
        [[rules]]
        decision = "ask"
        tag = "files"
        arguments = { "/path" = { path_prefix = "/srv/data" }, "/force" = { equal = false } }
        [[rules]]
        decision = "allow"
        tool = "disk.files.read"
    """)
    runtime = desk(RulePolicy(**settings))
    done = await runtime.call("read", {"path": "/x"}, META)
    assert done.json == b'"read /x"'
    asked = await runtime.call("delete", {"path": "/srv/data/old"}, META)
    assert asked.suspension is not None
    assert (await runtime.suspensions.answer(asked.suspension.token, {"approved": True})).status == "ok"
    denied = await runtime.call("delete", {"path": "/srv/data/old", "force": True}, META)
    assert denied.status == "denied"
    assert denied.error is not None
    assert denied.error.message == "delete is not allowed with these arguments by the host's rules"


async def test_an_allowed_call_is_still_confirmed_if_its_design_says_so() -> None:
    runtime = Runtime(
        policy=RulePolicy([{"decision": "allow", "tool": "a.b.read"}]), engine=InProcessEngine()
    )
    tool = func_tool(read, toolset="a.b", confirm=ConfirmSpec(hint="Read {path}?"))
    runtime.tools.register(function_toolset("a.b", [tool]))
    asked = (await runtime.call("read", {"path": "x"}, META)).suspension
    assert asked is not None
    assert asked.question == "Read x?"


async def test_a_grant_stands_in_for_a_rule_that_asks_and_for_none_that_denies() -> None:
    rules: list[Any] = [
        {"decision": "ask", "tool": "a.b.read", "reason": "May it read?"},
        {"decision": "deny", "arguments": {"/path": {"path_prefix": "/srv/secret"}}},
    ]
    runtime = Runtime(policy=RulePolicy(rules), engine=InProcessEngine())
    confirm = ConfirmSpec(grantable=True)
    runtime.tools.register(function_toolset("a.b", [func_tool(read, toolset="a.b", confirm=confirm)]))
    asked = (await runtime.call("read", {"path": "/srv/a"}, META)).suspension
    assert asked is not None
    assert asked.question == "May it read?"
    terms: dict[str, Any] = {"pattern": {"/path": {"path_prefix": "/srv"}}, "uses": 9, "expires_s": 60}
    await runtime.suspensions.answer(asked.token, {"approved": True, "grant": terms}, by="jo")
    paths = ("/srv/b", "/srv/secret/b", "/srv/./secret/b", "/srv/../b")
    statuses = [(await runtime.call("read", {"path": path}, META)).status for path in paths]
    assert statuses == ["ok", "denied", "denied", "denied"]


async def test_a_rule_that_names_no_tool_is_found_before_the_first_call() -> None:
    runtime = desk(RulePolicy([{"decision": "deny", "tool": "disk.files.remove"}]))
    with pytest.raises(
        RegistrationError, match=r"a rule names the tool 'disk\.files\.remove', which does not exist"
    ):
        await runtime.call("read", {"path": "x"}, META)


async def test_a_rule_with_an_argument_that_its_tool_does_not_have_lets_no_call_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    typo: Any = {
        "decision": "deny",
        "tool": "disk.files.read",
        "arguments": {"/pth": {"path_prefix": "/etc"}},
    }
    runtime = desk(RulePolicy([typo]))
    assert (await runtime.call("read", {"path": "/etc/passwd"}, META)).status == "error"
    assert "'/pth', which is not an argument of disk.files.read; its arguments: 'path'" in caplog.text
    assert (await runtime.call("add", {}, META)).status == "ok"


def test_all_mistakes_of_all_rules_are_named_at_once() -> None:
    wrong: Any = [
        {"decision": "refuse", "tool": ""},
        {"decision": "ask", "tools": "x", "arguments": {"/a": {"prefix": "/x"}}},
        {"decision": "allow"},
        {"decision": "deny", "annotations": {"destructive": 1, "fast": True}},
        "deny",
    ]
    with pytest.raises(RegistrationError) as caught:
        RulePolicy(wrong, otherwise="no")  # type: ignore[arg-type]  # the mistake
    assert caught.value.message.split("; rule ") == [
        "otherwise: 'no' is not a decision; write allow, ask or deny",
        "1: decision: 'refuse' is not a decision; write allow, ask or deny",
        "1: tool: write a non-empty string",
        "1: name a tool, a tag, annotations or arguments; `otherwise` decides about the remaining calls",
        '2: arguments: "/a": "prefix" is not a condition; write one of "equal", "one_of", "path_prefix"',
        "2: 'tools' is not a key of a rule; write one of decision, tool, tag, annotations, arguments, reason",
        "3: name a tool, a tag, annotations or arguments; `otherwise` decides about the remaining calls",
        "4: annotations: 'destructive': write true or false for one of "
        "read_only, destructive, idempotent, open_world, edit",
        "4: annotations: 'fast': write true or false for one of "
        "read_only, destructive, idempotent, open_world, edit",
        '5: write an object such as {"decision": "ask", "tag": "billing"}',
    ]

"""The instructions of an agent: values of the state, and functions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.agents.tools import agent
from toolgen.agents import InstructionsFunction, RunOutput, ScriptedPlanner, agents_of
from toolgen.calls.state import Change
from toolgen.capabilities import MemoryStateStore, StateCapability
from toolgen.runtime import ReadonlyContext, Runtime


async def told(
    text: str, function: InstructionsFunction | None = None, **values: object
) -> tuple[str, RunOutput]:
    """Return what a planner is told, and the output of its run, where a user has these values."""
    store = MemoryStateStore()
    for name, value in values.items():
        await store.apply("user", "ada", [Change(key=name, operation="set", value=value)])  # type: ignore[arg-type]  # JSON
    await store.apply("session", "s", [Change(key="topic", operation="set", value={"of": ["rain"]})])
    planner = ScriptedPlanner(["Done."])
    registration = agent("x.agent", planner)
    registration = replace(
        registration, spec=replace(registration.spec, instructions=text), instructions=function
    )
    async with Runtime(capabilities=[StateCapability(store, user=lambda meta: meta.requested_by)]) as runtime:
        agents_of(runtime).register(registration)
        client = agents_of(runtime).client("x.agent")
        output = await client.run("Go.", session_id="s", requested_by="ada")
    return (planner.inputs[0].agent_instructions if planner.inputs else ""), output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You help.", "You help."),
        ("You help {user:name}, {user:age}.", "You help Ada, 7."),
        ("About {topic}, {session:topic}.", 'About {"of":["rain"]}, {"of":["rain"]}.'),
        ("You help {user:nobody?}.", "You help ."),
        ('{{user:name}} and {"a": 1} and {} and { user }', '{user:name} and {"a": 1} and {} and { user }'),
    ],
)
async def test_values_of_the_state_stand_in_the_text(text: str, expected: str) -> None:
    assert (await told(text, name="Ada", age=7))[0] == expected


async def test_a_value_that_is_not_set_ends_the_run_with_its_name() -> None:
    _, output = await told("You help {user:name}.")
    assert output.status == "failed"
    assert "need the state key 'user:name', which is not set" in output.error
    assert "write {user:name?} if it can be absent" in output.error


async def test_a_function_adds_to_the_text() -> None:
    async def later(context: ReadonlyContext) -> str:
        return f"{context.meta.requested_by}: {context.state['user:name']}"

    text, _ = await told("You help.", later, name="Ada")
    assert text == "You help.\n\nada: Ada"
    text, _ = await told("", lambda context: context.meta.session_id)
    assert text == "s"


async def test_a_function_that_returns_no_text_ends_the_run() -> None:
    _, output = await told("", lambda _: None)  # type: ignore[arg-type,return-value]  # the fault
    assert "the instructions of agent 'x.agent' are NoneType, not a string" in output.error

"""Whoever looks at a client of MCP, or at tests of a design, sees that there is a sensitive value."""

from __future__ import annotations

from typing import Annotated

import pytest
from mcp import Client
from mcp.client._memory import InMemoryTransport

from tests.adapters.mcp.serving.desk import ERAS
from tests.adapters.mcp.serving.people import Person, accept
from tests.conftest import ProjectFolder
from tests.test_sensitive_commands import DESIGN, MAIN
from toolgen.adapters.mcp import server
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.secrets import HIDDEN
from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.runtime import ConfirmSpec, Runtime, ToolContext, ToolError
from toolgen.runtime.functions import Sensitive

CARD = "4111-OTTER"


async def pay(card: Annotated[str, Sensitive()], amount: int, ctx: ToolContext) -> str:
    """Pay."""
    ctx.progress(0.5, f"charging {card}")
    raise ToolError(f"the bank refuses {card}")


@pytest.mark.parametrize("era", ERAS)
async def test_no_question_progress_or_error_of_a_server_shows_a_value(era: str) -> None:
    told: list[str] = []

    async def keep(progress: float, total: float | None, message: str | None) -> None:
        told.append(str(message))

    async with Runtime(engine=InProcessEngine(), events=Events()) as runtime:
        tool = func_tool(pay, toolset="bank.cards", confirm=ConfirmSpec(hint="Pay {amount} with {card}?"))
        runtime.tools.register(function_toolset("bank.cards", [tool]))
        person = Person(accept(approved=True))
        transport = InMemoryTransport(server(runtime, session_id="s", approvals="elicitation").sdk)
        async with Client(transport, mode=era, elicitation_callback=person) as client:
            arguments = {"card": CARD, "amount": 3}
            result = await client.call_tool("pay", arguments, progress_callback=keep)
    [asked] = person.asked
    assert HIDDEN in asked.message
    assert result.is_error
    assert told
    for text in (asked.model_dump_json(), result.model_dump_json(), *told):
        assert CARD not in text


def test_an_example_that_fails_shows_no_value_of_its_result(project: ProjectFolder) -> None:
    """Its own arguments stand in the design."""
    example = 'Example({"card": "4000", "amount": 1}, result={"code": "EXPECTED", "receipt": "r2"})'
    design = DESIGN.replace("Design, Int", "Design, Example, Int").replace(
        "RETURN),", f"RETURN, {example}),", 1
    )
    project.write("app/design.py", design)
    project.write("app/main.py", MAIN)
    settings = (project.path / "pyproject.toml").read_text("utf-8")
    project.write("pyproject.toml", settings.replace("runtime = ", "test_runtime = "))
    assert project.run("gen").code == 0
    done = project.run("test")
    assert (done.code, '"receipt": "r2"' in done.out) == (1, True)
    for value in ("EXPECTED", "CANARYCODE"):
        assert value not in done.out + done.err

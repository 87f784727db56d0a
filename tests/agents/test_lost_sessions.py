"""Sessions whose runs a lost or restored journal does not have: they go on, or free themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.journal_desk import Desk
from tests.lab.agents import unpaired
from toolgen.agents import SessionBusyError, ToolMessage, UserMessage
from toolgen.agents.turns import START_S

pytestmark = pytest.mark.asyncio(loop_factories=["real"])  # files of several processes
GONE = (
    "The run of this turn was lost before it ended. Work that it had started may have been done; its "
    "open questions are closed."
)


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """The engines of the tests keep their runs in files."""


@pytest.fixture
def apart(tmp_path: Path) -> Desk:
    return Desk(tmp_path, is_apart=True)


async def test_a_session_of_a_lost_journal_goes_on_once_it_is_released(apart: Desk) -> None:
    await apart.ask()
    apart.lose()
    (apart.folder / "runs.db.witness").unlink()
    async with apart.process() as (agents, _):
        client = agents.client("x.agent")
        with pytest.raises(SessionBusyError, match="run 'r' of session 's' is not over") as caught:
            await client.run("Again.", session_id="s")
        assert "toolgen runs release --session s" in str(caught.value.hint)
        with pytest.raises(SessionBusyError):
            await agents.erase("s")
        held = (await agents.release()).elsewhere
        assert {session: holder.run_id for session, holder in held.items()} == {"s": "r"}
        assert {*(await agents.release(lost_engine=held["s"].engine_id)).sessions} == {"s"}
        assert (await agents.release()).sessions == {}
        assert (await client.run("Again.", session_id="s")).text == "hello again"
        (lost, _) = await agents.sessions.transcript("s")
        assert lost.messages[-1] == UserMessage(text=GONE, source="runtime")
        assert [*unpaired(lost.messages)] == []


async def test_a_conversation_that_was_over_has_a_result_for_each_call_of_a_lost_run(apart: Desk) -> None:
    await apart.ask()
    async with apart.process() as (agents, handle):
        await agents.sessions.end("s")
        assert (await handle.settled()).status == "canceled"
    apart.lose()
    (apart.folder / "runs.db.witness").unlink()
    async with apart.process() as (agents, _):
        (said,) = await agents.sessions.transcript("s")
        assert [*unpaired(said.messages)] == []
        (last,) = [one for one in said.messages if isinstance(one, ToolMessage)][-1].answers
        assert (last.name, last.status) == ("wipe", "unknown")


async def test_a_session_of_a_run_that_a_copy_does_not_have_frees_itself(apart: Desk) -> None:
    async with apart.process():
        pass
    kept = apart.copy()
    await apart.ask()
    apart.restore(kept)
    async with apart.process() as (agents, _):
        client = agents.client("x.agent")
        with pytest.raises(SessionBusyError):
            await client.run("Again.", session_id="s")
        apart.wall += START_S + 1
        assert (await client.run("Again.", session_id="s")).text == "hello again"
        (lost, _) = await agents.sessions.transcript("s")
        assert lost.messages[-1] == UserMessage(text=GONE, source="runtime")


async def test_a_session_whose_run_is_not_over_is_not_released(apart: Desk) -> None:
    await apart.ask()
    async with apart.process() as (agents, handle):
        with pytest.raises(SessionBusyError):
            await agents.release(session_id="s")
        assert (await agents.release()).sessions == {}
        assert len((await handle.settled()).awaiting) == 1

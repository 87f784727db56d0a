"""What messages over HTTP show in the place of sensitive values of dynamic tools and of results."""

from __future__ import annotations

from typing import Annotated

from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    CallTools,
    Citation,
    FinalResponse,
    PlannedCall,
    ProviderFacts,
    ScriptedPlanner,
    agents_of,
)
from toolgen.runtime.functions import Sensitive, function_toolset

from .shop import AGENT, served
from .test_runs import ended


async def test_a_text_with_hidden_values_has_citations_without_ranges() -> None:
    cited = Citation(url="https://tea.org", start=17, end=20)
    plan = FinalResponse(text="away with s3cret-c0de, tea.", provider=ProviderFacts(citations=(cited,)))
    call = CallTools(calls=(PlannedCall(name="destroy", arguments='{"item": "tea", "code": "s3cret-c0de"}'),))
    async with served() as shop:
        agents_of(shop.runtime).override_planner(AGENT, ScriptedPlanner([call, plan]))
        run = (await shop.post("/runs", agent=AGENT, message="away")).json()
        assert shop.runtime.engine is not None
        await shop.runtime.engine.settled(run["id"])
        [wait] = (await shop.get("/suspensions"))["suspensions"]
        await shop.post(f"/suspensions/{wait['id']}/answer", answer={"approved": True})
        await ended(shop, run["id"])
        [turn] = (await shop.get(f"/sessions/{run['session_id']}/messages"))["turns"]
    assert "s3cret" not in str(turn)
    assert turn["messages"][-1]["provider"] == {"citations": [{"url": "https://tea.org"}]}


async def pay(pin: Annotated[str, Sensitive()]) -> Annotated[str, Sensitive()]:
    """Pay, and return the receipt."""
    return "4711-kilo"


async def test_messages_have_no_sensitive_values_of_dynamic_tools_nor_quotes_of_results() -> None:
    async with served() as shop:
        agents, call = agents_of(shop.runtime), PlannedCall(name="pay", arguments='{"pin": "9371-zulu"}')
        planner_ = ScriptedPlanner(
            [CallTools(calls=(call,)), "It is 4711-kilo."], ["It was 4711-kilo, by 9371-zulu."]
        )
        spec = AgentSpec(id="pay.agent", description="Pays.")
        dynamic = (function_toolset("pay.tools", [pay]),)
        agents.register(AgentRegistration(spec=spec, planner=planner_, toolsets=(), dynamic=dynamic))
        path = "/sessions/ann:s1/messages"
        for _ in range(2):
            run = (await shop.post(path, message="pay by 9371-zulu", agent="pay.agent")).json()
            await ended(shop, run["id"])
        text = str(await shop.get(path))
    assert "'name': 'pay'" in text
    assert not any(value in text for value in ("9371-zulu", "4711-kilo"))

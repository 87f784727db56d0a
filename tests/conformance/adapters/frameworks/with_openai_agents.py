"""OpenAI's Agents SDK with its `ScriptedModel`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents import Agent, RunConfig, Runner, RunResult, ToolCallOutputItem, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from toolgen.adapters.openai_agents import openai_agents_question, openai_agents_tools
from toolgen.adapters.result_view import approval_json

from .home import MIRA, Call, Home, Seen

set_tracing_disabled(True)
CONFIG = RunConfig(tool_not_found_behavior="return_error_to_model", tracing_disabled=True)


class OpenAIAgents:
    """Drives OpenAI's Agents SDK."""

    has_facts_of_errors = True
    has_artifact_data = True

    def __str__(self) -> str:
        return "OpenAIAgents"

    async def run(self, home: Home, *calls: Call) -> list[Seen]:
        turn = replace(MIRA, turn_id=uuid.uuid4().hex)  # the calls of each run have the same ids
        by_id = {f"c{n}": call for n, call in enumerate(calls)}
        asking = {f"test.workshop.{name}" for name in ("post", "sign")}
        asking |= {"assistant.maintenance.factory_reset", "x.lows.look", "x.tops.look"}
        tools = openai_agents_tools(
            home.snapshot,
            turn,
            may_ask=asking,
            answer=lambda _, asked: {"id": asked.id, "answer": by_id[asked.call.tool_call_id].answer},
        )
        made = [function_call(call.tool, dict(call.arguments), call_id=id_) for id_, call in by_id.items()]
        agent = Agent("fake", model=ScriptedModel([made, [assistant_message("done")]]), tools=list(tools))
        run = await Runner.run(agent, "go", run_config=CONFIG)
        asked: dict[str, Mapping[str, Any]] = {}
        if run.interruptions:
            state = run.to_state()
            for item in state.get_interruptions():
                question = await openai_agents_question(home.snapshot, item, turn)
                assert question is not None
                assert item.call_id is not None
                asked[item.call_id] = approval_json(question)
                answer = by_id[item.call_id].answer
                if isinstance(answer, dict) and not answer["approved"]:
                    state.reject(item, rejection_message=str(answer["message"]))
                    await home.runtime.suspensions.cancel(question.token, str(answer["message"]))
                elif answer is not None:
                    state.approve(item)
            if all(by_id[id_].answer is not None for id_ in asked):
                run = await Runner.run(agent, state, run_config=CONFIG)
        return [_seen(run, id_, asked.get(id_, {})) for id_ in by_id]


def _seen(run: RunResult, id_: str, asked: Mapping[str, Any]) -> Seen:
    for item in run.new_items:
        if isinstance(item, ToolCallOutputItem) and item.call_id == id_:
            raw: Any = item.raw_item
            output = raw["output"]
            blocks = [] if isinstance(output, str) else output
            facts = (item.custom_data or {}).get("toolgen", {})
            json.dumps(facts)  # a run's state is kept as JSON
            return Seen(
                text=output if isinstance(output, str) else blocks[0]["text"],
                is_error=facts.get("status", "error") in ("error", "denied"),
                facts=facts,
                images=tuple(
                    one["image_url"][5:].partition(";")[0] for one in blocks if one["type"] == "input_image"
                ),
                asked=asked,
            )
    return Seen(text="", asked=asked)

"""What the agents do in the demo, written down: the steps of a model that is not there.

What they say is made of what they were told, so a change of the data changes the conversation. A turn is told
by what was said in it, so that a process that goes on with a conversation plays the same script.
"""

from __future__ import annotations

import json
from typing import Any

from toolgen.agents import (
    CallTools,
    FinalResult,
    PlanInput,
    PlannedCall,
    ScriptedPlanner,
    ToolMessage,
    UserMessage,
)

LIGHTS = "Which lights at the harbour do not answer?"
LAMP = "Find out what is wrong with the ceiling lamp, and put it back to factory settings."
UPDATE = "And put firmware 2.4.0 on it."
UPDATED = "The work of update_firmware"
"""So begins what the runtime says when work is done that went on after its turn."""
PERIOD = {"start": "2026-01-28T00:00:00Z", "end": "2026-01-30T00:00:00Z"}


def chat() -> ScriptedPlanner:
    """Return the planner of the chat: a list with a mistake in its call, a repair, and an update."""
    wrong = PlannedCall.of("list_devices", {"site_id": "harbour", "kind": "light", "state": "off"})
    right = PlannedCall.of("list_devices", {"site_id": "harbour", "kind": "light", "status": "offline"})
    diagnose = PlannedCall.of("diagnose", {"device_id": "h10", "symptom": "It does not answer."})
    reset = PlannedCall.of("factory_reset", {"device_id": "h10"})
    update = PlannedCall.of("update_firmware", {"device_id": "h10", "version": "2.4.0"})
    return ScriptedPlanner(
        by_message={
            LIGHTS: [CallTools(calls=(wrong,)), CallTools(calls=(right,)), _lights],
            LAMP: [
                CallTools(calls=(diagnose,), text="I ask diagnostics."),
                CallTools(calls=(reset,)),
                _repaired,
            ],
            UPDATE: [CallTools(calls=(update,)), _updating],
            UPDATED: [_updated],
        }
    )


def diagnostics() -> ScriptedPlanner:
    """Return the planner of one diagnosis: readings and manual at once, then a finding."""
    readings = PlannedCall.of("get_time_series", {"device_id": "h10", **PERIOD})
    manual = PlannedCall.of("search", {"query": "bulb offline", "limit": 1})
    return ScriptedPlanner([CallTools(calls=(readings, manual)), _finding])


def _lights(given: PlanInput) -> str:
    (found,) = _results(given)
    if why := _why_not(found):
        return f"I cannot say which lights answer: {why}"
    names = ", ".join(f"{device['name']} ({device['room']})" for device in found["devices"])
    return f"{found['returned']} of the lights does not answer: {names}."


def _finding(given: PlanInput) -> FinalResult:
    readings, manual = _results(given)
    if why := _why_not(readings) or _why_not(manual):
        return FinalResult(result={"cause": f"I cannot say: {why}", "certainty": "unclear", "advice": []})
    hit = manual["hits"][0]
    return FinalResult(
        result={
            "cause": f"It sent {readings['count']} readings in two days; the hub has lost it.",
            "certainty": "likely",
            "advice": [hit["excerpt"].split(". ")[0] + "."],
        }
    )


def _repaired(given: PlanInput) -> str:
    (reset,) = _results(given)
    if why := _why_not(reset):
        return f"I cannot say that it is done: {why}"
    return f"{reset['name']} is as it left the factory; {len(reset['lost'])} settings are gone."


def _updating(given: PlanInput) -> str:
    (begun,) = _results(given)
    if why := _why_not(begun):
        return f"I cannot say that it is updated: {why}"
    return f"The update takes about {begun['minutes']} minutes. I shall say when it is done."


def _updated(given: PlanInput) -> str:
    said = given.messages[-1]
    assert isinstance(said, UserMessage)
    result = json.loads(said.text[said.text.index("{") :])
    return f"The update is done: version {result['version']} runs now."


def _why_not(result: Any) -> str:
    """Return why there is no result: an error, or a call whose outcome is unknown; "" where there is one."""
    return str(result.get("error") or result.get("unknown") or "")


def _results(given: PlanInput) -> list[Any]:
    """Return the newest results, as a model reads them."""
    newest = given.messages[-1]
    assert isinstance(newest, ToolMessage)
    return [json.loads(answer.text) for answer in newest.answers]

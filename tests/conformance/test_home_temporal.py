"""The example on Temporal and PostgreSQL: a conversation that outlives a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from examples.home.temporal_demo import Place, story
from tests.temporal_server import TemporalServer

pytestmark = pytest.mark.costly

STORY: Final = """\
two workers are ready
Mira: Which lights at the harbour do not answer?
  → list_devices {"site_id": "harbour", "kind": "light", "state": "off"}
  ← list_devices: error, the arguments of list_devices do not fit
  → list_devices {"site_id": "harbour", "kind": "light", "status": "offline"}
  ← list_devices: ok, {"devices": [{"id": "h10", "name": "Ceiling lamp", "kind": "light", "room":…
  run completed
assistant: 1 of the lights does not answer: Ceiling lamp (Living room).
  (completed by assistant.chat, 2 tool calls)
Mira: Find out what is wrong with the ceiling lamp, and put it back to factory settings.
a worker is killed in the middle of get_time_series
  → diagnose {"device_id": "h10", "symptom": "It does not answer."}
  assistant.diagnostics begins
    → get_time_series {"device_id": "h10", "start": "2026-01-28T00:00:00Z", "end": "2026-01-30T00:0…
    → search {"query": "bulb offline", "limit": 1}
    ← search: ok, {"hits": [{"ref": "lumen-a19/4.2", "heading": "Lumen A19 light bulb › Problems › …
    ← get_time_series: ok, {"summary": "Ceiling lamp: power was 2.5 W on average, between 0.0 and 9…
    run completed
  ← diagnose: ok, It sent 29 readings in two days; the hub has lost it.
  → factory_reset {"device_id": "h10"}
  a person has to approve factory_reset
  Mira is asked: Reset h10 to factory settings? Its settings are lost.
  Mira: yes
  approved by a person
  ← factory_reset: ok, Ceiling lamp is as it left the factory
  run completed
assistant: Ceiling lamp is as it left the factory; 2 settings are gone.
  (completed by assistant.chat, 4 tool calls, 1 child run, artifacts: time_series)
"""


async def test_a_conversation_goes_on_after_a_worker_was_killed(
    temporal: TemporalServer, conninfo: str, tmp_path: Path
) -> None:
    place = Place(temporal.address, conninfo, tmp_path / "home.db")
    assert [line async for line in story(place)] == STORY.splitlines()

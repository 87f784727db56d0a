"""The generated client, compiled and run by node, against the served surface of the example."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from examples.home.app import assistant
from examples.home.database import DATABASE, connect
from examples.home.tariff_server import KEY, supplier
from gen import tariff_service
from gen.assistant.toolsets.tariffs import BoundTariffsExecutor
from tests.adapters.http.listening import listening
from tests.conformance.compiler import linted, node, project, refused
from tests.typescript.test_doc import home
from toolgen.capabilities import EnvironmentCredentials, MemoryArtifactStore
from toolgen.events import Events

SCRIPT = Path(__file__).parents[1] / "typescript/round_trip.ts"


def compiled(folder: Path) -> Path:
    """Return the project of the script and the client, compiled to JavaScript."""
    texts = {f"toolgen/{path}": text for path, text in home().items()}
    made = project(folder, {**texts, "round_trip.ts": SCRIPT.read_text("utf-8")}, outDir="made")
    assert refused(made) == {}
    assert linted(made, "round_trip.ts") == ""
    return made


async def answers(folder: Path) -> Any:
    """Return what the script got of the surface of the assistant."""
    path = folder / DATABASE.name
    with supplier() as address, closing(connect(path)) as database:
        key = EnvironmentCredentials({"TOOLGEN_TARIFF_SERVICE__SUPPLIER_KEY": KEY})
        client = tariff_service.TariffServiceClient(server=address, credentials=key)
        tariffs = BoundTariffsExecutor(tariff_service=client)
        runtime = assistant(database, path, events=Events(), artifacts=MemoryArtifactStore(), tariffs=tariffs)
        async with client, runtime, listening(runtime, sessions="s-mira", session_id="s-mira") as surface:
            token = surface.headers["authorization"].removeprefix("Bearer ")
            done = await asyncio.to_thread(
                node, folder / "web", "made/round_trip.js", str(surface.base_url), token
            )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


async def test_the_client_of_the_example_is_served(tmp_path: Path) -> None:
    """Calls, refusals, artifacts, waits, and streams that are cut off and go on."""
    compiled(tmp_path / "web")
    got = await answers(tmp_path)
    assert got["catalog"] == [True, True, ["assistant.chat", "assistant.diagnostics"]]
    calls = got["calls"]
    assert (len(calls["first"].pop("names")), calls["first"]) == (
        20,
        {"returned": 20, "truncated": True, "isTruncated": False},
    )
    assert calls["next"].pop("steps") > 2
    assert calls["next"] == {
        "status": "ok",
        "bounds": {"returned": 4, "truncated": False, "total": 24},
    }
    assert (calls["once"]["same"], calls["once"]["kept"]) == (True, "ok")
    assert calls["prices"] == ["unknown_tariff", "fixed-12", "green", "night", "spot"]
    assert got["refused"] == {
        "misfit": [["/limit", "invalid_range"], ["/color", "unknown_field"]],
        "nobody": [401, True],
        "unknown": [
            404,
            "urn:toolgen:problem:unknown-tool",
            "Unknown tool: there is no tool 'no.such.tool'",
        ],
    }
    assert got["artifacts"].pop("readings") > 500
    assert got["artifacts"] == {
        "kind": "time_series",
        "isInline": False,
        "part": [206, 10],
        "linked": True,
    }
    assert got["waits"] == {
        "asked": [
            "suspended",
            "confirmation",
            "Reset h10 to factory settings? Its settings are lost.",
            {"device_id": "h10"},
        ],
        "listed": True,
        "unfit": [True, 422],
        "answered": ["ok", True],
        "taken": ["canceled", "not today"],
        "pending": {"minutes": 4},
        "done": {"version": "2.4.0"},
        "left": 0,
    }
    runs = got["runs"]
    assert runs.pop("turns") == [["user", "assistant", "tools", "assistant", "tools", "assistant"]]
    for stream in ("cut", "silent"):
        assert int(runs[stream].pop("last")) > 10
        assert runs.pop(stream) == {
            "types": ["run_started", "run_stream_end"],
            "isWhole": True,
            "resumed": True,
            "states": ["open", True, "open"],
        }
    assert runs == {
        "late": True,
        "after": True,
        "ended": [
            "completed",
            "assistant.chat",
            "1 of the lights does not answer: Ceiling lamp (Living room).",
        ],
        "further": True,
        "sessions": ["s-mira"],
    }
    assert got["told"] == {"ends": ["assistant.documents.search ok"], "isResumable": True}

"""Toolsets of a design: bounded results, injected fields, artifacts, retry hints and catalogs."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.agents.tools import calling, first_answer, running, waiting
from toolgen import dsl as d
from toolgen.agents import Await, PlanInput, PlanResult, ScriptedPlanner, agents_of
from toolgen.codegen import generate
from toolgen.codegen.write import write
from toolgen.events.hub import Events
from toolgen.runtime import CallMeta, Runtime, ToolCall, ToolContext, ToolError, ToolOutcome, ToolReturn

HINT = "Add a status filter or reduce the site scope to see fewer results"
Gen: TypeAlias = Callable[[str], Any]
"""Imports a module of the generated package."""

Device = d.Type("Device", "A device.", d.Attribute("id", d.String, "Identifier.", required=True))
Point = d.Type("TimeSeriesPoint", "A point.", d.Attribute("value", d.Float, "Its value.", required=True))
SITE = (
    d.Attribute("site_id", d.String, "Site identifier", required=True),
    d.Attribute("status", d.Enum("Status", "A status.", "online", "offline", "unknown"), "Filter by status"),
    d.Attribute("limit", d.Int, "Maximum results", default=50, maximum=500),
)
USER = (
    d.Attribute("user_id", d.String, "Current user", required=True),
    d.Attribute("query", d.String, "Data query", required=True),
)
DEVICES = d.Attribute("devices", d.ArrayOf(Device), "Matching devices", required=True)
TOOLS = d.Toolset(
    "devices",
    "Find devices.",
    d.Tool(
        "list_devices",
        "List devices with pagination",
        d.Args(*SITE),
        d.Return(DEVICES),
        d.BoundedResult(),
        d.BindTo("DeviceService", "list_devices"),
    ),
    d.Tool(
        "summarize",
        "Summarize documents",
        d.Args(d.Attribute("doc_ids", d.ArrayOf(d.String), "Document IDs to summarize", required=True)),
        d.Return(d.Attribute("summary", d.String, "Combined summary", required=True)),
    ),
    d.Tool(
        "get_user_data",
        "Get data for current user",
        d.Args(*USER),
        d.Return(d.Attribute("data", d.ArrayOf(d.String), "Query results", required=True)),
        d.Inject("user_id"),
    ),
    d.Tool(
        "get_time_series",
        "Get time series data",
        d.Args(d.Attribute("device_id", d.String, "Device identifier", required=True)),
        d.Return(
            d.Attribute("summary", d.String, "Summary for the model", required=True),
            d.Attribute("count", d.Int, "Number of data points", required=True),
        ),
        d.Artifact(
            "time_series",
            d.Object(d.Attribute("data_points", d.ArrayOf(Point), "Full time series data", required=True)),
            "Full time series data.",
        ),
    ),
)
SERVICE = d.Service(
    "DeviceService",
    "The devices.",
    d.Method(
        "list_devices",
        "List devices.",
        d.Payload(*SITE),
        d.Result(
            DEVICES,
            d.Attribute("total", d.Int, "Total matching devices", required=True),
            d.Attribute("refinement_hint", d.String, "How to narrow results"),
        ),
    ),
)
CHAT = d.Agent("chat", "Talks.", d.Use(TOOLS))
DESIGN = d.Design("home", "A home.", SERVICE, d.Service("assistant", "Helps.", TOOLS, CHAT))


@pytest.fixture(scope="module")
def gen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gen]:
    built = d.build(DESIGN)
    assert built.design is not None, built.diagnostics
    folder = tmp_path_factory.mktemp("toolsets")
    write(folder / "toolsets_code", generate(built.design, module="design"), design="design")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield lambda name: importlib.import_module(f"toolsets_code.{name}")
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "toolsets_code"]:
        del sys.modules[name]


class Database:
    """The service: it trims, and says how to ask for less."""

    def __init__(self, gen: Gen, devices: int) -> None:
        self.service, self.types = gen("device_service"), gen("types")
        self.devices = [self.types.Device(id=f"d{number}") for number in range(devices)]

    async def list_devices(self, payload: Any) -> Any:
        shown = self.devices[: payload.limit]
        is_cut = len(shown) < len(self.devices)
        hint = HINT if is_cut else None
        return self.service.ListDevicesResult(devices=shown, total=len(self.devices), refinement_hint=hint)


class SessionInterceptor:
    fills = frozenset({"user_id"})

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        payload.set_user_id(f"user of {call.meta.session_id}")


def executor(gen: Gen, devices: int = 3) -> Any:
    """Return the executor of the toolset: the bound tool has its own, the others are written here."""
    tools = gen("assistant.toolsets.devices")

    class Devices(tools.BoundDevicesExecutor):  # type: ignore[misc,name-defined]  # it is generated
        async def summarize(self, payload: Any, ctx: ToolContext) -> Any:
            if not payload.doc_ids:
                raise ToolError("no documents", cause=ToolError("the list is empty"))
            return tools.SummarizeResult(summary=f"{len(payload.doc_ids)} documents")

        async def get_user_data(self, payload: Any, ctx: ToolContext) -> Any:
            return tools.GetUserDataResult(data=[payload.user_id, payload.query])

        async def get_time_series(self, payload: Any, ctx: ToolContext) -> ToolReturn[Any]:
            values = [1.5, 2.5]
            series = tools.GET_TIME_SERIES_TIME_SERIES
            data = series.codec.decode(json.dumps({"data_points": [{"value": value} for value in values]}))
            summary = f"Retrieved {len(values)} data points"
            result = tools.GetTimeSeriesResult(summary=summary, count=len(values))
            return ToolOutcome.of(result, artifacts=[series.of(data)])

    return Devices(device_service=Database(gen, devices))


def host(gen: Gen, devices: int = 3, **options: Any) -> Runtime:
    runtime = Runtime(interceptors=[SessionInterceptor()], **options)
    runtime.tools.register(gen("assistant.toolsets.devices").registration(executor(gen, devices)))
    return runtime


META = CallMeta(run_id="r", session_id="s", turn_id="t", tool_call_id="c", parent_tool_call_id="p")


@pytest.mark.parametrize(
    ("devices", "returned", "total", "truncated"),
    [(3, 2, 3, True), (2, 2, 2, False), (0, 0, 0, False)],
    ids=["cut", "whole", "empty"],
)
async def test_a_bounded_result_says_how_much_it_shows(
    gen: Gen, devices: int, returned: int, total: int, truncated: bool
) -> None:
    events = Events()
    ends = events.subscribe(types=["tool_end"])
    runtime = host(gen, devices, events=events)
    result = await runtime.call("list_devices", {"site_id": "s1", "limit": 2}, META)
    bounds = result.bounds
    assert bounds is not None
    assert (bounds.returned, bounds.total, bounds.truncated) == (returned, total, truncated)
    assert bounds.refinement_hint == (HINT if truncated else None)
    assert json.loads(result.json)["returned"] == returned
    events.close()
    (end,) = [event async for event in ends]
    shown: Any = end
    assert (shown.bounds["returned"], shown.bounds["truncated"]) == (returned, truncated)


async def test_an_inline_tool_and_its_errors(gen: Gen) -> None:
    runtime = host(gen)
    assert (await runtime.call("summarize", {"doc_ids": ["a", "b"]})).json == b'{"summary":"2 documents"}'
    failed = await runtime.call("summarize", {"doc_ids": []})
    assert failed.error is not None
    assert (failed.error.message, str(failed.error.cause)) == ("no documents", "the list is empty")


async def test_an_injected_field_is_hidden_and_filled(gen: Gen) -> None:
    runtime = host(gen)
    spec = gen("assistant.toolsets.devices").GET_USER_DATA
    assert list(spec.payload.schema["properties"]) == ["query"]
    result = await runtime.call("get_user_data", {"query": "bills"}, META)
    assert result.json == b'{"data":["user of s","bills"]}'
    forged = await runtime.call("get_user_data", {"query": "bills", "user_id": "other"}, META)
    assert forged.retry_hint is not None
    assert forged.retry_hint.reason == "invalid_arguments"


async def test_an_artifact_is_for_the_interface_and_not_for_the_model(gen: Gen) -> None:
    result = await host(gen).call("get_time_series", {"device_id": "d1"}, META)
    assert result.json == b'{"summary":"Retrieved 2 data points","count":2}'
    (artifact,) = result.artifacts
    assert artifact.kind == "time_series"
    data: Any = artifact.data
    assert [point.value for point in data.data_points] == [1.5, 2.5]


async def test_an_executor_has_the_metadata_of_its_call(gen: Gen) -> None:
    seen: list[CallMeta] = []
    tools = gen("assistant.toolsets.devices")

    async def execute(payload: Any, ctx: ToolContext) -> Any:
        seen.append(ctx.meta)
        return tools.SummarizeResult(summary="")

    own = executor(gen)
    own.summarize = execute
    runtime = Runtime(interceptors=[SessionInterceptor()])
    runtime.tools.register(tools.registration(own))
    await runtime.call("summarize", {"doc_ids": []}, META)
    assert seen == [META]


def repair(given: PlanInput) -> PlanResult:
    """Ask for what is missing, as the hint says, and let nothing but the tool be called next."""
    (hint,) = given.retry_hints
    assert hint.reason == "missing_fields"
    return Await(
        kind="clarification",
        question="Which site?",
        missing_fields=hint.missing_fields,
        restrict_to_tool=next(spec.name for spec in given.tools if spec.id == hint.tool),
    )


async def test_a_planner_repairs_a_call_by_its_retry_hint(gen: Gen) -> None:
    def again(given: PlanInput) -> PlanResult:
        said: Any = given.messages[-1]
        return calling(("list_devices", {"site_id": said.text, "limit": 1}))

    chat, tools = gen("assistant.agents.chat"), gen("assistant.toolsets.devices")
    planner = ScriptedPlanner([calling(("list_devices", {"limit": 1})), repair, again, first_answer])
    async with running(interceptors=[SessionInterceptor()]) as (runtime, _):
        chat.register(runtime, planner=planner, devices=executor(gen))
        handle = await chat.client(runtime).start("List.", session_id="s")
        asked = await waiting(handle)
        assert asked.question == "Which site?"
        await handle.answer(asked, "s1")
        output = await handle.result()
    assert json.loads(output.text)["devices"] == [{"id": "d0"}]
    assert planner.inputs[2].restrict_to_tool == tools.LIST_DEVICES.name


async def test_the_catalog_and_the_runtime_describe_the_same_tools(gen: Gen) -> None:
    tools = gen("assistant.toolsets.devices")
    file = Path(tools.__file__).with_name("tool_schemas.json")
    entries = json.loads(file.read_text("utf-8"))["tools"]
    assert [entry["id"] for entry in entries] == sorted(spec.id for spec in tools.SPECS)
    entry = next(entry for entry in entries if entry["name"] == "list_devices")
    assert entry | {"service": "assistant", "toolset": "devices", "title": "List devices"} == entry
    async with running(interceptors=[SessionInterceptor()]) as (runtime, _):
        gen("assistant.agents.chat").register(runtime, planner=ScriptedPlanner(), devices=executor(gen))
        spec = runtime.tools.spec(tools.LIST_DEVICES.id)
        assert (spec.payload.schema, spec.result.schema) == (
            entry["payload"]["schema"],
            entry["result"]["schema"],
        )
        names = [spec.name for spec in agents_of(runtime).specs(gen("assistant.agents.chat").AGENT_ID)]
    assert names == ["list_devices", "summarize", "get_user_data", "get_time_series"]

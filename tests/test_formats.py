"""What an earlier toolgen wrote, in `tests/formats`: its catalogues are written on demand, its code runs."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from tests.cases.behaviour import design as behaviour
from tests.catalog_entries import catalog_entry
from tests.golden import expected, write
from tests.selection import first
from toolgen.agents import CallTools, PlannedCall, ScriptedPlanner
from toolgen.capabilities import (
    ArtifactsCapability,
    MemoryArtifactStore,
    MemoryStateStore,
    StateCapability,
)
from toolgen.catalog import format_schema, load_catalogue
from toolgen.codegen import generate
from toolgen.contract.names import FORMAT, CatalogFormat
from toolgen.dsl import build
from toolgen.expr.tree import Design
from toolgen.runtime import (
    CallMeta,
    FormatError,
    Runtime,
    ToolCall,
    ToolContext,
    ToolOutcome,
    ToolResult,
)
from toolgen.runtime.generated import CodecModule

STORED = Path(__file__).parent / "formats"
EARLIER: tuple[CatalogFormat, ...] = (1, 2)
CATALOGUES = sorted(STORED.glob("*/catalogs/**/*.json"))


def design(name: str) -> Design:
    evaluation = build(import_module(f"tests.formats.designs.{name}").design)
    assert evaluation.design is not None
    return evaluation.design


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    """Return the catalogues of earlier formats by path, of the designs that they were made of."""
    return {
        f"{format}/catalogs/{folder.name}/{path}": text
        for format in EARLIER
        for folder in (STORED / f"{format}/catalogs").iterdir()
        for path, text in generate(design(folder.name), module="design", catalog_format=format).items()
    }


@pytest.mark.parametrize("file", CATALOGUES, ids=lambda file: str(file.relative_to(STORED)))
def test_a_catalogue_of_an_earlier_format_is_as_it_was(file: Path, written: dict[str, str]) -> None:
    text = file.read_text("utf-8")
    assert written[file.relative_to(STORED).as_posix()] == text
    document = json.loads(text)
    jsonschema.Draft202012Validator(format_schema(document["catalog"]["format"])).validate(document)


@pytest.mark.parametrize("name", first(["agents", "behaviour", "home"]))
def test_the_reader_gives_the_same_of_formats_2_and_3(name: str, tmp_path: Path) -> None:
    trees = {format: generate(design(name), module="design", catalog_format=format) for format in (2, 3)}
    for format, tree in trees.items():
        write(tmp_path / str(format), tree)
    files = [path for path in trees[3] if path.endswith(".json")]
    assert files == [path for path in trees[2] if path.endswith(".json")]
    for path in files:
        before, now = (load_catalogue(tmp_path / format / path) for format in ("2", "3"))
        assert now.format == 3
        assert [json.dumps(tool) for tool in now.tools] == [json.dumps(tool) for tool in before.tools]
        assert now.completions == before.completions
        heads = [json.loads(trees[format][path])["catalog"]["digest"] for format in (2, 3)]
        says_more = any("confirmation" in tool for agent in now.agents for tool in agent["tools"])
        assert (heads[0] != heads[1]) == says_more, "a root has the confirmations of agents since format 3"


@pytest.mark.parametrize(("name", "format"), [("home", 1), ("agents", 1), ("agents", 2)])
def test_the_catalogues_of_a_large_design_are_as_they_were(name: str, format: CatalogFormat) -> None:
    """By their digests, as `sha256sum` writes them; a smaller design shows what differs."""
    texts = generate(design(name), module="design", catalog_format=format)
    stored = (STORED / f"{format}/{name}.sha256").read_text("utf-8").splitlines()
    catalogues = {path: text for path, text in texts.items() if path.endswith(".json")}
    digests = {path: sha256(text.encode()).hexdigest() for path, text in catalogues.items()}
    assert [f"{digest}  {name}/{path}" for path, digest in sorted(digests.items())] == stored
    is_of_the_format = jsonschema_rs.Draft202012Validator(format_schema(format)).is_valid
    assert all(is_of_the_format(json.loads(text)) for text in catalogues.values())


@pytest.fixture(scope="module")
def design_2() -> Design:
    evaluation = build(behaviour.design)
    assert evaluation.design is not None
    return evaluation.design


def test_what_only_later_formats_have_is_left_out_of_format_1(design_2: Design) -> None:
    earlier = json.loads(generate(design_2, module="d", catalog_format=1)["tool_schemas.json"])
    now = json.loads(generate(design_2, module="d")["tool_schemas.json"])
    jsonschema.Draft202012Validator(format_schema(1)).validate(earlier)
    assert list(earlier) == ["catalog", "tools"]
    assert list(earlier["catalog"]) == ["format", "design", "digest"]
    gone = {key for tool in now["tools"] for key in tool} - {key for tool in earlier["tools"] for key in tool}
    assert gone == {"digest", "icons", "deprecated"}


GEN_1 = "tests.formats.1.gen"
"""The code of the example that toolgen wrote in format 1, without the services of its bound tools."""


def gen_1(module: str) -> Any:
    return import_module(f"{GEN_1}.{module}")


def packages_1() -> list[str]:
    root = Path(__file__).parent / "formats/1/gen"
    return [".".join(file.parent.relative_to(root).parts) for file in sorted(root.rglob("codecs.py"))]


@pytest.mark.parametrize("package", packages_1())
def test_codecs_of_format_1_have_the_schemas_of_their_catalogue(package: str) -> None:
    specs = gen_1(package).SPECS
    file = Path(gen_1(package).__file__).with_name("tool_schemas.json")
    entries = {tool["id"]: tool for tool in json.loads(file.read_text("utf-8"))["tools"]}
    for spec in specs:
        made: Any = catalog_entry(spec)
        known = entries[spec.id]
        for part in ("payload", "result"):
            assert (made[part]["name"], made[part]["schema"]) == (known[part]["name"], known[part]["schema"])
        assert [one["schema"] for one in made.get("artifacts", ())] == [
            one["schema"] for one in known.get("artifacts", ())
        ]
        jsonschema.Draft202012Validator.check_schema(made["payload"]["schema"])


class Devices:
    """Executes the tools of `devices`, with the types of format 1."""

    async def list_devices(self, payload: Any, ctx: ToolContext) -> Any:
        types = gen_1("assistant.toolsets.devices.types")
        return types.ListDevicesResult(devices=[device()], returned=1, truncated=False, total=1)

    async def get_time_series(self, payload: Any, ctx: ToolContext) -> Any:
        types, specs = gen_1("assistant.toolsets.devices.types"), gen_1("assistant.toolsets.devices.specs")
        series = gen_1("types").TimeSeries(device=device(), quantity="power", unit="W", readings=[])
        result = types.GetTimeSeriesResult(summary="Nothing.", count=0)
        return ToolOutcome.of(result, artifacts=[specs.GET_TIME_SERIES_TIME_SERIES.of(series)])

    async def set_state(self, payload: Any, ctx: ToolContext) -> Any:
        types = gen_1("assistant.toolsets.devices.types")
        is_dimmed = payload.command.kind == "dim"
        return types.SetStateResult(device=device(), changed=is_dimmed, settings={})


def device() -> Any:
    return gen_1("types").Device(
        id="h1", name="Lamp", kind="light", room="Hall", manual="lumen", status="online"
    )


META = CallMeta(session_id="s1")


async def test_tools_of_format_1_are_called() -> None:
    devices = gen_1("assistant.toolsets.devices")
    runtime = Runtime()
    runtime.tools.register(devices.registration(Devices()))
    found = await runtime.call("list_devices", '{"site_id": "harbour"}', META)
    assert found.error is None
    assert json.loads(found.json)["devices"][0]["id"] == "h1"
    arguments = '{"device_id": "h1", "start": "2026-01-28T00:00:00Z", "end": "2026-01-29T00:00:00Z"}'
    series = await runtime.call("get_time_series", arguments, META)
    assert series.error is None
    assert devices.GET_TIME_SERIES_TIME_SERIES.get(series).unit == "W"
    arguments = '{"device_id": "h1", "command": {"kind": "dim", "level": 40}}'
    done = await runtime.call("set_state", arguments, META)
    assert json.loads(done.json)["changed"] is True
    wrong = await runtime.call("set_state", arguments.replace("40", "400"), META)
    assert wrong.retry_hint is not None
    assert [issue.path for issue in wrong.retry_hint.issues] == ["$.command.level"]


class Users:
    """Says whose call it is."""

    fills = frozenset({"user_id"})

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        payload.set_user_id("ann")


async def raw(call: ToolCall, ctx: ToolContext) -> ToolResult:
    raise NotImplementedError


async def test_an_agent_of_format_1_plans_and_calls() -> None:
    chat, diagnostics = gen_1("assistant.agents.chat"), gen_1("assistant.agents.diagnostics")
    devices = Devices()
    call = PlannedCall(name="list_devices", arguments='{"site_id": "harbour"}')
    planner = ScriptedPlanner([CallTools(calls=(call,)), "One lamp."])
    async with Runtime(
        capabilities=[StateCapability(MemoryStateStore()), ArtifactsCapability(MemoryArtifactStore())],
        interceptors=[Users()],
    ) as runtime:
        chat.register(runtime, planner=planner, devices=devices, documents=raw, account=raw, maintenance=raw)
        diagnostics.register(runtime, planner=ScriptedPlanner(), devices=devices, documents=raw)
        output = await chat.client(runtime).run("What is there?", session_id="s1")
    assert (output.status, output.text) == ("completed", "One lamp.")


def test_a_completion_of_format_1_reads_its_result() -> None:
    completions = gen_1("assistant.completions")
    report = completions.SITE_REPORT.result.decode('{"headline": "Calm.", "details": []}')
    assert report == completions.SiteReportResult(headline="Calm.", details=[])


def test_a_foreign_schema_of_format_1_is_checked() -> None:
    schema = '{"type":"object","title":"Theirs","minProperties":1}'
    codec = CodecModule(__package__, __name__).foreign(schema, "SiteReportResult", is_exact=True)
    assert (codec.name, codec.schema) == ("SiteReportResult", json.loads(schema))


@pytest.mark.exhaustive
def test_code_of_format_2_that_imports_all_from_the_runtime_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before `toolgen.runtime.generated`, generated code imported its names from `toolgen.runtime`."""
    texts = {
        f"earlier_cases/{case}/{path}": text.replace("toolgen.runtime.generated", "toolgen.runtime")
        for case, tree in expected().items()
        for path, text in tree.items()
    }
    write(tmp_path, texts)
    monkeypatch.syspath_prepend(tmp_path)
    for path in texts:
        if path.endswith(".py"):
            import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


def test_the_next_format_is_refused_by_name() -> None:
    devices = gen_1("assistant.toolsets.devices")
    newer = replace(devices.registration(Devices()), format=FORMAT + 1)
    with pytest.raises(FormatError) as caught:
        Runtime().tools.register(newer)
    message, hint = str(caught.value).split("\n")
    assert message == "'assistant.devices' was generated in format 3, this runtime reads formats 1 to 2"
    assert hint == (
        "  hint: run `pip install --upgrade toolgen`, "
        "or run `toolgen gen` with the toolgen that is installed here"
    )
    with pytest.raises(FormatError, match=r"format 0.*reads formats 1 to 2\n  hint: run `toolgen gen`"):
        Runtime().tools.register(replace(newer, format=0))


@pytest.mark.parametrize(
    "module",
    first(["assistant.toolsets.devices.specs", "assistant.agents.chat", "assistant.completions", "types"]),
)
def test_the_next_format_is_refused_before_its_code_runs(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = generate(design("home"), module="design")
    tree["__init__.py"] = tree["__init__.py"].replace(f"(__name__, {FORMAT})", f"(__name__, {FORMAT + 1})")
    specs = "assistant/toolsets/devices/specs.py"
    tree[specs] = tree[specs].replace("ToolSpec(id=", "ToolSpec(later_argument=1, id=")
    assert "later_argument" in tree[specs]
    write(tmp_path / "later_gen", tree)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FormatError) as caught:
        import_module(f"later_gen.{module}")
    message = str(caught.value)
    assert message.startswith("'later_gen' was generated in format 3, this runtime reads formats 1 to 2\n")
    assert "pip install --upgrade toolgen" in message

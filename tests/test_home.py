"""The example application, used as its users use it: calls through the runtime on the real database."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from examples.home import database, demo
from examples.home.app import assistant, runtime, runtime_for_tests
from examples.home.design import design
from gen.assistant.toolsets import devices
from tests.selection import first
from toolgen.dsl import build
from toolgen.runtime import CallMeta, Runtime, ToolResult

HOME = Path(demo.__file__).parent


class Session:
    """Calls tools for one user."""

    def __init__(self, runtime: Runtime, session_id: str) -> None:
        self._runtime = runtime
        self._meta = CallMeta(session_id=session_id)

    def call(self, tool: str, arguments: Mapping[str, object]) -> ToolResult:
        return asyncio.run(self._runtime.call(tool, json.dumps(arguments), self._meta))

    def answer(self, tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Return what the model sees of a call that succeeds."""
        result = self.call(tool, arguments)
        assert result.status == "ok", result.json
        return _seen(result)

    def error(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Return the message that the model sees of a call that fails."""
        result = self.call(tool, arguments)
        assert result.status == "error", result.json
        message = _seen(result)["error"]
        assert isinstance(message, str)
        return message


def _seen(result: ToolResult) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads(result.json)
    return seen


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("built") / "home.db"
    database.build(path)
    return path


@pytest.fixture
def connection(built: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A database of the test's own."""
    with closing(database.connect(Path(shutil.copy(built, tmp_path)))) as connection:
        yield connection


@pytest.fixture
def mira(connection: sqlite3.Connection, tmp_path: Path) -> Session:
    """A user of both sites."""
    return Session(assistant(connection, tmp_path / "home.db"), "s-mira")


@pytest.fixture
def jonas(connection: sqlite3.Connection, tmp_path: Path) -> Session:
    """A user of the cabin."""
    return Session(assistant(connection, tmp_path / "home.db"), "s-jonas")


@pytest.fixture
def nobody(connection: sqlite3.Connection, tmp_path: Path) -> Session:
    return Session(assistant(connection, tmp_path / "home.db"), "s-unknown")


@pytest.mark.exhaustive
def test_the_database_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("a.db", "b.db"):
        database.content.cache_clear()
        database.build(tmp_path / name)
    with (
        closing(sqlite3.connect(tmp_path / "a.db")) as one,
        closing(sqlite3.connect(tmp_path / "b.db")) as two,
    ):
        assert list(one.iterdump()) == list(two.iterdump())
        assert one.execute("select count(*), count(distinct site_id) from device").fetchone() == (40, 2)
        assert one.execute("select count(distinct at) from reading").fetchone() == (30 * 24,)


@pytest.mark.exhaustive
def test_demo_prints_what_stands_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo.main(tmp_path / "home.db")
    assert capsys.readouterr().out == (HOME / "demo.txt").read_text(encoding="utf-8")


async def test_every_example_of_the_design_gives_what_it_says() -> None:
    checked = build(design).design
    assert checked is not None
    tools = [tool for service in checked.services for toolset in service.toolsets for tool in toolset.tools]
    async with runtime_for_tests() as runtime:
        for tool in tools:
            for example in tool.examples:
                result = await runtime.call(tool.id, json.dumps(example.args), CallMeta(session_id="s-mira"))
                assert result.status == "ok", result.json
                assert example.result in (None, _seen(result))
    assert {tool.name for tool in tools if not tool.examples} == {
        "factory_reset",
        "update_firmware",
        "draw_readings",
        "sign_in",
    }


# devices


def test_devices_come_in_pages(mira: Session) -> None:
    names: list[str] = []
    arguments: dict[str, object] = {"site_id": "harbour", "limit": 7}
    while True:
        result = mira.call("list_devices", arguments)
        page = _seen(result)
        names += [device["name"] for device in page["devices"]]
        assert result.bounds is not None
        assert (page["returned"], page["total"]) == (len(page["devices"]), 24)
        assert page["truncated"] is result.bounds.truncated
        assert page.get("next_cursor") == result.bounds.next_cursor
        if result.bounds.next_cursor is None:
            break
        arguments["cursor"] = result.bounds.next_cursor
    assert page["truncated"] is False
    assert len(names) == len(set(names)) == 24
    assert names == sorted(names)


def test_devices_are_filtered(mira: Session) -> None:
    page = mira.answer("list_devices", {"site_id": "cabin", "status": "offline", "kind": "light"})
    assert [device["name"] for device in page["devices"]] == ["Floor lamp"]
    assert page["devices"][0]["last_seen"] == "2026-01-29T04:00:00Z"
    assert page["truncated"] is False


def test_a_device_that_never_reported_has_no_last_seen(mira: Session) -> None:
    (device,) = mira.answer("list_devices", {"site_id": "harbour", "status": "unknown"})["devices"]
    assert "last_seen" not in device


@pytest.mark.parametrize("cursor", ["", "nonsense", "☃", "QUJD", "/w=="])
def test_a_foreign_cursor_is_refused_in_words(mira: Session, cursor: str) -> None:
    message = mira.error("list_devices", {"site_id": "harbour", "cursor": cursor})
    assert message == f"{cursor!r} is no cursor of list_devices; leave it out to get the first page."


@pytest.mark.parametrize("text", ["' or 1=1 --", 'harbour"; drop table device; --', "%", "harbour\x00"])
def test_sql_in_an_argument_is_text(mira: Session, text: str) -> None:
    assert "has no site" in mira.error("list_devices", {"site_id": text})
    search = mira.call("search", {"query": text})
    assert search.status == "ok" or _seen(search) == {"error": "The query holds no word."}
    assert "has no device" in mira.error(
        "set_state", {"device_id": text, "command": {"kind": "switch", "on": True}}
    )
    assert mira.answer("list_devices", {"site_id": "harbour"})["total"] == 24


def test_the_series_goes_to_the_screen_and_the_summary_to_the_model(mira: Session) -> None:
    period = {"start": "2026-01-20T00:00:00Z", "end": "2026-01-27T01:00:00+01:00"}
    result = mira.call("get_time_series", {"device_id": "h15", **period})
    series = devices.GET_TIME_SERIES_TIME_SERIES.get(result)
    assert series is not None
    values = [reading.value for reading in series.readings]
    seen = _seen(result)
    assert set(seen) == {"summary", "count", "low", "high"}
    assert (seen["count"], seen["low"], seen["high"]) == (7 * 24, min(values), max(values))
    assert "readings" not in result.json.decode()
    (artifact,) = result.artifacts
    assert (artifact.kind, artifact.source_tool) == ("time_series", "assistant.devices.get_time_series")
    assert len(json.loads(artifact.json)["readings"]) == 7 * 24


def test_a_period_without_readings_has_no_extremes(mira: Session) -> None:
    period = {"start": "2027-01-01T00:00:00Z", "end": "2027-01-02T00:00:00Z"}
    assert mira.answer("get_time_series", {"device_id": "h15", **period}) == {
        "summary": "Living room climate reported no humidity in this period.",
        "count": 0,
    }


def test_an_empty_period_is_refused(mira: Session) -> None:
    period = {"start": "2026-01-02T00:00:00Z", "end": "2026-01-01T00:00:00Z"}
    assert "start must lie before end" in mira.error("get_time_series", {"device_id": "h15", **period})


@pytest.mark.parametrize(
    ("device_id", "command", "settings"),
    [
        ("h06", {"kind": "switch", "on": False}, {"on": False}),
        ("h09", {"kind": "dim", "level": 40}, {"on": True, "level": 40}),
        ("h12", {"kind": "move", "position": 100}, {"position": 100}),
        ("h14", {"kind": "heat", "target": 21.5}, {"target": 21.5}),
    ],
)
def test_a_command_changes_the_settings_once(
    mira: Session, device_id: str, command: dict[str, object], settings: dict[str, object]
) -> None:
    first = mira.answer("set_state", {"device_id": device_id, "command": command})
    again = mira.answer("set_state", {"device_id": device_id, "command": command})
    assert first["settings"] == again["settings"] == settings
    assert (first["changed"], again["changed"]) == (True, False)


def test_a_command_that_the_device_cannot_take_is_refused_in_words(mira: Session) -> None:
    assert mira.error("set_state", {"device_id": "h14", "command": {"kind": "dim", "level": 5}}) == (
        "Living room radiator is a thermostat and takes heat, not dim."
    )
    assert mira.error("set_state", {"device_id": "h02", "command": {"kind": "switch", "on": False}}) == (
        "Front door is a lock and takes no commands."
    )
    assert mira.error("set_state", {"device_id": "h10", "command": {"kind": "dim", "level": 5}}) == (
        "Ceiling lamp is offline: no command can reach it."
    )


@pytest.mark.parametrize(
    ("command", "path", "constraint"),
    [
        ({"kind": "explode"}, "$.command.kind", "invalid_enum_value"),
        ({"level": 5}, "$.command.kind", "missing_field"),
        ({"kind": "dim", "level": 0}, "$.command.level", "invalid_range"),
        ({"kind": "dim", "position": 5, "level": 5}, "$.command.position", "unknown_field"),
        ({"kind": "heat", "target": 21.3}, "$.command.target", "invalid_range"),
        ({"kind": "switch", "on": "yes"}, "$.command.on", "invalid_type"),
    ],
)
def test_a_malformed_command_is_an_issue_at_its_path(
    mira: Session, command: dict[str, object], path: str, constraint: str
) -> None:
    result = mira.call("set_state", {"device_id": "h09", "command": command})
    assert result.retry_hint is not None
    assert [(issue.path, issue.constraint) for issue in result.retry_hint.issues] == [(path, constraint)]


# sessions


def test_a_user_reaches_only_the_own_sites(jonas: Session) -> None:
    assert jonas.answer("list_devices", {"site_id": "cabin"})["total"] == 16
    assert jonas.error("list_devices", {"site_id": "harbour"}) == (
        "The user has no site 'harbour', but these: cabin."
    )
    period = {"start": "2026-01-20T00:00:00Z", "end": "2026-01-27T00:00:00Z"}
    assert "has no device 'h15'" in jonas.error("get_time_series", {"device_id": "h15", **period})
    dim = {"kind": "dim", "level": 40}
    assert "has no device 'h09'" in jonas.error("set_state", {"device_id": "h09", "command": dim})


def test_a_session_that_nobody_opened_reaches_nothing(nobody: Session) -> None:
    assert nobody.error("list_devices", {"site_id": "cabin"}) == "The user has no sites."
    assert nobody.error("get_user_data", {}) == "Nobody is signed in."


@pytest.mark.parametrize("tool", ["list_devices", "get_time_series", "set_state", "get_user_data"])
def test_the_model_cannot_set_the_session(mira: Session, tool: str) -> None:
    result = mira.call(tool, {"session_id": "s-jonas"})
    assert result.retry_hint is not None
    refused = [issue.path for issue in result.retry_hint.issues if issue.constraint == "unknown_field"]
    assert refused == ["$.session_id"]


# account


def test_a_user_is_shown_under_the_names_of_the_tool(mira: Session) -> None:
    assert mira.answer("get_user_data", {"include": ["contact", "preferences"]}) == {
        "name": "Mira Okafor",
        "email": "mira@example.org",
        "preferences": {"language": "en", "night_level": "5", "units": "metric"},
    }
    sites = mira.answer("get_user_data", {})["sites"]
    assert [site["id"] for site in sites] == ["cabin", "harbour"]


# documents


def test_search_finds_the_section_and_counts_the_rest(mira: Session) -> None:
    result = mira.call("search", {"query": "factory reset", "manual": "bolt-l4"})
    (hit,) = _seen(result)["hits"]
    assert (hit["ref"], hit["heading"]) == ("bolt-l4/5", "Bolt L4 door lock › Factory reset")
    result = mira.call("search", {"query": "battery", "limit": 2})
    assert result.bounds is not None
    assert result.bounds.returned == 2
    assert result.bounds.truncated
    assert result.bounds.total is not None
    assert result.bounds.total > 2
    assert result.bounds.refinement_hint == "Add a word, or name the manual."


def test_search_without_a_match_says_what_to_do(mira: Session) -> None:
    seen = mira.answer("search", {"query": "battery submarine"})
    assert (seen["hits"], seen["returned"], seen["total"], seen["truncated"]) == ([], 0, 0, False)
    assert "try fewer words" in seen["refinement_hint"]


@pytest.mark.parametrize(
    "query", first(['"', "battery AND", "title:battery", "NEAR(battery", "*", "-battery", "( )"], 2)
)
def test_operators_of_the_index_are_words(mira: Session, query: str) -> None:
    result = mira.call("search", {"query": query})
    assert result.status == "ok" or _seen(result) == {"error": "The query holds no word."}


def test_the_table_of_contents_goes_as_deep_as_asked(mira: Session) -> None:
    titles = mira.answer("table_of_contents", {})["manuals"]
    assert len(titles) == 7
    assert all("sections" not in manual for manual in titles)
    (manual,) = mira.answer("table_of_contents", {"manual": "koppel-p1", "depth": 3})["manuals"]
    assert [section["title"] for section in manual["sections"]] == [
        "Limits",
        "Pairing",
        "Measuring power",
        "Problems",
    ]
    assert manual["sections"][1]["sections"] == [{"ref": "koppel-p1/2.1", "title": "Factory reset"}]


def test_an_unknown_manual_is_named_with_the_known_ones(mira: Session) -> None:
    for tool, arguments in (("search", {"query": "reset"}), ("table_of_contents", {})):
        assert "There is no manual 'x', but these: bolt-l4, klima-s2" in mira.error(
            tool, {**arguments, "manual": "x"}
        )


async def test_a_new_folder_keeps_its_first_artifact(tmp_path: Path) -> None:
    """The database is built in a folder that has none, and what it forgets then is older than it."""
    period = {"start": "2026-01-28T00:00:00Z", "end": "2026-01-29T00:00:00Z"}
    with runtime(tmp_path / "home.db") as made:
        async with made:
            meta = CallMeta(session_id="s-mira")
            result = await made.call("get_time_series", {"device_id": "h23", **period}, meta)
    (artifact,) = result.artifacts
    assert artifact.ref is not None
    assert artifact.ref.not_stored_reason == ""
    assert artifact.ref.uri

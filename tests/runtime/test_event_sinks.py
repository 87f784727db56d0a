"""Events in a file of JSON lines."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from toolgen.calls.call import CallMeta
from toolgen.events.document import from_json
from toolgen.events.hub import Events
from toolgen.events.records import EventsDropped, ToolOutputDelta, ToolUpdate
from toolgen.events.sinks import JsonLinesSink

RUN = CallMeta(run_id="r1")


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


async def test_each_event_is_a_line(tmp_path: Path) -> None:
    file, events = tmp_path / "events.jsonl", Events()
    for turn in range(2):
        async with JsonLinesSink(events, file) as sink:
            events.emit(ToolOutputDelta(tool="a.b.c", text=f"zwölf\n{turn}"), RUN)
            events.emit(ToolUpdate(tool="a.b.c"), RUN)
        assert (sink.written, sink.failed, sink.dropped) == (2, 0, 0)
    assert [from_json(line).seq for line in lines(file)] == [1, 2, 3, 4]
    assert events.is_idle


@pytest.mark.parametrize("break_", ["\n", "\r", "\x85", "\u2028", "\u2029"])
async def test_no_text_forges_a_line(tmp_path: Path, break_: str) -> None:
    file, events = tmp_path / "events.jsonl", Events()
    text = f'a{break_}{{"type":"tool_update"}}'
    async with JsonLinesSink(events, file):
        events.emit(ToolOutputDelta(tool="a.b.c", text=text), RUN)
    (line,) = lines(file)
    assert line["text"] == text


async def test_a_terminal_obeys_nothing_in_a_line(tmp_path: Path) -> None:
    file, events = tmp_path / "events.jsonl", Events()
    text = "a\x1b[2J\x9b2J\u202eb\U000e0041 zwölf \\n"
    async with JsonLinesSink(events, file):
        events.emit(ToolOutputDelta(tool="a.b.c", text=text), RUN)
    (line,) = file.read_text("utf-8").splitlines()
    assert line.isprintable()
    assert "zwölf" in line
    assert json.loads(line)["text"] == text


async def test_a_new_file_is_its_owners_and_the_access_to_an_old_one_stays(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").touch()
    (tmp_path / "old.jsonl").chmod(0o640)
    for name, mode in (("new.jsonl", 0o600), ("old.jsonl", 0o640)):
        async with JsonLinesSink(Events(), tmp_path / name):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode


async def test_what_was_dropped_stands_in_its_place_and_in_the_last_line(tmp_path: Path) -> None:
    file, events = tmp_path / "events.jsonl", Events()
    async with JsonLinesSink(events, file, size=2) as sink:
        for _ in range(5):
            events.emit(ToolUpdate(tool="a.b.c"), RUN)
    first, *rest, last = [from_json(line) for line in lines(file)]
    assert isinstance(first, EventsDropped)
    assert isinstance(last, EventsDropped)
    assert (first.count, [event.seq for event in rest], last.count, last.total) == (3, [4, 5], 0, 3)
    assert sink.dropped == 3


async def test_a_file_that_ends_in_half_a_line_goes_on_with_a_new_one(tmp_path: Path) -> None:
    file, events = tmp_path / "events.jsonl", Events()
    file.write_text('{"format":1,"se')
    async with JsonLinesSink(events, file):
        events.emit(ToolUpdate(tool="a.b.c"), RUN)
    torn, line = file.read_text().splitlines()
    assert torn == '{"format":1,"se'
    assert from_json(json.loads(line)).seq == 1


async def test_a_file_that_cannot_be_opened_is_said_at_once(tmp_path: Path) -> None:
    events = Events()
    with pytest.raises(FileNotFoundError):
        await JsonLinesSink(events, tmp_path / "no" / "events.jsonl").__aenter__()
    assert events.is_idle


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the disk that is always full is Linux's")
async def test_a_full_disk_is_counted_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    events = Events()
    async with JsonLinesSink(events, "/dev/full") as sink:
        events.emit(ToolUpdate(tool="a.b.c"), RUN)
        events.emit(ToolUpdate(tool="a.b.c"), RUN)
    assert sink.written == 0
    assert sink.failed >= 2
    assert len(caplog.records) == 1
    assert "No space left" in caplog.text


async def test_an_event_that_is_not_json_is_counted(tmp_path: Path) -> None:
    file, events = tmp_path / "events.jsonl", Events()
    async with JsonLinesSink(events, file) as sink:
        events.emit(ToolUpdate(tool="a.b.c", value=object()), RUN)
        events.emit(ToolUpdate(tool="a.b.c"), RUN)
    assert (sink.written, sink.failed) == (2, 1)  # the last line says that one is missing
    assert [from_json(line).type for line in lines(file)] == ["tool_update", "events_dropped"]

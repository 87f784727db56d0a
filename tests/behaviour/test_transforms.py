"""Generated transforms and bound executors: nothing is lost, nothing appears that nobody gave."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from typing import Any

import pytest

from tests.cases.binding.gen.assistant.toolsets import devices
from tests.cases.binding.gen.assistant.toolsets.devices import transforms
from tests.cases.binding.gen.device_service import service as device_service
from tests.cases.binding.gen.types import Reading, TimeSeries
from tests.cases.binding.gen.user_service import service as user_service
from tests.cases.bounded.gen.store import service as store
from tests.cases.bounded.gen.store.toolsets.rows import transforms as rows
from tests.cases.enums.gen.states.toolsets import states
from tests.cases.enums.gen.states.toolsets.states import transforms as state_transforms
from tests.cases.nullable_optional.gen.notes import service as notes_service
from tests.cases.nullable_optional.gen.notes.toolsets import notes
from tests.cases.nullable_optional.gen.notes.toolsets.notes import transforms as note_transforms
from toolgen.runtime import CallMeta, ToolContext, ToolOutcome

CONTEXT = ToolContext(CallMeta(), "assistant.devices.find")


def find(**fields: Any) -> device_service.SearchPayload:
    payload = devices.FIND.payload.decode(json.dumps({"site": "s", **fields}))
    payload.set_session_id("x")
    payload.set_tenant("t")
    return transforms.to_find_method_payload(payload)


def test_renamed_and_injected_fields_reach_the_method() -> None:
    payload = find()
    assert (payload.site_id, payload.session_id, payload.tenant) == ("s", "x", "t")
    assert payload.order is None


def test_an_absent_argument_gives_the_default_of_the_method() -> None:
    assert find().filter == device_service.SearchPayloadFilter(name="all")
    assert find(filter={}).filter == device_service.SearchPayloadFilter(name="*")


def test_nested_objects_arrays_and_maps_are_rebuilt() -> None:
    payload = find(filter={"limits": {"celsius": {"low": 3}, "percent": {}}}, order=[{"by": "name"}])
    assert payload.filter.limits == {
        "celsius": device_service.SearchPayloadFilterLimits(low=3),
        "percent": device_service.SearchPayloadFilterLimits(),
    }
    assert payload.order == [device_service.SearchPayloadOrder(by="name")]


def test_a_result_loses_what_the_tool_does_not_show() -> None:
    match = device_service.SearchResultMatches(id="a", secret="hidden")
    result = transforms.to_find_result(device_service.SearchResult(matches=[match]))
    assert result == devices.FindResult(devices=[devices.FindResultDevices(id="a", label="?")])
    assert devices.FIND.result.encode(result) == b'{"devices":[{"id":"a","label":"?"}]}'


def test_unions_are_rebuilt_branch_by_branch() -> None:
    dim, off = {"kind": "dim", "level": 3}, {"kind": "off"}
    payload = devices.COMMAND.payload.decode(json.dumps({"id": "a", "command": dim, "then": [off, dim]}))
    made = transforms.to_command_method_payload(payload)
    assert made.command == device_service.CommandPayloadCommandDim(level=3)
    assert made.then == [
        device_service.CommandPayloadThenOff(),
        device_service.CommandPayloadThenDim(level=3),
    ]


def test_absent_null_and_given_stay_apart() -> None:
    def update(**fields: object) -> notes_service.UpdatePayload:
        document = {"id": "a", "editor": None, **fields}
        return note_transforms.to_update_method_payload(
            notes.UPDATE.payload.decode_null_as_absent(json.dumps(document))
        )

    absent = update()
    assert not absent.model_fields_set & {"title", "subtitle", "place", "extra", "value"}
    assert (absent.text, absent.tags, absent.author, absent.counts) == ("none", ["new"], None, {"a": 1})
    null = update(title=None, subtitle=None, place=None, extra=None, value=None)
    assert null.model_fields_set >= {"title", "place", "extra", "value"}
    assert "subtitle" not in null.model_fields_set
    given = update(title="t", subtitle="u", place={"page": 2}, extra=[1], text="v", tags=[])
    assert (given.title, given.subtitle, given.extra, given.text, given.tags) == ("t", "u", [1], "v", [])
    assert given.place == notes_service.UpdatePayloadPlace(page=2)


def test_an_absent_field_of_a_result_stays_absent() -> None:
    bare = note_transforms.to_update_result(notes_service.UpdateResult(id="a", text=None))
    assert notes.UPDATE.result.encode(bare) == b'{"id":"a"}'
    place = notes_service.UpdateResultPlace(page=1)
    full = note_transforms.to_update_result(notes_service.UpdateResult(id="a", text="b", place=place))
    assert notes.UPDATE.result.encode(full) == b'{"id":"a","text":"b","place":{"page":1}}'


def test_enums_become_plain_values() -> None:
    payload = states.SET.payload.decode('{"state": "online", "levels": [10], "names": {"a": "offline"}}')
    made = state_transforms.to_set_method_payload(payload)
    assert (made.state, made.levels, made.names) == ("online", [10], {"a": "offline"})


@pytest.mark.parametrize(("total", "truncated"), [(2, False), (3, True)])
def test_bounds_follow_from_the_total(total: int, truncated: bool) -> None:
    result = rows.to_counted_result(store.CountedResult(rows=["a", "b"], total=total))
    assert (result.returned, result.truncated, result.total) == (2, truncated, total)


@pytest.mark.parametrize(
    ("cursor", "total", "truncated"),
    [(None, None, False), ("n", None, True), (None, 9, False), ("n", 1, True)],
)
def test_bounds_follow_from_the_next_cursor(cursor: str | None, total: int | None, truncated: bool) -> None:
    result = rows.to_paged_result(store.PagedResult(rows=["a"], next_cursor=cursor, total=total))
    assert (result.returned, result.truncated) == (1, truncated)


def test_a_next_cursor_that_is_always_there_leaves_it_to_the_total() -> None:
    result = rows.to_endless_result(store.EndlessResult(rows=["a"], next_cursor="n", total=1))
    assert (result.returned, result.truncated) == (1, False)


class Devices:
    """A device service without devices."""

    raw: device_service.SeriesResultRaw | None = None

    async def search(self, payload: device_service.SearchPayload) -> device_service.SearchResult:
        return device_service.SearchResult(matches=[])

    async def command(self, payload: device_service.CommandPayload) -> device_service.CommandResult:
        return device_service.CommandResult(done=[device_service.CommandResultDoneOff()])

    async def series(self, payload: device_service.SeriesPayload) -> device_service.SeriesResult:
        readings = [Reading(at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), value=1.5)]
        series = TimeSeries(unit="celsius", readings=readings)
        return device_service.SeriesResult(summary="warm", series=series, raw=self.raw)


class Users:
    async def user(self, payload: user_service.UserPayload) -> user_service.UserResult:
        return user_service.UserResult(name=f"{payload.session_id}: {payload.fields}")


class Executor(devices.BoundDevicesExecutor):
    async def ping(self, payload: devices.PingPayload, ctx: ToolContext) -> devices.PingResult:
        return devices.PingResult()


def executor() -> Executor:
    return Executor(device_service=Devices(), user_service=Users())


def test_a_bound_executor_calls_the_service() -> None:
    payload = devices.WhoamiPayload(fields=["name", "age"])
    payload.set_session_id("x")
    result = asyncio.run(executor().whoami(payload, CONTEXT))
    assert result == devices.WhoamiResult(name="x: ['name', 'age']")


def test_artifacts_are_filled_from_the_result_of_the_method() -> None:
    outcome = asyncio.run(executor().time_series(devices.TimeSeriesPayload(id="a"), CONTEXT))
    assert isinstance(outcome, ToolOutcome)
    assert outcome.result == devices.TimeSeriesResult(summary="warm")
    assert [artifact.kind for artifact in outcome.artifacts] == ["series"]


def test_an_artifact_that_the_method_may_leave_out_is_there_when_it_is_not() -> None:
    service = Devices()
    service.raw = device_service.SeriesResultRaw(lines=["a"])
    bound = Executor(device_service=service, user_service=Users())
    outcome = asyncio.run(bound.time_series(devices.TimeSeriesPayload(id="a"), CONTEXT))
    assert isinstance(outcome, ToolOutcome)
    assert outcome.artifacts[1].data == devices.TimeSeriesRaw(lines=["a"])


def test_unbound_tools_stay_abstract() -> None:
    with pytest.raises(TypeError, match="ping"):
        devices.BoundDevicesExecutor(device_service=Devices(), user_service=Users())  # type: ignore[abstract]

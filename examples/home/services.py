"""The services behind the tools: ordinary Python over SQLite, which knows nothing of models.

They satisfy the protocols in `gen/*/service.py`. A query takes well under a millisecond and runs in
the event loop; a slower service would await a driver, or be wrapped in `toolgen.runtime.in_thread`.
A `ToolError` is a sentence for whoever called; the model reads it as it stands here.
"""

from __future__ import annotations

import base64
import json
import sqlite3
from datetime import UTC, date, datetime
from typing import Final

from gen.device_service import (
    ListDevicesPayload,
    ListDevicesResult,
    ReadDevicePayload,
    ReadDeviceResult,
    SetStatePayload,
    SetStateResult,
)
from gen.types import Device, Reading, Site, TimeSeries
from gen.user_service import GetUserPayload, GetUserResult
from toolgen.runtime import ToolError

_SITES: Final = """
    select site.id, site.name, site.timezone
    from session join member using (user_id) join site on site.id = member.site_id
    where session.id = :session_id
    order by site.name
"""

_DEVICE: Final = """
    select *, (select max(at) from reading where device_id = device.id) as last_seen
    from device
"""

_MATCHING: Final = """
    site_id = :site_id and status = coalesce(:status, status) and kind = coalesce(:kind, kind)
"""


class DeviceStore:
    """The `DeviceService` on SQLite."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    async def list_devices(self, payload: ListDevicesPayload) -> ListDevicesResult:
        sites = [site.id for site in _sites(self._database, payload.session_id)]
        if payload.site_id not in sites:
            known = f"no site {payload.site_id!r}, but these: {', '.join(sites)}" if sites else "no sites"
            raise ToolError(f"The user has {known}.")
        name, id_ = _read_cursor(payload.cursor) if payload.cursor is not None else ("", "")
        arguments = {
            "site_id": payload.site_id,
            "status": payload.status,
            "kind": payload.kind,
            "name": name,
            "id": id_,
            "most": payload.limit + 1,  # one more, which tells whether there is a next page
        }
        (total,) = self._database.execute(
            f"select count(*) from device where {_MATCHING}", arguments
        ).fetchone()
        rows = self._database.execute(
            f"{_DEVICE} where {_MATCHING} and (name, id) > (:name, :id) order by name, id limit :most",
            arguments,
        ).fetchall()
        page = [_device(row) for row in rows[: payload.limit]]
        more = len(rows) > payload.limit
        return ListDevicesResult(
            devices=page, total=total, next_cursor=_write_cursor(page[-1]) if more else None
        )

    async def read_device(self, payload: ReadDevicePayload) -> ReadDeviceResult:
        row = self._find(payload.session_id, payload.device_id)
        if payload.start >= payload.end:
            raise ToolError("The period is empty: start must lie before end.")
        readings = self._database.execute(
            "select at, value from reading where device_id = ? and at >= ? and at < ? order by at",
            [payload.device_id, payload.start.timestamp(), payload.end.timestamp()],
        )
        series = TimeSeries(
            device=_device(row),
            quantity=row["quantity"],
            unit=row["unit"],
            readings=[Reading(at=_instant(at), value=value) for at, value in readings],
        )
        return ReadDeviceResult(time_series=series)

    async def set_state(self, payload: SetStatePayload) -> SetStateResult:
        row = self._find(payload.session_id, payload.device_id)
        change = payload.command.model_dump()
        command, commands = change.pop("kind"), json.loads(row["commands"])
        if command not in commands:
            takes = f"{', '.join(commands)}, not {command}" if commands else "no commands"
            raise ToolError(f"{row['name']} is a {row['kind']} and takes {takes}.")
        if row["status"] != "online":
            raise ToolError(f"{row['name']} is {row['status']}: no command can reach it.")
        before = json.loads(row["settings"])
        settings = before | change
        with self._database:
            self._database.execute(
                "update device set settings = ? where id = ?", [json.dumps(settings), payload.device_id]
            )
        return SetStateResult(device=_device(row), changed=settings != before, settings=settings)

    def _find(self, session_id: str, device_id: str) -> sqlite3.Row:
        """Return the row of a device on one of the user's sites."""
        sites = {site.id for site in _sites(self._database, session_id)}
        row: sqlite3.Row | None = self._database.execute(f"{_DEVICE} where id = ?", [device_id]).fetchone()
        if row is None or row["site_id"] not in sites:
            raise ToolError(f"The user has no device {device_id!r}; list_devices gives the ids.")
        return row


class UserStore:
    """The `UserService` on SQLite."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    async def get_user(self, payload: GetUserPayload) -> GetUserResult:
        user = self._database.execute(
            "select user.* from session join user on user.id = user_id where session.id = ?",
            [payload.session_id],
        ).fetchone()
        if user is None:
            raise ToolError("Nobody is signed in.")
        signed_in_at = self._database.execute(
            "select started_at from session where user_id = ? order by started_at desc limit ?",
            [user["id"], payload.sign_ins],
        )
        return GetUserResult(
            user_id=user["id"],
            display_name=user["display_name"],
            member_since=date.fromisoformat(user["member_since"]),
            email=user["email"] if "contact" in payload.parts else None,
            sites=_sites(self._database, payload.session_id) if "sites" in payload.parts else None,
            preferences=json.loads(user["preferences"]) if "preferences" in payload.parts else None,
            signed_in_at=[datetime.fromisoformat(text) for (text,) in signed_in_at],
        )


def _sites(database: sqlite3.Connection, session_id: str) -> list[Site]:
    """Return the sites that the user of the session may see, by name; none for an unknown session."""
    rows = database.execute(_SITES, {"session_id": session_id})
    return [Site(id=id_, name=name, timezone=timezone) for id_, name, timezone in rows]


def _device(row: sqlite3.Row) -> Device:
    last_seen = row["last_seen"]
    return Device(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        room=row["room"],
        manual=row["manual"],
        status=row["status"],
        last_seen=_instant(last_seen) if last_seen is not None else None,
    )


def _instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _write_cursor(last: Device) -> str:
    """Return the cursor of the page after this device."""
    return base64.urlsafe_b64encode(f"{last.name}\n{last.id}".encode()).decode()


def _read_cursor(cursor: str) -> tuple[str, str]:
    """Return name and id of the device that the last page ended with."""
    try:
        text = base64.urlsafe_b64decode(cursor).decode()
    except ValueError:
        text = ""
    name, newline, id_ = text.partition("\n")
    if not newline:
        raise ToolError(f"{cursor!r} is no cursor of list_devices; leave it out to get the first page.")
    return name, id_

"""Executes the tools of assistant.maintenance in home."""

import hmac
import json
import sqlite3
import uuid

from examples.home.png import bars
from gen.assistant.toolsets import maintenance
from toolgen.runtime import ImageContent, LongRunningReturn, ToolContext, ToolError, ToolOutcome, ToolReturn


class Maintenance(maintenance.MaintenanceExecutor):
    """Maintain the devices."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    async def factory_reset(
        self, payload: maintenance.FactoryResetPayload, ctx: ToolContext
    ) -> ToolReturn[maintenance.FactoryResetResult]:
        """Reset a device to factory settings. Deletes all of its settings and returns them."""
        row = self._find(payload.user_id, payload.device_id)
        approval = ctx.answered(maintenance.FactoryResetApproval)
        keeps_on = approval is not None and approval.keep_on
        before = json.loads(row["settings"])
        kept = {name: value for name, value in before.items() if name == "on" and keeps_on}
        with self._database:
            self._database.execute(
                "update device set settings = ? where id = ?", [json.dumps(kept), payload.device_id]
            )
        lost = {name: value for name, value in before.items() if name not in kept}
        return maintenance.FactoryResetResult(name=row["name"], lost=lost)

    async def update_firmware(
        self, payload: maintenance.UpdateFirmwarePayload, ctx: ToolContext
    ) -> LongRunningReturn[maintenance.UpdateFirmwareResult, maintenance.UpdateFirmwareAck]:
        """Write a job down, which `examples.home.firmware` does in a process of its own."""
        self._find(payload.user_id, payload.device_id)
        job = uuid.uuid4().hex
        with self._database:
            self._database.execute(
                "insert into firmware_job (id, device_id, user_id, version) values (?, ?, ?, ?)",
                [job, payload.device_id, payload.user_id, payload.version],
            )
        return ToolOutcome.pending(job, maintenance.UpdateFirmwareAck(minutes=4))

    async def draw_readings(
        self, payload: maintenance.DrawReadingsPayload, ctx: ToolContext
    ) -> ToolReturn[maintenance.DrawReadingsResult]:
        """Draw a chart of the readings of a device in the last week, one bar per hour."""
        row = self._find(payload.user_id, payload.device_id)
        readings = self._database.execute(
            "select value from reading where device_id = ? order by at desc limit 168", [payload.device_id]
        )
        values = [value for (value,) in readings][::-1]
        if not values:
            raise ToolError(f"{row['name']} has measured nothing.")
        result = maintenance.DrawReadingsResult(
            quantity=row["quantity"], unit=row["unit"], low=min(values), high=max(values)
        )
        return ToolOutcome.of(
            result,
            content=[ImageContent(data=bars(values), media_type="image/png")],
            display=f"{row['quantity']} of {row['name']}, {len(values)} hours",
        )

    async def sign_in(
        self, payload: maintenance.SignInPayload, ctx: ToolContext
    ) -> ToolReturn[maintenance.SignInResult]:
        """Sign in with a PIN. After that, the tools that change rooms are available."""
        (pin,) = self._database.execute("select pin from user where id = ?", [payload.user_id]).fetchone()
        if not hmac.compare_digest(pin, payload.pin):
            raise ToolError("This is not the PIN of the user.")
        ctx.state.set("session:signed_in", True)
        return maintenance.SignInResult(is_signed_in=True)

    def _find(self, user_id: str, device_id: str) -> sqlite3.Row:
        """Return the row of a device on one of the user's sites."""
        row: sqlite3.Row | None = self._database.execute(
            "select device.* from device join member using (site_id) where user_id = ? and id = ?",
            [user_id, device_id],
        ).fetchone()
        if row is None:
            raise ToolError(f"The user has no device {device_id!r}; list_devices gives the ids.")
        return row

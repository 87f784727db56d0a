"""Executes the tools of assistant.devices in home."""

from gen.assistant.toolsets import devices
from gen.device_service import ReadDevicePayload
from gen.types import TimeSeries
from toolgen.runtime import ToolContext, ToolOutcome, ToolReturn


class Devices(devices.BoundDevicesExecutor):
    """Find devices, read their measurements, and control them."""

    async def get_time_series(
        self, payload: devices.GetTimeSeriesPayload, ctx: ToolContext
    ) -> ToolReturn[devices.GetTimeSeriesResult]:
        """Summarize the readings of a device in a period. Returns count, lowest and highest."""
        read = await self._device_service.read_device(
            ReadDevicePayload(
                session_id=payload.session_id,
                device_id=payload.device_id,
                start=payload.start,
                end=payload.end,
            )
        )
        series = read.time_series
        values = [reading.value for reading in series.readings]
        result = devices.GetTimeSeriesResult(
            summary=_summary(series, values),
            count=len(values),
            low=min(values, default=None),
            high=max(values, default=None),
        )
        return ToolOutcome.of(result, artifacts=[devices.GET_TIME_SERIES_TIME_SERIES.of(series)])


def _summary(series: TimeSeries, values: list[float]) -> str:
    """Return the readings in one sentence: the mean, the range and the newest."""
    name, quantity, unit = series.device.name, series.quantity, series.unit
    if not values:
        return f"{name} reported no {quantity} in this period."
    mean, low, high = sum(values) / len(values), min(values), max(values)
    return (
        f"{name}: {quantity} was {mean:.1f} {unit} on average, between {low} and {high} {unit}, "
        f"last {values[-1]} {unit}."
    )

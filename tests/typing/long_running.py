"""What type checkers say about the executor of a tool that answers later."""

from tests.cases.behaviour.gen.home.toolsets import devices
from tests.cases.behaviour.gen.types import Reason
from toolgen.runtime import LongRunningReturn, Pending, ToolContext, ToolOutcome, ToolReturn


class Devices(devices.DevicesExecutor):
    """As the stub has it."""

    async def update_firmware(
        self, payload: devices.UpdateFirmwarePayload, ctx: ToolContext
    ) -> LongRunningReturn[devices.UpdateFirmwareResult, devices.UpdateFirmwareAck]:
        match payload.device_id:
            case "now":
                return devices.UpdateFirmwareResult(version="2")
            case "whole":
                return ToolOutcome.of(devices.UpdateFirmwareResult(version="2"))
            case "ask":
                return ToolOutcome.ask("Which version?")
            case "silent":
                return ToolOutcome.pending("job")  # wrong
            case "other":
                return ToolOutcome.pending("job", Reason(text="Soon."))  # wrong
            case "result":
                return ToolOutcome.pending("job", devices.UpdateFirmwareResult(version="2"))  # wrong
            case "untyped":
                return ToolOutcome.pending("job", {"minutes": 4})  # wrong
            case "no handle":
                return ToolOutcome.pending(devices.UpdateFirmwareAck(minutes=4))  # wrong
            case _:
                return ToolOutcome.pending("job", devices.UpdateFirmwareAck(minutes=4))

    async def finish(
        self, payload: devices.FinishPayload, ctx: ToolContext
    ) -> LongRunningReturn[devices.FinishResult, Reason]:
        return ToolOutcome.pending("job", Reason(text="Soon."))

    async def measure(
        self, payload: devices.MeasurePayload, ctx: ToolContext
    ) -> LongRunningReturn[devices.MeasureResult, None]:
        if ctx.answer:
            return ToolOutcome.pending("job", Reason(text="Soon."))  # wrong
        return ToolOutcome.pending("job")

    async def answer(
        self, payload: devices.AnswerPayload, ctx: ToolContext
    ) -> ToolReturn[devices.AnswerResult]:
        return ToolOutcome.pending("job")  # wrong


class Always(devices.DevicesExecutor):
    """Never has a result at once."""

    async def update_firmware(
        self, payload: devices.UpdateFirmwarePayload, ctx: ToolContext
    ) -> Pending[devices.UpdateFirmwareAck]:
        return ToolOutcome.pending("job", devices.UpdateFirmwareAck(minutes=4))

    async def finish(  # wrong
        self, payload: devices.FinishPayload, ctx: ToolContext
    ) -> Pending[devices.UpdateFirmwareAck]:
        return ToolOutcome.pending("job", devices.UpdateFirmwareAck(minutes=4))

    async def measure(self, payload: devices.MeasurePayload, ctx: ToolContext) -> Pending[None]:
        return ToolOutcome.pending("job")

"""What type checkers say about an agent's executors: a missing one and a wrong one are errors."""

from tests.cases.agents.gen.assistant.agents import chat, diagnostics
from tests.cases.agents.gen.assistant.completions import DAILY_REPORT, complete_daily_report
from tests.cases.agents.gen.assistant.toolsets import devices, notes
from tests.cases.agents.gen.garage.toolsets import devices as garage
from toolgen.agents import AgentClient, ScriptedPlanner
from toolgen.calls.toolsets.registration import RawExecutor
from toolgen.runtime import Runtime, ToolContext
from toolgen.runtime.functions import Codec


class Devices(devices.DevicesExecutor):
    async def list_devices(
        self, payload: devices.ListDevicesPayload, ctx: ToolContext
    ) -> devices.ListDevicesResult:
        return devices.ListDevicesResult(names=[], returned=0, truncated=False)

    async def reset_device(
        self, payload: devices.ResetDevicePayload, ctx: ToolContext
    ) -> devices.ResetDeviceResult:
        return devices.ResetDeviceResult(done=True)

    async def delete_device(
        self, payload: devices.DeleteDevicePayload, ctx: ToolContext
    ) -> devices.DeleteDeviceResult:
        return devices.DeleteDeviceResult()


class Garage:
    async def count(self, payload: garage.CountPayload, ctx: ToolContext) -> garage.CountResult:
        return garage.CountResult(count=1)


class Notes:
    async def note(self, payload: notes.NotePayload, ctx: ToolContext) -> garage.CountResult:
        return garage.CountResult(count=1)


def register(runtime: Runtime, planner: ScriptedPlanner, raw: RawExecutor) -> AgentClient:
    own, other = Devices(), Garage()
    chat.register(runtime, planner=planner, assistant_devices=own, garage_devices=other, notes=raw)
    diagnostics.register(runtime, planner=planner, devices=own)
    diagnostics.register(runtime, planner=planner, devices=raw, dynamic=[])
    diagnostics.register(runtime, planner=planner)  # wrong
    diagnostics.register(runtime, devices=own)
    diagnostics.register(runtime, planner=1, devices=own)  # wrong
    diagnostics.register(runtime, planner=planner, devices=other)  # wrong
    diagnostics.register(runtime, planner=own, devices=own)  # wrong
    diagnostics.register(runtime, planner=planner, devices=own, checks=own)  # wrong
    chat.register(runtime, planner=planner, assistant_devices=own, garage_devices=other)  # wrong
    chat.register(runtime, planner=planner, assistant_devices=own, garage_devices=own, notes=raw)  # wrong
    chat.register(runtime, planner=planner, assistant_devices=raw, garage_devices=raw, notes=Notes())  # wrong
    return chat.client(runtime)


async def report(planner: ScriptedPlanner) -> str:
    found = await complete_daily_report(planner, "Today?")
    codec: Codec[str] = DAILY_REPORT.result  # wrong
    number: int = found.headline  # wrong
    return f"{found.headline} {codec} {number}"

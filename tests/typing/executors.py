"""What type checkers say about both forms of an executor's method, and about what its context has."""

from collections.abc import Callable
from typing import Final

from tests.cases.agents.gen.assistant.toolsets import devices
from toolgen.runtime import BoundTool, Key, SyncToolContext, ToolContext, ToolOutcome, ToolReturn

CLOCK: Final[Key[Callable[[], str]]] = Key("clock")


class Mixed(devices.DevicesExecutor):
    """Each method in the form that suits it."""

    def list_devices(
        self, payload: devices.ListDevicesPayload, ctx: SyncToolContext
    ) -> devices.ListDevicesResult:
        found = ctx.state.get("found")
        ctx.state.set("found", 1)
        number: str = ctx.artifacts.save("a", b"").version  # wrong
        clock: str = ctx.capability(CLOCK)()
        ctx.stat.get("found")  # wrong
        ctx.clock()  # wrong
        ctx.state.gets("found")  # wrong
        return devices.ListDevicesResult(names=[f"{found} {number} {clock}"], returned=1, truncated=False)

    async def reset_device(
        self, payload: devices.ResetDevicePayload, ctx: ToolContext
    ) -> ToolReturn[devices.ResetDeviceResult]:
        found: str = ctx.state.get("found")  # wrong
        version: int = (await ctx.artifacts.save("a", b"")).version
        clock: int = ctx.capability(CLOCK)()  # wrong
        await ctx.stat.get("found")  # wrong
        return ToolOutcome.of(devices.ResetDeviceResult(done=f"{found} {version} {clock}" == ""))

    def delete_device(
        self, payload: devices.DeleteDevicePayload, ctx: SyncToolContext
    ) -> ToolReturn[devices.DeleteDeviceResult]:
        return ToolOutcome.ask("Sure?")


class Mismatched(devices.DevicesExecutor):
    """The context of the other form, and a payload and a result of another tool."""

    def list_devices(  # wrong
        self, payload: devices.ListDevicesPayload, ctx: ToolContext
    ) -> devices.ListDevicesResult:
        return devices.ListDevicesResult(names=[], returned=0, truncated=False)

    async def reset_device(  # wrong
        self, payload: devices.ResetDevicePayload, ctx: SyncToolContext
    ) -> devices.ResetDeviceResult:
        return devices.ResetDeviceResult(done=True)

    def delete_device(  # wrong
        self, payload: devices.ResetDevicePayload, ctx: SyncToolContext
    ) -> devices.DeleteDeviceResult:
        return devices.DeleteDeviceResult()


class Alike:
    """Derives from nothing."""

    def list_devices(
        self, payload: devices.ListDevicesPayload, ctx: SyncToolContext
    ) -> devices.ListDevicesResult:
        return devices.ListDevicesResult(names=[], returned=0, truncated=False)

    async def reset_device(
        self, payload: devices.ResetDevicePayload, ctx: ToolContext
    ) -> devices.ResetDeviceResult:
        return devices.ResetDeviceResult(done=True)

    def delete_device(
        self, payload: devices.DeleteDevicePayload, ctx: SyncToolContext
    ) -> devices.DeleteDeviceResult:
        return devices.DeleteDeviceResult()


class Unlike(Alike):
    """Blocks in the event loop."""

    async def delete_device(  # type: ignore[override]  # that of `Alike` is not what is tested
        self, payload: devices.DeleteDevicePayload, ctx: SyncToolContext
    ) -> devices.DeleteDeviceResult:
        return devices.DeleteDeviceResult()


class Unfinished(devices.DevicesExecutor):
    """Has no method."""


def registered() -> None:
    devices.registration(Mixed())
    devices.registration(Alike())
    devices.registration(Unlike())  # wrong
    devices.registration(Unfinished())  # wrong
    BoundTool(spec=devices.RESET_DEVICE, execute=Mixed().reset_device)
    BoundTool(spec=devices.LIST_DEVICES, execute=Mixed().list_devices)

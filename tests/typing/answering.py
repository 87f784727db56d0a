"""What type checkers say about answers of persons: they have the type that was asked for."""

import datetime as dt
from dataclasses import dataclass
from typing import assert_type

from tests.cases.behaviour.gen.home.toolsets import devices
from toolgen.runtime import ToolContext, ToolOutcome, ToolReturn


@dataclass
class Address:
    city: str


async def send(payload: devices.NotePayload, ctx: ToolContext) -> ToolReturn[devices.NoteResult]:
    address = ctx.answered(Address)
    assert_type(address, Address | None)
    print(address.city)  # wrong
    if address is None:
        return ToolOutcome.ask("Where?", Address)
    assert_type(address.city, str)
    assert_type(ctx.answered(dt.date, "When?"), dt.date | None)
    if not ctx.approved(f"Send it to {address.city}?"):
        return ToolOutcome.approval(f"Send it to {address.city}?")
    ToolOutcome.ask("What?")
    ToolOutcome.ask("What?", {"type": "integer"})
    ToolOutcome.ask("What?", 3)  # wrong
    ToolOutcome.ask("What?", Address("Kiel"))  # wrong
    ToolOutcome.approval()  # wrong
    ctx.answered(Address("Kiel"))  # wrong
    ctx.approved(True)  # wrong
    return devices.NoteResult()


async def reset(
    payload: devices.ResetDevicePayload, ctx: ToolContext
) -> ToolReturn[devices.ResetDeviceResult]:
    approval = ctx.answered(devices.ResetDeviceApproval)
    assert_type(approval, devices.ResetDeviceApproval | None)
    print(approval is not None and approval.keep_nme)  # wrong
    return devices.ResetDeviceResult(done=approval is not None and approval.keep_name)

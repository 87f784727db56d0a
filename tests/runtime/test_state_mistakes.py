"""The state, used as if it were a mapping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, runtime
from toolgen.capabilities import MemoryStateStore, StateCapability


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (lambda state: state["x"], "read the value by ctx.state.get('x')"),
        (lambda state: state.__setitem__("x", 1), "write the value by ctx.state.set('x', …)"),
        (lambda state: state.__delitem__("x"), "delete the value by ctx.state.delete('x')"),
    ],
)
@pytest.mark.parametrize("is_sync", [False, True])
async def test_state_that_is_used_as_a_mapping_says_how_it_is_used(
    mistake: Callable[[Any], object], says: str, is_sync: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def uses(payload: Any, ctx: Any) -> None:
        mistake(ctx.state)

    def uses_in_thread(payload: Any, ctx: Any) -> None:
        mistake(ctx.state)

    method = staticmethod(uses_in_thread if is_sync else uses)
    made = runtime(
        type("Devices", (), {"list_devices": method})(), capabilities=[StateCapability(MemoryStateStore())]
    )
    assert (await made.call("assistant.devices.list_devices", SITE, META)).status == "error"
    assert f"TypeError: the state is no mapping; {says}" in caplog.text

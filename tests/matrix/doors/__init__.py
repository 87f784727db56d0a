"""The doors by which a call comes in: those of toolgen itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..cells import DoorName
from .by_http import http
from .by_mcp import mcp
from .command_line import command_line
from .door import Opening
from .in_runs import child_run, detached, hand_over, run
from .in_runtime import call_all, direct

OWN: Final[Mapping[DoorName, Opening]] = {
    "direct": direct,
    "call_all": call_all,
    "run": run,
    "child run": child_run,
    "hand-over": hand_over,
    "detached work": detached,
    "MCP": mcp,
    "HTTP": http,
}
COMMANDS: Final[Mapping[DoorName, Opening]] = {"command line": command_line}
"""Doors in whose cells time is real: each command has a loop of its own."""

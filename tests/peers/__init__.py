"""Programs that tests speak with: MCP servers, each a process."""

from __future__ import annotations

from pathlib import Path

PEERS = Path(__file__).parent

"""The tools of a list, with their specs: made a few at a time, and kept for lists to come."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import Final
from weakref import WeakKeyDictionary

import mcp_types as types

from toolgen.calls.toolsets.dynamic import ListedTools
from toolgen.runtime import BoundTool

from .listing import MOST_TOOLS, Listing
from .pins import Pins
from .tools import portable_names, wire_names

TOOLS_OF_A_TURN: Final = 20
"""Tools whose specs are made before other tasks have their turn; some 10 ms of CPU."""
_MOST_KEPT: Final = 2 * MOST_TOOLS
"""Specs that are kept, of the lists of all identities."""


class Bindings:
    """Makes the tools of lists, once for each tool that is as it was, and once for each list."""

    def __init__(
        self,
        ids: str,
        prefix: str,
        make: Callable[[types.Tool, str, str], BoundTool | str],
        pins: Pins | None,
    ) -> None:
        """Take the beginnings of ids and wire names, and what makes a tool of both, or says why not.

        `pins` has the tools as they were first listed, where they are pinned.
        """
        self._ids, self._prefix = ids, prefix
        self._make, self._pins = make, pins
        self._of_lists: WeakKeyDictionary[Listing, ListedTools] = WeakKeyDictionary()
        self._of_tools: OrderedDict[bytes, BoundTool | str] = OrderedDict()

    async def tools(self, listing: Listing) -> ListedTools:
        """Return the tools of a list; of the same list the same object, for who keeps what was made of it.

        Raises:
            MCPServerError: a pinned tool changed, and all are refused then.
        """
        made = self._of_lists.get(listing)
        if made is None:
            made = self._of_lists[listing] = await self._bound(listing)
        return made

    async def _bound(self, listing: Listing) -> ListedTools:
        portable = portable_names(tool.name for tool in listing.tools)
        names = wire_names(portable, self._prefix)
        tools: list[BoundTool] = []
        left_out = {f"{self._ids}.{shown}": reason for shown, reason in listing.left_out.items()}
        for number, tool in enumerate(listing.tools, 1):
            id_ = f"{self._ids}.{portable[tool.name]}"
            changed = "" if self._pins is None else self._pins.changed(tool)
            bound = changed or self._tool_of(tool, id_, names[tool.name])
            if isinstance(bound, BoundTool):
                tools.append(bound)
            else:
                left_out[id_] = bound
            if number % TOOLS_OF_A_TURN == 0:
                await asyncio.sleep(0)
        return ListedTools(tools, left_out)

    def _tool_of(self, tool: types.Tool, id_: str, wire_name: str) -> BoundTool | str:
        key = sha256(f"{id_} {wire_name} {tool.model_dump_json()}".encode(errors="replace")).digest()
        bound = self._of_tools.get(key)
        if bound is None:
            bound = self._of_tools[key] = self._make(tool, id_, wire_name)
            if len(self._of_tools) > _MOST_KEPT:
                self._of_tools.popitem(last=False)
        else:
            self._of_tools.move_to_end(key)
        return bound

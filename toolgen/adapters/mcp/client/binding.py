"""The specs of listed tools: built in small batches, and cached for later lists."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Final
from weakref import WeakKeyDictionary

import mcp_types as types

from toolgen.calls.toolsets.dynamic import ListedTools
from toolgen.contract.json_value import Json
from toolgen.runtime import BoundTool
from toolgen.shapes.foreign.bounded_patterns import work_to_compile

from .listing import MOST_TOOLS, ServerListing
from .pins import Pins
from .tools import portable_names, wire_names

TOOLS_OF_A_TURN: Final = 20
"""Number of tools whose specs are built before yielding to other tasks; about 10 ms of CPU."""
WORK_OF_A_TURN: Final = 1_000
"""Work of schemas, as counted by `work_of`, before yielding to other tasks; about 50 ms of CPU."""
WORK_OF_A_LIST: Final = 200_000
"""Maximum work for all schemas of a list; tools beyond it are left out, always the same ones."""
PATTERN_WORK_OF_A_LIST: Final = 40_000
"""Maximum work for the patterns of a list, about 2 s of CPU; a written-out UUID pattern takes 11."""
_TOO_MUCH: Final = (
    f"together with the other tools, its schemas exceed the limit of {WORK_OF_A_LIST} keys and items per list"
)
_TOO_MUCH_OF_PATTERNS: Final = (
    f"together with the other tools, its patterns exceed the work limit of {PATTERN_WORK_OF_A_LIST} per list"
)
_MOST_KEPT: Final = 2 * MOST_TOOLS
"""Maximum number of cached specs, for the lists of all identities."""


class Bindings:
    """Builds the tools of lists, once per unchanged tool and once per list."""

    def __init__(
        self,
        ids: str,
        prefix: str,
        make: Callable[[types.Tool, str, str], BoundTool | str],
        pins: Pins | None,
    ) -> None:
        """Store the prefixes of ids and wire names, and the function that makes a tool or says why not.

        `pins` contains the tools as they were first listed, if tools are pinned.
        """
        self._ids, self._prefix = ids, prefix
        self._make, self._pins = make, pins
        self._of_lists: WeakKeyDictionary[ServerListing, ListedTools] = WeakKeyDictionary()
        self._of_tools: OrderedDict[bytes, BoundTool | str] = OrderedDict()
        self._being_made: dict[bytes, asyncio.Task[BoundTool | str]] = {}

    async def tools(self, listing: ServerListing) -> ListedTools:
        """Return the tools of a list; for the same list the same object, so that callers can cache by it.

        Raises:
            MCPServerError: A pinned tool changed, and `on_change` refuses the whole list.
        """
        tools = self._of_lists.get(listing)
        if tools is None:
            tools = self._of_lists[listing] = await self._bound(listing)
        return tools

    async def _bound(self, listing: ServerListing) -> ListedTools:
        portable = portable_names(tool.name for tool in listing.tools)
        names = wire_names(portable, self._prefix)
        tools: list[BoundTool] = []
        left_out = {f"{self._ids}.{shown}": reason for shown, reason in listing.left_out.items()}
        remaining_work, remaining_pattern_work, of_turn = WORK_OF_A_LIST, PATTERN_WORK_OF_A_LIST, 0
        for number, tool in enumerate(listing.tools, 1):
            id_ = f"{self._ids}.{portable[tool.name]}"
            changed = "" if self._pins is None else self._pins.changed(tool)
            work, of_patterns = work_of(tool)
            if work > remaining_work:
                bound: BoundTool | str = changed or _TOO_MUCH
            elif of_patterns > remaining_pattern_work:
                bound = changed or _TOO_MUCH_OF_PATTERNS
            else:
                remaining_work -= work
                remaining_pattern_work -= of_patterns
                bound = changed or await self._tool_of(tool, id_, names[tool.name], work)
            if isinstance(bound, BoundTool):
                tools.append(bound)
            else:
                left_out[id_] = bound
            of_turn += work
            if number % TOOLS_OF_A_TURN == 0 or of_turn >= WORK_OF_A_TURN:
                of_turn = 0
                await asyncio.sleep(0)
        return ListedTools(tools, left_out)

    async def _tool_of(self, tool: types.Tool, id_: str, wire_name: str, work: int) -> BoundTool | str:
        key = sha256(f"{id_} {wire_name} {tool.model_dump_json()}".encode(errors="replace")).digest()
        bound = self._of_tools.get(key)
        if bound is None:
            make = partial(self._make, tool, id_, wire_name)
            bound = self._of_tools[key] = await self._threaded(key, make) if work > WORK_OF_A_TURN else make()
            if len(self._of_tools) > _MOST_KEPT:
                self._of_tools.popitem(last=False)
        else:
            self._of_tools.move_to_end(key)
        return bound

    async def _threaded(self, key: bytes, make: Callable[[], BoundTool | str]) -> BoundTool | str:
        """Run `make` in a thread, once for all lists that need its result."""
        task = self._being_made.get(key)
        if task is None:
            task = self._being_made[key] = asyncio.create_task(asyncio.to_thread(make))
            task.add_done_callback(lambda _: self._being_made.pop(key, None))
        return await asyncio.shield(task)


def work_of(tool: types.Tool) -> tuple[int, int]:
    """Return the work for the spec of a tool, and the part for its patterns; one unit is about 50 µs of CPU.

    Each key or item of its schemas counts as one, and each reference as one more.
    """
    work = of_patterns = 0
    waiting: list[Json] = [tool.input_schema, tool.output_schema]
    while waiting:
        match waiting.pop():
            case dict(members):
                work += len(members)
                for key, value in members.items():
                    match key, value:
                        case "pattern", str(pattern):
                            of_patterns += work_to_compile(pattern)
                        case "patternProperties", dict(of_keys):
                            of_patterns += sum(map(work_to_compile, of_keys))
                        case "$ref" | "$dynamicRef" | "$recursiveRef", _:
                            work += 1
                        case _:
                            pass
                    if isinstance(value, dict | list):
                        waiting.append(value)
            case list(items):
                work += len(items)
                waiting += [item for item in items if isinstance(item, dict | list)]
            case _:
                pass
    return work + of_patterns, of_patterns

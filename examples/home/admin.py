"""Tools that a session has after it signed in: a toolset that is listed anew for each request."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from toolgen.capabilities import StateStore
from toolgen.runtime import BoundTool, ReadonlyContext, ToolContext, ToolError
from toolgen.runtime.functions import func_tool

_RENAME = """
    update device set room = :new
    where room = :old and site_id = :site_id and site_id in (
      select site_id from session join member using (user_id) where session.id = :session_id
    )
"""


class Admin:
    """Change how the sites are divided."""

    name = "assistant.admin"
    instructions = "Rooms are renamed for everybody on the site."

    def __init__(self, database: sqlite3.Connection, states: StateStore) -> None:
        self._database = database
        self._states = states
        self._tools = (func_tool(self.rename_room, toolset=self.name),)

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        """Return the tools of a session that signed in, and none for others."""
        state = await self._states.load("session", context.meta.session_id)
        return self._tools if state.get("signed_in") else ()

    async def rename_room(self, site_id: str, old: str, new: str, ctx: ToolContext) -> int:
        """Give a room of a site another name; returns how many devices are in it.

        Args:
            site_id: Site of the room.
            old: The name it has.
            new: The name it gets.
        """
        names = {"site_id": site_id, "old": old, "new": new, "session_id": ctx.meta.session_id}
        with self._database:
            moved = self._database.execute(_RENAME, names).rowcount
        if not moved:
            raise ToolError(f"The user has no room {old!r} on a site {site_id!r}.")
        return moved

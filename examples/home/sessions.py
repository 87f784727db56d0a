"""The interceptor of the example: it fills `user_id` with the user of the call's session."""

from __future__ import annotations

import sqlite3
from typing import Any

from toolgen.runtime import ToolCall, ToolError


class SessionUser:
    """Looks the user up in the database, which the model never sees."""

    fills = frozenset({"user_id"})

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        """Set the field.

        Raises:
            ToolError: the session is nobody's.
        """
        row = self._database.execute(
            "select user_id from session where id = ?", [call.meta.session_id]
        ).fetchone()
        if row is None:
            raise ToolError("Nobody is signed in.")
        payload.set_user_id(row["user_id"])

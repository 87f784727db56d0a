"""Tools that an operator disabled: in a store that all processes share and poll.

If the store cannot be read, the last known list is used. A process that has never read it executes no call.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from toolgen.calls.errors import RegistrationError
from toolgen.calls.state import Change
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record
from toolgen.contract.tasks import start_task

from .state import StateStore

_OWNER: Final = "toolgen.disabled_tools"
"""Owner of the list in the scope `app`; executors cannot see it, because they only see the owner of
`StateCapability`."""
_PATIENCE_S: Final = 1.0
"""Seconds that a call waits for the store; after that the last known list is used."""
_NOTHING_KNOWN: Final = "the disabled tools could not be read"

log = logger("toolgen.runtime")


@frozen_record
class DisabledTool:
    """A disabled tool, with the operator, the time and the reason."""

    tool: str
    """Id of the tool."""
    reason: str = ""
    """Reason, which models and people can read."""
    by: str = ""
    since: float = 0.0
    """Seconds since 1970."""


class DisabledTools:
    """The disabled tools of the runtimes that share a store; `Runtime.tools.disable` adds to them."""

    def __init__(
        self, store: StateStore, *, read_every_s: float = 2.0, clock: Callable[[], float] = time.time
    ) -> None:
        """Create the list on a store, which all processes that must obey it share.

        A read list is used for `read_every_s` seconds. The clock returns seconds since 1970.
        """
        self.store = store
        self._read_every_s = read_every_s
        self._clock = clock
        self._loaded: Mapping[str, DisabledTool] | None = None
        """The disabled tools by id; None before the store was read."""
        self._read_at: float | None = None
        """Time of the last attempt to read the list; None if it must be read now."""
        self._reading: asyncio.Task[None] | None = None
        self._held: set[asyncio.Task[object]] = set()

    async def now(self) -> Mapping[str, DisabledTool]:
        """Return the disabled tools by id, up to some seconds old; none if unknown."""
        if self._read_at is None or not 0 <= self._clock() - self._read_at < self._read_every_s:
            await self._read()
        return self._loaded or {}

    async def reason(self, tool: str) -> str | None:
        """Return the reason why a tool is disabled; "" without a reason, None if it is enabled."""
        disabled = (await self.now()).get(tool)
        if disabled is not None:
            return disabled.reason
        return _NOTHING_KNOWN if self._loaded is None else None

    async def all(self) -> tuple[DisabledTool, ...]:
        """Return the disabled tools as the store has them now, by id.

        Raises:
            StoreError: The store cannot be used.
        """
        return tuple(sorted((await self._load()).values(), key=lambda disabled: disabled.tool))

    async def disable(self, tool: str, reason: str = "", *, by: str = "") -> None:
        """Disable a tool by id, whether or not there is one.

        Raises:
            StoreError: The store cannot be used.
        """
        value: Json = {"reason": reason, "by": by, "since": self._clock()}
        await self._change(tool, "set", value)

    async def enable(self, tool: str) -> None:
        """Enable a tool by id; no effect if it is not disabled.

        Raises:
            StoreError: The store cannot be used.
        """
        await self._change(tool, "delete", None)

    async def _change(self, tool: str, operation: Any, value: Json) -> None:
        await self.store.apply("app", _OWNER, [Change(key=tool, operation=operation, value=value)])
        self._read_at = None

    async def _read(self) -> None:
        """Read the store once for all concurrent callers, and wait for it for a limited time."""
        reading, loop = self._reading, asyncio.get_running_loop()
        if reading is None or reading.done() or reading.get_loop() is not loop:
            context = contextvars.Context()  # not the context of the first caller
            reading = start_task(self._held, self._update(), name="reading disabled tools", context=context)
            self._reading = reading
        await asyncio.wait({reading}, timeout=_PATIENCE_S)
        self._read_at = self._clock()

    async def _update(self) -> None:
        try:
            loaded = await self._load()
        except Exception as error:  # noqa: BLE001 - author code; if nothing is known, every tool is denied
            log.warning("the disabled tools could not be read, so the last known list is used: %s", error)
            return
        before = self._loaded or {}
        for tool in loaded.keys() - before.keys():
            log.info("%s is disabled: %s", tool, loaded[tool].reason)
        for tool in before.keys() - loaded.keys():
            log.info("%s is enabled again", tool)
        self._loaded = loaded

    async def _load(self) -> dict[str, DisabledTool]:
        stored = await self.store.load("app", _OWNER)
        return {tool: _from_json(tool, value) for tool, value in stored.items()}


def _from_json(tool: str, value: object) -> DisabledTool:
    """Return a stored record; missing values and values of another type are omitted."""
    match value:
        case {"reason": str(reason), "by": str(by), "since": int(since) | float(since)}:
            return DisabledTool(tool=tool, reason=reason, by=by, since=since)
        case _:
            return DisabledTool(tool=tool)


def require_disabled(disabled: DisabledTools | None) -> DisabledTools:
    """Return the disabled tools of a runtime.

    Raises:
        RegistrationError: The runtime has no store for disabled tools.
    """
    if disabled is None:
        raise RegistrationError(
            "this runtime has no store for disabled tools",
            hint='pass a store: Runtime(disabled=DisabledTools(SqliteStateStore("state.db"))), or with '
            "many workers Runtime(disabled=DisabledTools(PostgresStateStore(database)))",
        )
    return disabled

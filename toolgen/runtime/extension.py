"""What stands on a runtime and is opened, asked and closed with it, such as its agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from toolgen.contract.json_value import Json

from .call.ending import unanswered
from .call.entry import Entry
from .call.failures import Arguments
from .call.host import Host
from .calls import CallMeta
from .errors import RegistrationError
from .results import Delegated, ToolResult
from .toolsets.registry import Registry
from .waiting.suspension import Suspension

if TYPE_CHECKING:
    from .engine import Engine
    from .events.hub import Events
    from .toolsets.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Interior:
    """What a runtime shares with what stands on it."""

    host: Host
    registry: Registry
    engine: Engine | None
    events: Events | None


class Extension(Protocol):
    """Stands on one runtime."""

    async def open(self) -> None:
        """Begin, after the toolsets of the runtime are open."""
        ...

    async def close(self) -> None:
        """End, before the toolsets of the runtime are closed."""
        ...

    async def delegated(
        self, entry: Entry, arguments: Arguments, delegated: Delegated, meta: CallMeta
    ) -> ToolResult:
        """Return the result of a call that an agent has to answer."""
        ...

    async def deliver(
        self, token: str, answer: Json, session_id: str | None, within: Snapshot | None
    ) -> tuple[ToolResult | None, Suspension | None]:
        """Return the result of a call that a run waits for, and the suspension.

        No result where no run waits; then the answer is to be taken without one.

        Raises:
            SuspensionError: the token or the answer is not good.
        """
        ...

    async def delivered(self, suspension: Suspension, result: ToolResult) -> None:
        """Take the result of a call that no run waited for."""
        ...


class NoExtension:
    """Nothing stands on the runtime: no agent answers, and no run waits."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def delegated(
        self, entry: Entry, arguments: Arguments, delegated: Delegated, meta: CallMeta
    ) -> ToolResult:
        error = RegistrationError(
            f"agent {delegated.agent!r} is not registered",
            hint="call the generated `register` of its package",
        )
        return unanswered(entry.spec, error, meta, self._host)

    async def deliver(
        self, token: str, answer: Json, session_id: str | None, within: Snapshot | None
    ) -> tuple[ToolResult | None, Suspension | None]:
        return None, None

    async def delivered(self, suspension: Suspension, result: ToolResult) -> None:
        pass

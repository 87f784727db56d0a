"""The seam by which a host adds an object of its own to `ToolContext`: `ctx.<name>`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from toolgen.contract.record import record

from ..calls import CallMeta
from ..specs import ToolSpec


@record
class CallScope:
    """The call that a capability is opened for."""

    meta: CallMeta
    tool: str
    """Id of the tool."""
    spec: ToolSpec[Any, Any]


class Capability(Protocol):
    """Something that executors may use, given to `Runtime(capabilities=[…])`."""

    name: str
    """Attribute of the context; a tool says `Needs(name)` and is refused at registration without it."""

    def open(self, call: CallScope) -> Any:
        """Return the object that one call sees; called at its first use, so it reads nothing yet."""

    async def close(self, opened: Sequence[tuple[Any, bool]]) -> Sequence[str]:
        """Keep what the calls of one batch did; return what the host should hear of it, in words.

        `opened` holds, in call order, the object of each call that used one, and whether its result is ok.
        A call that failed, was denied or is suspended has False.
        """

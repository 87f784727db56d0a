"""The seam by which a host gives executors more than their payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from toolgen.contract.json_value import Json

from ..call.bridge import Wait
from ..calls import CallMeta
from ..events.call_reporter import ProgressCallback
from ..specs import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class CallScope:
    """The call for which a capability is opened."""

    meta: CallMeta
    tool: str
    """Id of the tool."""
    spec: ToolSpec[Any, Any]
    report: ProgressCallback | None = field(default=None, repr=False)
    """Takes what the call tells those who watch; None where nobody does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Calls made at once that changed the same thing; the change of one stands."""

    scope: str
    key: str
    tool_call_ids: tuple[str, ...]
    """Of the calls, in their order."""
    kept: str
    """The call whose change stands."""


class Capability(Protocol):
    """Something that executors find at their context, under its name: `ctx.<name>`."""

    @property
    def name(self) -> str:
        """What a design's `Needs` says, and the attribute of the context."""
        ...

    def open(self, call: CallScope) -> Any:
        """Return the object of one call; made at its first use, so it should do nothing yet."""
        ...

    async def close(self, opened: Sequence[tuple[Any, bool]]) -> Sequence[Conflict]:
        """Keep what the calls did, in their order; each with whether it succeeded."""
        ...


@runtime_checkable
class ThreadCapability(Protocol):
    """A capability that has another object for synchronous executors, which run in threads."""

    def for_thread(self, opened: Any, wait: Wait) -> Any:
        """Return the object of one call as its synchronous executor sees it.

        `opened` is what `open` returned. `wait(opened.find, key)` returns what `opened.find(key)` gives,
        awaited in the event loop of the call.
        """
        ...


@runtime_checkable
class ReadableState(Protocol):
    """What the capability `state` may have beside: values for dynamic toolsets to read."""

    async def read(self, meta: CallMeta) -> Mapping[str, Json]:
        """Return everything that a call of this meta could read, by key."""
        ...

"""The protocol of capabilities: objects that a host gives executors beside their payload."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .call import CallMeta
    from .reports import ProgressCallback
    from .specs import ToolSpec
    from .steps.bridge import Wait

T = TypeVar("T")


class StoreRetry(Protocol):
    """Repeats a step of a store that is away: `stores.outages.StoreRetry`."""

    async def run(self, step: Callable[[], Awaitable[T]], what: str, *, is_idempotent: bool) -> T:
        """Return what the step returns; `what` names it in the log.

        With `is_idempotent`, a step that was stored may be repeated without effect.

        Raises:
            Exception: what the step raises at last.
        """
        ...


class _SingleAttempt(StoreRetry):
    async def run(self, step: Callable[[], Awaitable[T]], what: str, *, is_idempotent: bool) -> T:
        return await step()


ONCE: Final[StoreRetry] = _SingleAttempt()
"""A single attempt, for callers that get the error at once."""


@frozen_record
class CallScope:
    """The call for which a capability is opened."""

    meta: CallMeta
    tool: str
    """Id of the tool."""
    spec: ToolSpec[Any, Any]
    report: ProgressCallback | None = field(default=None, repr=False)
    """Receives progress for subscribers; None without any."""
    store_retry: StoreRetry = ONCE
    """Repeats steps on a store: in a run they wait for one that is away."""


class Capability(Protocol):
    """Provides an object to executors at their context, under its name: `ctx.<name>`."""

    @property
    def name(self) -> str:
        """The name in a design's `Needs`, and the attribute of the context."""
        ...

    def open(self, call: CallScope) -> Any:
        """Return the object for one call; called at its first use, so it should be fast."""
        ...

    async def close(self, opened: Sequence[tuple[Any, bool]]) -> None:
        """Commit the changes of calls, in their order; each comes with whether it succeeded.

        All of them still wait for it, so that what it reports to a `CallScope.report` is still taken.
        """
        ...


@runtime_checkable
class ThreadCapability(Protocol):
    """A capability with a separate object for synchronous executors, which run in threads."""

    def for_thread(self, opened: Any, wait: Wait) -> Any:
        """Return the object of one call for its synchronous executor.

        `opened` is what `open` returned. `wait(opened.find, key)` returns what `opened.find(key)` gives,
        awaited in the event loop of the call.
        """
        ...


@runtime_checkable
class ReadableState(Protocol):
    """An optional method of the capability `state`: it returns values for dynamic toolsets."""

    async def read(self, meta: CallMeta) -> Mapping[str, Json]:
        """Return all values that a call with this meta could read, by key."""
        ...


class ToolSwitch(Protocol):
    """Knows which tools an operator has disabled: `DisabledTools`."""

    async def now(self) -> Mapping[str, object]:
        """Return the disabled tools by id."""
        ...

    async def reason(self, tool: str) -> str | None:
        """Return why a tool is not executed now, by id; "" where nobody said, None where it is executed."""
        ...

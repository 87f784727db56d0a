"""Protocol of capabilities: objects that a host provides to executors in addition to the payload."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .call import CallMeta
    from .reports import ProgressCallback
    from .specs import ToolSpec
    from .steps.bridge import Wait

T = TypeVar("T")


class RetryStep(Protocol):
    """Retries a step on an unavailable store, and returns its value: `stores.outages.StoreRetry.run`.

    `what` names the step in the log. `is_idempotent` means that a step that was already stored can be
    repeated without effect. The exception of the last attempt is raised.
    """

    async def __call__(self, step: Callable[[], Awaitable[T]], what: str, *, is_idempotent: bool) -> T: ...


async def once(step: Callable[[], Awaitable[T]], what: str, *, is_idempotent: bool) -> T:
    """Return the value of a single attempt, for callers that handle the error at once."""
    return await step()


@frozen_record
class CallScope:
    """The call for which a capability is opened."""

    meta: CallMeta
    tool: str
    """ID of the tool."""
    spec: ToolSpec
    report: ProgressCallback | None = field(default=None, repr=False)
    """Receives progress for subscribers; None if there are none."""
    retry_step: RetryStep = once
    """Retries a step on a store; in a run, the step waits for an unavailable store."""


class Capability(Protocol):
    """Protocol of an object that provides executors with another object, as `ctx.<name>`."""

    @property
    def name(self) -> str:
        """Name in the design's `Needs` and attribute of the context."""
        ...

    def open(self, call: CallScope) -> Any:
        """Return the object for a call. It is called at the first use in the call, so it should be fast."""
        ...

    async def close(self, opened: Sequence[tuple[Any, bool]]) -> None:
        """Store the changes of calls, in their order. Each object comes with whether its call succeeded or is
        pending.
        """
        ...


@runtime_checkable
class ThreadCapability(Protocol):
    """Protocol of a capability with another object for synchronous executors, which run in threads."""

    def for_thread(self, opened: Any, wait: Wait) -> Any:
        """Return the object of a call for its synchronous executor, from the one that `open` returned.
        `wait(opened.find, key)` awaits `opened.find(key)` in the event loop of the call and returns its
        result.
        """
        ...


ReadState: TypeAlias = "Callable[[CallMeta], Awaitable[Mapping[str, Json]]]"
"""Returns all values of the state that a call with this meta could read, by key."""


def state_reader(capabilities: Mapping[str, Capability]) -> ReadState | None:
    """Return the method `read` of the capability `state`; None if the host has none with it."""
    return getattr(capabilities.get("state"), "read", None)

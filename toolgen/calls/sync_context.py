"""Context of synchronous executors, which use the call from their thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeAlias, TypeVar

from toolgen.contract.tasks import Work

from .context import Key, ToolContext, Values, in_thread_of

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .call import CallMeta
    from .memory import SyncMemory
    from .provided import SyncArtifacts
    from .results import Actions
    from .state import SyncState
    from .steps.bridge import Bridge

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")


class SyncToolContext:
    """The current call, for synchronous executors.

    Capabilities block the thread until the event loop of the call has the result. After the call has timed
    out or was cancelled, they raise `CallEndedError`, and so do `progress`, `stream` and `wait`.
    """

    meta: CallMeta
    """Facts about the call that only the host knows."""
    tool: str
    """ID of the tool."""
    answer: Json
    """A person's last answer as JSON; None before an answer. `answered` returns it typed."""
    resume_state: Json
    """Value that the executor stored with its last question: `ToolOutcome.ask(…, resume_state=…)`."""
    deadline: float | None
    """Time of the call's event loop at which the call times out; None without a timeout."""

    def __init__(self, context: ToolContext, bridge: Bridge) -> None:
        """Construct the context of a call for the thread of the bridge."""
        self._context = context
        self._bridge = bridge
        self._opened: dict[str, Any] = {}
        self.meta, self.tool, self.deadline = context.meta, context.tool, context.deadline
        self.answer, self.resume_state = context.answer, context.resume_state

    def __repr__(self) -> str:
        return f"Sync{self._context!r}"

    def answered(self, type_: type[T], question: str | None = None) -> T | None:
        """Return a person's newest answer of this type, as `ToolContext.answered`."""
        return self._context.answered(type_, question)

    def approved(self, question: str) -> bool:
        """Return whether a person has approved exactly this question of `ToolOutcome.approval`."""
        return self._context.approved(question)

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else self.deadline - self._bridge.loop.time()

    @property
    def idempotency_key(self) -> str:
        """Key that is the same for every attempt at this call, and for no other call."""
        return self._context.idempotency_key

    @property
    def actions(self) -> Actions:
        """Actions that the tool requests from its agent: `transfer(agent)` and `escalate()`."""
        return self._context.actions

    @property
    def values(self) -> Values:
        """Values that the hooks and tools of the turn share."""
        return self._context.values

    def progress(self, fraction: float | None = None, message: str = "", value: object = None) -> None:
        """Report progress to subscribers, as `ToolContext.progress`.

        Raises:
            CallEndedError: The call has ended.
        """
        self._bridge.check()
        self._context.progress(fraction, message, value)

    def stream(self, text: str) -> None:
        """Emit a piece of output to subscribers before the result.

        Raises:
            CallEndedError: The call has ended.
        """
        self._bridge.check()
        self._context.stream(text)

    def wait(self, function: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an asynchronous function in the event loop of the call, and return its result.

        For example, `ctx.wait(runtime.call, tool, arguments)` calls another tool. Meanwhile another thread
        can run in place of this one.

        Raises:
            CallEndedError: The call has ended, or ends meanwhile.
            Exception: The function raised it.
        """
        return self._bridge.wait(function, *args, **kwargs)

    @property
    def state(self) -> SyncState:
        """State that outlives the call, if the host has a `StateCapability`.

        Raises:
            AttributeError: The host has none.
            CallEndedError: The call has ended.
        """
        return self.capability(STATE)

    @property
    def artifacts(self) -> SyncArtifacts:
        """Files that outlive the call, if the host has an `ArtifactsCapability`.

        Raises:
            AttributeError: The host has none.
            CallEndedError: The call has ended.
        """
        return self.capability(ARTIFACTS)

    @property
    def memory(self) -> SyncMemory:
        """Earlier conversations of the person, if the host has a `MemoryCapability`.

        Raises:
            AttributeError: The host has none.
            CallEndedError: The call has ended.
        """
        return self.capability(MEMORY)

    def capability(self, key: Key[T]) -> T:
        """Return the object of a capability for this call. It is opened at its first use.

        Args:
            key: `Key` with the name of the capability; it determines the type of the object.

        Raises:
            AttributeError: The host has no capability of this name.
            CallEndedError: The call has ended.
        """
        self._bridge.check()
        if key.name not in self._opened:
            self._opened[key.name] = in_thread_of(self._context, key, self._bridge.wait)
        provided: T = self._opened[key.name]
        return provided

    if not TYPE_CHECKING:  # type checkers know the attributes above and report a misspelt one

        def __getattr__(self, name: str) -> Any:
            """Return the object of a host's capability for this call, by name."""
            if name.startswith("_"):
                raise AttributeError(name)
            return self.capability(Key(name))


STATE: Final[Key[SyncState]] = Key("state")
ARTIFACTS: Final[Key[SyncArtifacts]] = Key("artifacts")
MEMORY: Final[Key[SyncMemory]] = Key("memory")

ToolMethod: TypeAlias = Callable[[A, ToolContext], Awaitable[T]] | Callable[[A, SyncToolContext], T]
"""Executes a tool with its payload and its context: an asynchronous function, or a function for a thread."""

Declared: TypeAlias = (
    ToolMethod[A, T] | Callable[[Any, A, ToolContext], Awaitable[T]] | Callable[[Any, A, SyncToolContext], T]
)
"""A protocol method that either form implements, as bound on an instance or as defined in a class."""

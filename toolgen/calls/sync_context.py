"""The context that a synchronous executor gets beside the payload: the call, used from its thread."""

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
    """The call that is running, for a synchronous executor.

    Its capabilities wait in the thread for what runs in the event loop of the call. When the call is over,
    because its time was or its caller is gone, they and `progress` and `stream` raise `CallEndedError`.
    """

    meta: CallMeta
    tool: str
    """Id of the tool."""
    answer: Json
    """A person's last answer, as it was given; None before. `answered` returns it typed."""
    kept: Json
    """What the executor kept with the question that was answered last; as `ToolContext.kept`."""
    deadline: float | None
    """The deadline on the clock of the call's event loop; None without a timeout."""

    def __init__(self, context: ToolContext, bridge: Bridge) -> None:
        """Construct the context of a call for the thread of the bridge."""
        self._context = context
        self._bridge = bridge
        self._opened: dict[str, Any] = {}
        self.meta, self.tool, self.deadline = context.meta, context.tool, context.deadline
        self.answer, self.kept = context.answer, context.kept

    def __repr__(self) -> str:
        return f"Sync{self._context!r}"

    def answered(self, type_: type[T], question: str | None = None) -> T | None:
        """Return a person's newest answer to a question of this type; as `ToolContext.answered`."""
        return self._context.answered(type_, question)

    def approved(self, question: str) -> bool:
        """Return whether a person has approved this question, asked with `ToolOutcome.approval`."""
        return self._context.approved(question)

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else self.deadline - self._bridge.loop.time()

    @property
    def idempotency_key(self) -> str:
        """Return the idempotency key of the call, as `ToolContext.idempotency_key`."""
        return self._context.idempotency_key

    @property
    def actions(self) -> Actions:
        return self._context.actions

    @property
    def values(self) -> Values:
        """The values that the hooks and tools of this turn share."""
        return self._context.values

    def progress(self, fraction: float | None = None, message: str = "", value: object = None) -> None:
        """Report the progress, from 0 to 1; `value` fits the design's `LongRunning(progress=)`.

        Raises:
            CallEndedError: the call is over.
        """
        self._bridge.check()
        self._context.progress(fraction, message, value)

    def stream(self, text: str) -> None:
        """Emit a piece of output to subscribers, before the result.

        Raises:
            CallEndedError: the call is over.
        """
        self._bridge.check()
        self._context.stream(text)

    def wait(self, function: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an asynchronous function in the event loop of the call, and return its result.

        `ctx.wait(runtime.call, tool, arguments)` calls another tool; another thread may run in the place of
        this one meanwhile.

        Raises:
            CallEndedError: the call is over, or ends meanwhile.
            Exception: what the function raises.
        """
        return self._bridge.wait(function, *args, **kwargs)

    @property
    def state(self) -> SyncState:
        """State that outlives the call, where the host has a `StateCapability`.

        Raises:
            AttributeError: it has none.
            CallEndedError: the call is over.
        """
        return self.capability(STATE)

    @property
    def artifacts(self) -> SyncArtifacts:
        """Files that outlive the call, where the host has an `ArtifactsCapability`.

        Raises:
            AttributeError: it has none.
            CallEndedError: the call is over.
        """
        return self.capability(ARTIFACTS)

    @property
    def memory(self) -> SyncMemory:
        """Memory of earlier conversations with the person, if the host has a `MemoryCapability`.

        Raises:
            AttributeError: it has none.
            CallEndedError: the call is over.
        """
        return self.capability(MEMORY)

    def capability(self, key: Key[T]) -> T:
        """Return the object of a host's capability for this call; it is opened at its first use.

        The key has the capability's name, and says the type that a synchronous executor gets.

        Raises:
            AttributeError: the host provides none of this name.
            CallEndedError: the call is over.
        """
        self._bridge.check()
        if key.name not in self._opened:
            self._opened[key.name] = in_thread_of(self._context, key, self._bridge.wait)
        provided: T = self._opened[key.name]
        return provided

    if not TYPE_CHECKING:  # a type checker knows those above, and a misspelt one is an error

        def __getattr__(self, name: str) -> Any:
            """Return the object of a host's capability for this call, by its name alone."""
            if name.startswith("_"):
                raise AttributeError(name)
            return self.capability(Key(name))


STATE: Final[Key[SyncState]] = Key("state")
ARTIFACTS: Final[Key[SyncArtifacts]] = Key("artifacts")
MEMORY: Final[Key[SyncMemory]] = Key("memory")

ToolMethod: TypeAlias = Callable[[A, ToolContext], Awaitable[T]] | Callable[[A, SyncToolContext], T]
"""Executes a tool with its payload and its context: an asynchronous function, or one for a thread."""

Declared: TypeAlias = (
    ToolMethod[A, T] | Callable[[Any, A, ToolContext], Awaitable[T]] | Callable[[Any, A, SyncToolContext], T]
)
"""A method of a protocol that either form implements: as an instance has it, and as a class defines it."""

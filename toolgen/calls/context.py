"""The context that an asynchronous executor gets beside the payload; `sync_context` has the other one.

Beside it are `Key` and `Values`, by which the capabilities of a host, and what the hooks and tools of a turn
share, are found.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from .capability import ONCE, StoreRetry
from .results import Actions

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .call import CallMeta
    from .provided import Artifacts, State
    from .resumption import Resumption
    from .specs import ToolSpec
    from .steps.bridge import Wait

T = TypeVar("T")


class Key(Generic[T]):
    """The typed key of a value: of a host's capability, or of values that hooks and tools share.

    Of shared values two keys of one name are two.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Key({self.name!r})"


class Values:
    """Values that hooks and tools share, by typed key; never stored."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[Key[Any], Any] = {}

    def __getitem__(self, key: Key[T]) -> T:
        """Return the value.

        Raises:
            KeyError: nobody has set it.
        """
        return self._values[key]  # type: ignore[no-any-return]  # set under the same key

    def __setitem__(self, key: Key[T], value: T) -> None:
        self._values[key] = value

    def __contains__(self, key: Key[Any]) -> bool:
        return key in self._values

    def get(self, key: Key[T], default: T) -> T:
        value: T = self._values.get(key, default)
        return value


STATE: Final[Key[State]] = Key("state")
ARTIFACTS: Final[Key[Artifacts]] = Key("artifacts")


class BatchScope(Protocol):
    """The part of a batch that contexts use: `frame.Batch`."""

    touched: list[ToolContext]
    """Contexts of calls that used a capability, or asked something of their agent."""

    @property
    def values(self) -> Values:
        """The values that the calls share."""
        ...

    def open(self, name: str, context: ToolContext) -> Any:
        """Return the capability's object for a call; raises AttributeError where there is none."""
        ...

    def in_thread(self, name: str, opened: Any, wait: Wait) -> Any:
        """Return the capability's object for a synchronous executor."""
        ...


class ToolContext:
    """The call that is running, for an asynchronous executor and for hooks."""

    answer: Json = None
    """What a person answered last, as it was given; None before. `answered` has it typed."""
    kept: Json = None
    """What the executor kept with the question that was answered last: `ToolOutcome.ask(…, keep=…)`."""
    deadline: float | None = None
    """When its time is over, on the clock of the running loop, `loop.time()`; None without a timeout."""
    has_begun: bool = False
    """Whether what the tool does may have begun: True once its executor is called. A call that has begun, and
    may not run twice, has the status `unknown` where nobody heard of its end; another one was not run. An
    executor that hands its work to something elsewhere, and has the attribute `begins_itself = True`, sets it
    to False, and awaits `begin` when it sends it."""
    is_sent: bool = False
    """Whether it has awaited `begin`: something elsewhere works for it, or has in an attempt before."""
    on_begin: Callable[[], Awaitable[None]] | None = None
    """Keeps that the work begins, where an engine does; for `begin`."""
    report: Callable[..., None] | None = None
    """Takes progress and text; None where nobody listens."""
    place: int = 0
    """Its place among the calls that were made at once."""
    _actions: Actions | None = None
    _batch: BatchScope | None = None
    _new_batch: Callable[[], BatchScope] | None = None
    """Makes the batch of a call that is made alone, where it is needed."""
    _key: str = ""
    _opened: dict[str, Any] | None = None
    _resumption: Resumption | None = None
    _store_retry: StoreRetry = ONCE

    def __init__(
        self,
        meta: CallMeta,
        tool: str,
        spec: ToolSpec[Any, Any] | None = None,
        batch: BatchScope | None = None,
    ) -> None:
        self.meta = meta
        self.tool = tool
        """Id of the tool."""
        self.spec = spec
        self._batch = batch

    def __repr__(self) -> str:
        return f"ToolContext(tool={self.tool!r}, tool_call_id={self.meta.tool_call_id!r})"

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else self.deadline - asyncio.get_running_loop().time()

    async def begin(self) -> None:
        """Keep that the work begins now; an executor that `begins_itself` awaits it before it sends it."""
        if self.on_begin is not None:
            await self.on_begin()
        self.has_begun = self.is_sent = True

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt at this call, and for no other call.

        It is the run and the id of a call of a run, follows from the name of one that a peer may make again,
        and is random for any other call, whose id alone says nothing: peers count theirs from 0.
        """
        if not self._key:
            run_id, call = self.meta.run_id, self.meta.tool_call_id
            self._key = f"{run_id}:{call}" if run_id and call else uuid.uuid4().hex
        return self._key

    @property
    def actions(self) -> Actions:
        if self._actions is None:
            self._touch()
            self._actions = Actions()
        return self._actions

    @property
    def values(self) -> Values:
        """The values that the hooks and tools of this turn share."""
        if (batch := batch_of(self)) is None:
            raise RuntimeError("this context was made by hand, outside a runtime; it shares no values")
        return batch.values

    def answered(self, type_: type[T], question: str | None = None) -> T | None:
        """Return a person's newest answer to a question of this type; None before an answer.

        It is what was asked for with `ToolOutcome.ask(question, type_)`, or what was added to the approval of
        a `Confirm(payload=…)`, with its defaults. `question` tells apart several questions of one type.
        """
        if self._resumption is None:
            return None
        return self._resumption.answered(type_, question, self.spec)

    def approved(self, question: str) -> bool:
        """Return whether a person has approved this question, asked with `ToolOutcome.approval`."""
        return self._resumption is not None and self._resumption.approved(question)

    def progress(self, fraction: float | None = None, message: str = "", value: Any = None) -> None:
        """Report the progress, from 0 to 1; `value` fits the design's `LongRunning(progress=)`.

        Raises:
            MalformedResultError: one of them does not fit, whether or not somebody listens.
        """
        from .progress import checked_fraction, progress_json, require_text

        fraction = checked_fraction(fraction)
        require_text(message)
        if value is not None and self.spec is not None:
            value = progress_json(self.spec, value)
        if self.report is not None:
            self.report(fraction=fraction, message=message, value=value)

    def stream(self, text: str) -> None:
        """Emit a piece of output to subscribers, before the result.

        Raises:
            MalformedResultError: it is no text.
        """
        from .progress import require_text

        require_text(text)
        if self.report is not None:
            self.report(text=text)

    @property
    def state(self) -> State:
        """State that outlives the call, where the host has a `StateCapability`.

        Raises:
            AttributeError: it has none.
        """
        return self.capability(STATE)

    @property
    def artifacts(self) -> Artifacts:
        """Files that outlive the call, where the host has an `ArtifactsCapability`.

        Raises:
            AttributeError: it has none.
        """
        return self.capability(ARTIFACTS)

    def capability(self, key: Key[T]) -> T:
        """Return the object of a host's capability for this call; it is opened at its first use.

        The key has the capability's name, and says the type of the object.

        Raises:
            AttributeError: the host provides none of this name.
        """
        name = key.name
        if (batch := batch_of(self)) is None:
            raise AttributeError(f"ctx has no {name!r}: this context was made by hand, outside a runtime")
        opened = self._opened
        if opened is None:
            self._touch()
            opened = self._opened = {}
        if name not in opened:
            opened[name] = batch.open(name, self)
        provided: T = opened[name]
        return provided

    if not TYPE_CHECKING:  # a type checker knows the two above, and a misspelt one is an error

        def __getattr__(self, name: str) -> Any:
            """Return the object of a host's capability for this call, by its name alone."""
            if name.startswith("_"):
                raise AttributeError(name)
            return self.capability(Key(name))

    def _touch(self) -> None:
        """Register the call for the commit at the end of its batch, once."""
        if self._opened is None and self._actions is None and (batch := batch_of(self)) is not None:
            batch.touched.append(self)


def batch_of(context: ToolContext) -> BatchScope | None:
    """Return the batch of a call; None for a context that was made by hand."""
    if context._batch is None and context._new_batch is not None:
        context.__dict__.setdefault("_batch", context._new_batch())  # one, if another thread asks meanwhile
    return context._batch


def set_resumption(context: ToolContext, resumption: Resumption) -> None:
    """Set the answers of a resumed call on its context."""
    context.answer = resumption.answer
    context.kept = resumption.keep
    context._resumption = resumption
    context._key = resumption.key


def set_idempotency_key(context: ToolContext, key: str) -> None:
    """Set the key of a call that its name or its own run tells apart."""
    context._key = key


def set_store_retry(context: ToolContext, retry: StoreRetry) -> None:
    """Set how the changes of a call wait for a store that is away."""
    context._store_retry = retry


def store_retry_of(context: ToolContext) -> StoreRetry:
    """Return how the changes of a call wait for a store that is away."""
    return context._store_retry


def actions_of(context: ToolContext) -> Actions | None:
    """Return the actions that the tool requested of its agent; None for none."""
    return context._actions


def in_thread_of(context: ToolContext, key: Key[T], wait: Wait) -> T:
    """Return the capability object for a synchronous executor.

    Raises:
        AttributeError: the host provides none of this name.
    """
    opened = context.capability(key)
    batch = batch_of(context)
    assert batch is not None, "it has opened what it provides"
    provided: T = batch.in_thread(key.name, opened, wait)
    return provided


def opened_by(context: ToolContext) -> Mapping[str, Any]:
    """Return the capability objects that the call used."""
    return context._opened or {}

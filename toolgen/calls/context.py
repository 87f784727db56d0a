"""Context of asynchronous executors; `sync_context` has the one for synchronous executors.

It also defines `Key` and `Values`, with which executors look up the host's capabilities and the values shared
within a turn, and the batch of calls that share them.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from toolgen.contract.boundary import Contained
from toolgen.contract.logs import logger
from toolgen.contract.secrets import Secrets, hiding

from .capability import CallScope, Capability, RetryStep, ThreadCapability, once
from .results import Actions

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .call import CallMeta
    from .memory import Memory
    from .provided import Artifacts
    from .results import ToolResult
    from .resumption import Resumption
    from .specs import ToolSpec
    from .state import State
    from .steps.bridge import Wait

T = TypeVar("T")

log = logger("toolgen.runtime")


class Key(Generic[T]):
    """Typed key of a capability, for `ctx.capability(key)`, or of a shared value, for `ctx.values[key]`.

    Two keys of shared values are different even if they have the same name.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Key({self.name!r})"


class Values:
    """Values that the hooks and tools of a turn share, by `Key`: `values[key] = value`. They are never
    stored."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[Key[Any], Any] = {}

    def __getitem__(self, key: Key[T]) -> T:
        """Return the value, or raise `KeyError` if it is not set."""
        return self._values[key]  # type: ignore[no-any-return]  # set under the same key

    def __setitem__(self, key: Key[T], value: T) -> None:
        self._values[key] = value

    def __contains__(self, key: Key[Any]) -> bool:
        return key in self._values

    def get(self, key: Key[T], default: T) -> T:
        """Return the value, or the default if it is not set."""
        value: T = self._values.get(key, default)
        return value


STATE: Final[Key[State]] = Key("state")
ARTIFACTS: Final[Key[Artifacts]] = Key("artifacts")
MEMORY: Final[Key[Memory]] = Key("memory")


class ToolContext:
    """The current call, for asynchronous executors and for hooks.

    Every capability of the host is an attribute, such as `state`.
    """

    meta: CallMeta
    """Facts about the call that only the host knows."""
    tool: str
    """ID of the tool."""
    spec: ToolSpec | None
    """Spec of the tool."""
    answer: Json = None
    """A person's last answer as JSON; None before an answer. `answered` returns it typed."""
    resume_state: Json = None
    """Value that the executor stored with its last question: `ToolOutcome.ask(…, resume_state=…)`."""
    deadline: float | None = None
    """Time of the event loop, `loop.time()`, at which the call times out; None without a timeout."""
    has_begun: bool = False
    """Whether the effect of the tool may have begun: true as soon as the executor is called. An executor with
    `begins_itself = True` sets this to False, and awaits `begin` before it sends the work elsewhere."""
    is_sent: bool = False
    """Whether the executor has awaited `begin`, in this attempt or an earlier one."""
    on_begin: Callable[[], Awaitable[None]] | None = None
    """Internal: records that the work begins."""
    report: Callable[..., None] | None = None
    """Internal: receives progress and text; None without subscribers."""
    place: int = 0
    _actions: Actions | None = None
    _approved_by: str = ""
    _batch: Batch | None = None
    _new_batch: Callable[[], Batch] | None = None
    """Creates the batch of a single call on demand."""
    _key: str = ""
    _opened: dict[str, Any] | None = None
    _resumption: Resumption | None = None
    _retry_step: RetryStep | None = None

    def __init__(
        self, meta: CallMeta, tool: str, spec: ToolSpec | None = None, batch: Batch | None = None
    ) -> None:
        self.meta = meta
        self.tool = tool
        self.spec = spec
        self._batch = batch

    def __repr__(self) -> str:
        return f"ToolContext(tool={self.tool!r}, tool_call_id={self.meta.tool_call_id!r})"

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else self.deadline - asyncio.get_running_loop().time()

    async def begin(self) -> None:
        """Record that the work begins now. An executor that `begins_itself` awaits this before it sends."""
        if self.on_begin is not None:
            await self.on_begin()
        self.has_begun = self.is_sent = True

    @property
    def idempotency_key(self) -> str:
        """Key that is the same for every attempt at this call, and for no other call.

        It is derived from run and ID, or from the name; otherwise random, because peers count IDs from 0.
        """
        if not self._key:
            run_id, call = self.meta.run_id, self.meta.tool_call_id
            self._key = f"{run_id}:{call}" if run_id and call else uuid.uuid4().hex
        return self._key

    @property
    def actions(self) -> Actions:
        """Actions that the tool requests from its agent: `transfer(agent)` and `escalate()`."""
        if self._actions is None:
            self._touch()
            self._actions = Actions()
        return self._actions

    @property
    def values(self) -> Values:
        """Values that the hooks and tools of the turn share."""
        if (batch := batch_of(self)) is None:
            raise RuntimeError("ctx.values is not available: this context was created outside a runtime")
        return batch.values

    def answered(self, type_: type[T], question: str | None = None) -> T | None:
        """Return a person's newest answer of this type, or None before an answer.

        Args:
            type_: Type that was passed to `ToolOutcome.ask`, or the class of `Confirm(payload=…)`.
            question: Text of the question, if the executor asks several ones of this type.
        """
        if self._resumption is None:
            return None
        return self._resumption.answered(type_, question, self.spec)

    def approved(self, question: str) -> bool:
        """Return whether a person has approved exactly this question of `ToolOutcome.approval`."""
        return self._resumption is not None and self._resumption.approved(question)

    def progress(self, fraction: float | None = None, message: str = "", value: Any = None) -> None:
        """Report progress to subscribers.

        Args:
            fraction: Completed part, from 0 to 1.
            message: Text for people.
            value: Value of the type of the design's `LongRunning(progress=…)`.

        Raises:
            MalformedResultError: An argument does not fit, even if there are no subscribers.
        """
        from .progress import checked_fraction, progress_json, require_text

        fraction = checked_fraction(fraction)
        require_text(message)
        if value is not None and self.spec is not None:
            value = progress_json(self.spec, value)
        if self.report is not None:
            self.report(fraction=fraction, message=message, value=value)

    def stream(self, text: str) -> None:
        """Emit a piece of output to subscribers before the result."""
        from .progress import require_text

        require_text(text)
        if self.report is not None:
            self.report(text=text)

    @property
    def state(self) -> State:
        """State that outlives the call, if the host has a `StateCapability`.

        Raises:
            AttributeError: The host has none.
        """
        return self.capability(STATE)

    @property
    def artifacts(self) -> Artifacts:
        """Files that outlive the call, if the host has an `ArtifactsCapability`.

        Raises:
            AttributeError: The host has none.
        """
        return self.capability(ARTIFACTS)

    @property
    def memory(self) -> Memory:
        """Earlier conversations of the person, if the host has a `MemoryCapability`.

        Raises:
            AttributeError: The host has none.
        """
        return self.capability(MEMORY)

    def capability(self, key: Key[T]) -> T:
        """Return the object of a capability for this call. It is opened at its first use.

        Raises:
            AttributeError: The host has no capability of this name.
        """
        name = key.name
        if (batch := batch_of(self)) is None:
            raise AttributeError(f"ctx has no {name!r}: this context was created outside a runtime")
        opened = self._opened
        if opened is None:
            self._touch()
            opened = self._opened = {}
        if name not in opened:
            opened[name] = batch.open(name, self)
        provided: T = opened[name]
        return provided

    if not TYPE_CHECKING:  # type checkers know the attributes above and report a misspelt one

        def __getattr__(self, name: str) -> Any:
            """Return the object of a host's capability for this call, by name."""
            if name.startswith("_"):
                raise AttributeError(name)
            return self.capability(Key(name))

    def _touch(self) -> None:
        """Register the call, once, for the commit at the end of its batch."""
        if self._opened is None and self._actions is None and (batch := batch_of(self)) is not None:
            batch.touched.append(self)


class Batch:
    """The calls of one step of a turn; a single call is its own batch."""

    _secrets: tuple[Secrets, ...] = ()
    _values: Values | None = None

    def __init__(self, capabilities: Mapping[str, Capability], values: Values | None = None) -> None:
        self._capabilities = capabilities
        self.touched: list[ToolContext] = []
        """Contexts of calls that used a capability, or requested an action of their agent."""
        if values is not None:
            self._values = values

    def add_secrets(self, secrets: Secrets) -> None:
        """Add the sensitive values of a call, which are redacted while the batch is settled."""
        self._secrets = (*self._secrets, secrets)

    @property
    def values(self) -> Values:
        """The values that the calls share."""
        if self._values is None:
            self._values = Values()
        return self._values

    def open(self, name: str, context: ToolContext) -> Any:
        """Return the capability's object for a call.

        Raises:
            AttributeError: the host provides no such capability.
        """
        capability = self._capabilities.get(name)
        if capability is None or context.spec is None:
            provided = ", ".join(self._capabilities) or "none"
            raise AttributeError(
                f"ctx has no {name!r}: this runtime provides {provided}; pass the capability to the "
                f"Runtime, and write Needs({name!r}) in the design, so that registration checks for it"
            )
        scope = CallScope(
            meta=context.meta,
            tool=context.tool,
            spec=context.spec,
            report=context.report,
            retry_step=context._retry_step or once,
        )
        return capability.open(scope)

    def in_thread(self, name: str, opened: Any, wait: Wait) -> Any:
        """Return the capability's object for a synchronous executor."""
        capability = self._capabilities[name]
        return capability.for_thread(opened, wait) if isinstance(capability, ThreadCapability) else opened

    async def settle(self, results: Sequence[ToolResult]) -> tuple[ToolResult, ...]:
        """Commit the capabilities of the batch and return the results with the actions of their tools.

        A failure of a capability is logged, without the sensitive values of any call; the others commit.
        """
        if not self.touched:
            return tuple(results)
        self.touched.sort(key=lambda context: context.place)
        settled = list(results)
        for context in self.touched:
            actions, by = context._actions, context._approved_by
            if actions or by:
                settled[context.place] = replace(settled[context.place], actions=actions, approved_by=by)
        with hiding(Secrets(*self._secrets) if self._secrets else None):
            for name, capability in self._capabilities.items():
                opened = [
                    (context._opened[name], _has_succeeded(results[context.place]))
                    for context in self.touched
                    if context._opened is not None and name in context._opened
                ]
                try:
                    with Contained():
                        if opened:
                            await capability.close(opened)
                except Exception:
                    log.exception("capability %r failed to commit the changes of %d calls", name, len(opened))
        self.touched = []
        return tuple(settled)


def _has_succeeded(result: ToolResult) -> bool:
    """Return whether the executor succeeded: it returned a result, or began work elsewhere."""
    waiting = result.frozen or result.suspension
    return result.status in ("ok", "pending") or (waiting is not None and waiting.kind == "pending")


def batch_of(context: ToolContext) -> Batch | None:
    """Return the batch of a call; None for a manually created context."""
    if context._batch is None and context._new_batch is not None:
        context.__dict__.setdefault("_batch", context._new_batch())  # atomic: another thread may do the same
    return context._batch


def set_resumption(context: ToolContext, resumption: Resumption) -> None:
    """Set the answers of a resumed call on its context."""
    context.answer = resumption.answer
    context.resume_state = resumption.resume_state
    context._resumption = resumption
    context._key = resumption.key


def set_approved_by(context: ToolContext, text: str) -> None:
    """Set the approver whose grant covers the call, for its result."""
    context._touch()
    context._approved_by = text


def set_idempotency_key(context: ToolContext, key: str) -> None:
    """Set the idempotency key of a call, derived from its name or its own run."""
    context._key = key


def set_retry_step(context: ToolContext, retry_step: RetryStep) -> None:
    """Set the retry function for the changes of a call to an unavailable store."""
    context._retry_step = retry_step


def in_thread_of(context: ToolContext, key: Key[T], wait: Wait) -> T:
    """Return the capability object for a synchronous executor.

    Raises:
        AttributeError: the host provides no capability with this name.
    """
    opened = context.capability(key)
    batch = batch_of(context)
    assert batch is not None, "it has opened what it provides"
    provided: T = batch.in_thread(key.name, opened, wait)
    return provided

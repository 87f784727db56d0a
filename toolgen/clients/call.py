"""The tool call that a client serves, stored in a context variable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final, TypeVar

from toolgen.calls.codec import Codec
from toolgen.calls.context import ToolContext
from toolgen.calls.errors import UnfitAnswerError
from toolgen.calls.results import Received, ToolOutcome
from toolgen.calls.specs import ToolSpec
from toolgen.shapes.issues import MOST_WARNINGS

R = TypeVar("R")
T = TypeVar("T")


class ServedCall:
    """A tool call that clients serve."""

    __slots__ = ("context",)

    def __init__(self, context: ToolContext) -> None:
        self.context = context

    @property
    def may_repeat(self) -> bool:
        """Whether the tool declares that repeating a call has no further effect."""
        spec = self.context.spec
        return spec is not None and spec.may_repeat

    def connect(self) -> None:
        """Mark the call as not begun, unless something was sent: the client is only connecting."""
        if not self.context.is_sent:
            self.context.has_begun = False

    async def begin(self) -> None:
        """Mark the work of the call as begun, because the request is sent."""
        if not self.context.is_sent:
            await self.context.begin()


_CURRENT: Final[ContextVar[ServedCall | None]] = ContextVar("toolgen_served_call", default=None)


def served_call() -> ServedCall | None:
    """Return the call that the running code serves; None outside `calling`."""
    return _CURRENT.get()


@contextmanager
def calling(ctx: ToolContext, *, has_begun: bool = False) -> Iterator[None]:
    """Provide the call to clients for the duration of the context: its time, credentials and artifacts.

    If a client cannot connect, the call counts as not run. An executor that has effects of its own before it
    calls a client must pass `has_begun=True`, also around a bound executor's method.
    """
    if has_begun:
        ctx.has_begun = ctx.is_sent = True
    token = _CURRENT.set(ServedCall(ctx))
    try:
        yield
    finally:
        _CURRENT.reset(token)


async def answered(work: Awaitable[R], transform: Callable[[R], T]) -> T | Received:
    """Return the result of a bound tool: the transformed answer of a lenient service, or as received.

    A tool that is not lenient itself has a result if the parts of the answer that it needs fit.
    """
    call = _CURRENT.get()
    spec = None if call is None else call.context.spec
    is_lenient = spec is not None and spec.is_lenient
    try:
        result = transform(await work)
    except UnfitAnswerError as error:
        if is_lenient:
            return Received(error=error)
        partial: Any = error.value
        try:
            return _typed(transform(partial))
        except Exception:  # noqa: BLE001 - the transform needs a part that does not fit
            return Received(error=error)
    return _checked(result, spec) if spec is not None and is_lenient else result


def _typed(result: T) -> T:
    """Return a transformed result whose classes were validated again, because it can contain received values.

    Raises:
        ValueError: The result contains values that do not fit.
    """
    typed: Any = result
    if isinstance(typed, ToolOutcome):
        artifacts = tuple(replace(artifact, data=_typed(artifact.data)) for artifact in typed.artifacts)
        typed = replace(typed, result=_typed(typed.result), artifacts=artifacts)
    else:  # nulls are kept: each is an absence or a received value
        typed = type(typed).model_validate_json(typed.model_dump_json(by_alias=True, warnings=False))
    return typed  # type: ignore[no-any-return]  # of the same class


def _checked(result: T, spec: ToolSpec) -> T | Received:
    """Return a result; as received if it breaks a rule that no type expresses."""
    if spec.result.is_exact:
        return result
    document = Codec.encode(spec.result, result)
    findings = spec.result._rule_issues(document, MOST_WARNINGS).shortened()
    if not findings.issues:
        return result
    message = f"{spec.name} ran; its result does not fit"
    return Received(error=UnfitAnswerError(message, document, result, findings.issues))

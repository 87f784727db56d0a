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
    """A call of a tool while clients work for it."""

    __slots__ = ("context",)

    def __init__(self, context: ToolContext) -> None:
        self.context = context

    @property
    def may_repeat(self) -> bool:
        """Whether the tool says that a second call does nothing more than the first."""
        spec = self.context.spec
        return spec is not None and spec.may_repeat

    def connect(self) -> None:
        """Record that nothing of the call has run yet, unless something has: the client only connects."""
        if not self.context.is_sent:
            self.context.has_begun = False

    async def begin(self) -> None:
        """Record that the work of the call begins now: the request is sent."""
        if not self.context.is_sent:
            await self.context.begin()


_CURRENT: Final[ContextVar[ServedCall | None]] = ContextVar("toolgen_served_call", default=None)


def served_call() -> ServedCall | None:
    """Return the call that the running code serves; None outside `calling`."""
    return _CURRENT.get()


@contextmanager
def calling(ctx: ToolContext, *, has_begun: bool = False) -> Iterator[None]:
    """Let clients know the call while the context lasts: its time, its credentials, its artifacts.

    A call whose client cannot connect was not run then. An executor that has done something by itself before
    it asks a client gives `has_begun=True`, also around a bound executor's method.
    """
    if has_begun:
        ctx.has_begun = ctx.is_sent = True
    token = _CURRENT.set(ServedCall(ctx))
    try:
        yield
    finally:
        _CURRENT.reset(token)


async def answered(work: Awaitable[R], transform: Callable[[R], T]) -> T | Received:
    """Return the result of a bound tool: the answer of a lenient service, transformed, or as received.

    A tool that is not lenient itself has its result if all that it needs of an answer fits.
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
        except Exception:  # noqa: BLE001 - the transform needs what does not fit
            return Received(error=error)
    return _checked(result, spec) if spec is not None and is_lenient else result


def _typed(result: T) -> T:
    """Return a transformed result whose classes were read again, since it may hold values as received.

    Raises:
        ValueError: it does.
    """
    typed: Any = result
    if isinstance(typed, ToolOutcome):
        artifacts = tuple(replace(artifact, data=_typed(artifact.data)) for artifact in typed.artifacts)
        typed = replace(typed, result=_typed(typed.result), artifacts=artifacts)
    else:  # with each null, which is absence or a value as received
        typed = type(typed).model_validate_json(typed.model_dump_json(by_alias=True, warnings=False))
    return typed  # type: ignore[no-any-return]  # of the same class


def _checked(result: T, spec: ToolSpec) -> T | Received:
    """Return a result; one that breaks a rule which no type holds, as it was received."""
    if spec.result.is_exact:
        return result
    document = Codec.encode(spec.result, result)
    findings = spec.result._rule_issues(document, MOST_WARNINGS).shortened()
    if not findings.issues:
        return result
    message = f"{spec.name} ran; its result does not fit"
    return Received(error=UnfitAnswerError(message, document, result, findings.issues))

"""The call of a tool that a client serves, known to it by a context variable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from toolgen.calls.context import ToolContext


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

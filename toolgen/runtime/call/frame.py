"""The frame of a call: what all its steps share, from its beginning to its one result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from toolgen.contract.json_value import Json

from ..calls import CallMeta
from ..context import ToolContext, resume
from ..errors import ToolError, ToolValidationError
from ..results import ToolResult
from .batch import Batch
from .entry import Entry
from .failures import Arguments, denied, failed, refused
from .host import Host
from .trace import Trace

if TYPE_CHECKING:
    from ..waiting.resumption import Resumption


class Frame:
    """One call that has begun, with a context of its own."""

    __slots__ = (
        "arguments",
        "batch",
        "begun",
        "context",
        "entry",
        "host",
        "meta",
        "resumption",
        "spec",
        "trace",
    )

    def __init__(
        self,
        entry: Entry,
        arguments: Arguments,
        meta: CallMeta,
        batch: Batch,
        host: Host,
        trace: Trace | None = None,
        resumption: Resumption | None = None,
    ) -> None:
        spec = entry.spec
        self.spec = spec
        self.entry = entry
        self.arguments = arguments
        """As they came."""
        self.meta = meta
        self.batch = batch
        self.host = host
        self.context = ToolContext(meta, spec.id, spec, batch)
        self.trace = trace
        """Gets the steps of the call, the one that fails excepted."""
        self.resumption = resumption
        """Of a call that was suspended, and goes on."""
        self.begun: Callable[[], Awaitable[None]] | None = None
        """Awaited immediately before the executor runs, where an engine keeps that it did."""
        if resumption is not None:
            resume(self.context, resumption)

    def keep_beginning(self, begun: Callable[[], Awaitable[None]]) -> None:
        """Let an engine keep that the executor begins, unless the tool may run twice."""
        if self.entry.runs_once:
            self.begun = begun

    @property
    def limit(self) -> int:
        """Return the most bytes of a document that goes out."""
        return self.host.limit_of(self.spec)

    @property
    def answers(self) -> tuple[Json, ...]:
        """Return what was answered to this call before."""
        return () if self.resumption is None else self.resumption.answers

    def failed(self, error: ToolError) -> ToolResult:
        """Return the result of a failure that is already in words for the model."""
        return failed(self.spec.id, error, self.meta, self.limit)

    def denied(self, message: str, *, code: str = "denied") -> ToolResult:
        """Return the result of a call that a person or a policy did not allow."""
        return denied(self.spec, message, self.meta, self.limit, code=code)

    def refused(self, error: ToolValidationError) -> ToolResult:
        """Return the result of arguments that do not fit."""
        return refused(self.spec, error, self.arguments, self.meta, self.limit)

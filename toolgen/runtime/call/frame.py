"""The frame of a call: the state that all its steps share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from toolgen.contract.json_value import Json
from toolgen.contract.secrets import Secrets, hiding

from ..calls import CallMeta
from ..context import ToolContext, set_resumption, set_store_retry
from ..errors import DeclaredError, ToolError, ToolValidationError
from ..results import ToolResult
from ..stores.outages import ONCE
from .batch import Batch
from .failures import (
    Arguments,
    declared,
    denied_result,
    error_result,
    invalid_arguments_result,
    raw_arguments,
    readable,
)
from .registered_tool import RegisteredTool
from .secrets import note_answer, note_document, secrets_of
from .services import RuntimeServices
from .trace import Trace

if TYPE_CHECKING:
    from ..waiting.resumption import Resumption


class OnceCall(Protocol):
    """What an engine keeps of a call that may not run twice."""

    async def begin(self) -> None:
        """Keep that the executor runs now; awaited immediately before."""

    def give_up(self) -> None:
        """Say that nobody waits for the executor any more."""


class Frame:
    """The state of one call that has begun, with a context of its own."""

    __slots__ = (
        "arguments",
        "batch",
        "context",
        "meta",
        "once",
        "resumption",
        "secrets",
        "services",
        "spec",
        "tool",
        "trace",
    )

    def __init__(
        self,
        tool: RegisteredTool,
        arguments: Arguments,
        meta: CallMeta,
        batch: Batch,
        services: RuntimeServices,
        trace: Trace | None = None,
        resumption: Resumption | None = None,
    ) -> None:
        spec = tool.spec
        self.spec = spec
        self.tool = tool
        self.arguments = arguments
        """As they came."""
        self.meta = meta
        self.batch = batch
        self.services = services
        self.context = ToolContext(meta, spec.id, spec, batch)
        if services.store_retry is not ONCE:
            set_store_retry(self.context, services.store_retry)
        self.trace = trace
        """Gets the steps of the call, the one that fails excepted."""
        self.resumption = resumption
        """Of a call that was suspended, and goes on."""
        self.once: OnceCall | None = None
        """Of a call of a run whose tool may not run twice."""
        self.secrets: Secrets | None = None
        """The sensitive values of the call; None where its design has none."""
        if tool.is_sensitive:
            self._note_secrets()
        if resumption is not None:
            set_resumption(self.context, resumption)

    def _note_secrets(self) -> None:
        self.secrets = secrets_of(raw_arguments(self.arguments), self.spec.payload)
        self.batch.add_secrets(self.secrets)
        if self.resumption is not None and self.spec.confirm is not None:
            for answer in self.resumption.answers:
                note_answer(self.secrets, self.spec.confirm.payload, answer)

    @property
    def limit(self) -> int:
        """Return the largest size of an outgoing document in bytes."""
        return self.services.limit_of(self.spec)

    @property
    def answers(self) -> tuple[Json, ...]:
        """Return the earlier answers to this call."""
        return () if self.resumption is None else self.resumption.answers

    def error_result(self, error: ToolError) -> ToolResult:
        """Return the error result of a failure whose text is for the model."""
        with hiding(self.secrets):
            known = declared(self.spec, readable(self.spec, error))
            if self.secrets is not None and isinstance(known, DeclaredError):
                codec = self.spec.errors[known.code].codec
                note_document(self.secrets, codec, known.details_json)
            return error_result(self.spec.id, known, self.meta, self.limit)

    def denied_result(self, message: str, *, code: str = "denied") -> ToolResult:
        """Return the result of a call that a person or a policy did not allow."""
        with hiding(self.secrets):
            return denied_result(self.spec, message, self.meta, self.limit, code=code)

    def invalid_arguments_result(self, error: ToolValidationError, message: str = "") -> ToolResult:
        """Return the result of arguments that do not fit; with a message in the place of its own."""
        with hiding(self.secrets):
            return invalid_arguments_result(
                self.spec, error, self.arguments, self.meta, self.limit, message=message
            )

"""A tool call: its tool, its arguments, the facts that the server knows about it, and its name for a peer.

A peer can repeat a call under its name; the ID of its run is derived from the name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, Final

from toolgen.contract.record import frozen_record, record
from toolgen.shapes.issues import FieldIssue
from toolgen.shapes.sensitive import pointers_at, redacted
from toolgen.shapes.values import plain

from .errors import ToolError, ToolValidationError

if TYPE_CHECKING:
    from toolgen.contract.bounds import Bounds
    from toolgen.contract.json_value import Json
    from toolgen.contract.names import SuspensionKind
Arguments = bytes | str | Mapping[str, object]
"""Arguments of a call as received: JSON text, or a mapping of JSON values."""
NO_ARGUMENTS: Final = b"{}"
CALL: Final = "call_"
"""Prefix of the run ids of direct calls."""
_OPTIONAL: Final = frozenset(
    {
        *("is_shortened", "is_asked_by_tool", "reason", "handle", "request", "answers"),
        *("idempotency_key", "sensitive", "resume_state", "own_question", "trace"),
    }
)
"""Fields that are omitted if they are empty."""
_SHOWN: Final = (
    *("id", "kind", "tool", "question", "preview", "is_shortened", "answer_schema", "expires_at"),
    *("handle", "request", "reason"),
)
"""Fields that are shown unchanged."""


@frozen_record
class CallMeta:
    """Facts about a call that the host knows and the model never sets. An empty string means unknown.

    Injected fields with the name of one of the IDs are filled from here.
    """

    agent: str = ""
    """ID of the agent whose run makes the call."""
    run_id: str = ""
    """ID of the run that makes the call."""
    session_id: str = ""
    """ID of the conversation."""
    turn_id: str = ""
    """ID of the turn in the conversation."""
    tool_call_id: str = ""
    """ID of the call, which the model or the host assigns."""
    parent_tool_call_id: str = ""
    """ID of the call that the run answers."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Other facts of the host, such as a tenant or the user."""
    requested_by: str = ""
    """Person for whom the call is made."""


NO_META = CallMeta()


@record
class SeenBounds:
    """Bounds of an earlier result of the same turn."""

    tool: str
    """ID of the tool."""
    bounds: Bounds
    """How much of the data the result showed."""


@record
class ToolCall:
    """A call of a tool."""

    tool: str
    """ID or wire name of the tool."""
    payload_json: bytes = field(repr=False)
    """Arguments as JSON, without injected values."""
    meta: CallMeta = NO_META
    """Facts about the call that only the host knows."""
    payload: Any = field(default=None, repr=False)
    """Decoded arguments; None before they are decoded."""
    seen_bounds: tuple[SeenBounds, ...] = ()
    """Bounds of the results that the turn has seen in this process, oldest first, for policies."""


class CallNameError(ToolError):
    """Another call has this name, with another tool or other arguments. Nothing was executed."""


@record
class CallName:
    """Name of a call for a peer that can repeat it.

    It is scoped to one interface, person (`CallMeta.requested_by`) and session.
    """

    interface: str
    """Interface that received the call, for example the adapter of a framework."""
    call_id: str
    """The ID that the peer assigned to the call."""
    checkpoint: str = ""
    """Position in the conversation, which stays the same if the peer repeats the call.

    "" if it is unknown; then `CallMeta.turn_id` is used. The same ID at another position names another call.
    """

    is_detached: bool | Callable[[], bool] = False
    """Whether it continues if its caller is cancelled, because the peer asks for the result later; a function
    decides at that moment."""
    is_idempotency_key: bool = False
    """Whether every call with this key is recorded, even if it could run twice, and different arguments are
    rejected even before an approval, as for an `Idempotency-Key` header."""

    def run_id(self, meta: CallMeta, edits: int = 0) -> str:
        """Return the ID of the call's run, after its arguments were edited `edits` times."""
        turn = "" if self.checkpoint else meta.turn_id
        parts = [
            self.interface,
            meta.requested_by,
            meta.session_id,
            self.checkpoint,
            turn,
            self.call_id,
            edits,
        ]
        return f"{CALL}{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]}"

    def idempotency_key(self, meta: CallMeta, tool: str, payload: bytes) -> str:
        """Return the key of a call that has no run, or none yet; the same whenever the call is repeated.

        Such a name is not recorded, so other arguments or another tool make another call.
        """
        digest = hashlib.sha256(tool.encode() + b"\0" + payload).hexdigest()
        return f"{self.run_id(meta)}:{digest[:32]}"


@frozen_record
class FrozenCall:
    """A suspended call. Contains no values of interceptors, and no token."""

    id: str
    kind: SuspensionKind
    tool: str
    spec_digest: str
    """`ToolSpec.approval_digest`; if it has changed when the answer arrives, the question is asked again."""
    payload_json: bytes = field(repr=False)
    """Exact bytes of the arguments that will be executed."""
    meta: CallMeta
    question: str
    preview: str
    answer_schema: Mapping[str, Any]
    created_at: float
    expires_at: float
    """Seconds since 1970, as `created_at`."""
    idempotency_key: str = ""
    """Key of the call, the same in every process that executes it."""
    handle: str = ""
    request: Mapping[str, Json] | None = None
    answers: tuple[Json, ...] = ()
    """Earlier answers to this call: verified `answer_document` documents."""
    is_shortened: bool = False
    """Whether the question or the preview shows only a part of a value."""
    is_asked_by_tool: bool = False
    """Whether the executor requested the approval, rather than the design or the policy."""
    reason: str = ""
    """Reason why the question is asked again; "" for the first time."""
    sensitive: tuple[str, ...] = ()
    """Paths of sensitive values in the arguments: `Codec.sensitive`."""
    resume_state: Json = field(default=None, repr=False)
    """State that the executor stored with the question and receives with the answer."""
    trace: str = ""
    """Span of the execution as W3C Trace Context (`traceparent`); "" without spans."""
    own_question: str = field(default="", repr=False)
    """Original question, if it quotes a sensitive value that `question` hides."""

    def shown(self) -> dict[str, Any]:
        """Return the public attributes of the call, named as in `Suspended` and in events."""
        arguments: dict[str, Json] = json.loads(self.payload_json)
        places = self.sensitive
        return {
            **{name: getattr(self, name) for name in _SHOWN},
            "number": len(self.answers) + 1,
            "arguments": redacted(arguments, places) if places else arguments,
            "sensitive": pointers_at(arguments, places) if places else (),
            "tool_call_id": self.meta.tool_call_id,
            "requested_by": self.meta.requested_by,
        }

    def as_json(self) -> dict[str, Json]:
        """Return the call as a document, without a seal; deterministic."""
        facts: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        meta = {field.name: getattr(self.meta, field.name) for field in fields(self.meta)}
        facts["meta"] = {**meta, "labels": dict(self.meta.labels)}
        facts["payload_json"] = self.payload_json.decode()
        facts["request"] = None if self.request is None else dict(self.request)
        facts["answer_schema"] = dict(self.answer_schema)
        facts["answers"] = list(self.answers)
        facts["sensitive"] = list(self.sensitive)
        return {name: value for name, value in facts.items() if value or name not in _OPTIONAL}

    @classmethod
    def from_json(cls, document: Json) -> FrozenCall:
        """Return the call of a document from `as_json`.

        Raises:
            ValueError: it is not such a document.
        """
        try:
            facts: dict[str, Any] = dict(document)  # type: ignore[arg-type]  # checked here
            facts["payload_json"] = facts["payload_json"].encode()
            facts["meta"] = CallMeta(**facts["meta"])
            facts["answers"] = tuple(facts.get("answers", ()))
            facts["sensitive"] = tuple(facts.get("sensitive", ()))
            return cls(**facts)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"the document is not a frozen call: {error}") from error


def json_document(data: Mapping[str, object]) -> bytes:
    """Return a mapping of Python values as JSON bytes.

    Raises:
        ToolValidationError: a value has no JSON form.
    """
    try:
        return json.dumps(plain(data)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        issue = FieldIssue(keys=(), constraint="invalid_json", message=f"is not JSON: {error}")
        raise ToolValidationError((issue.shortened(),)) from None


def arguments_json(data: Arguments) -> bytes:
    """Return the arguments as JSON bytes; empty arguments become `{}`.

    Raises:
        ToolValidationError: a mapping that is not JSON.
    """
    if not isinstance(data, bytes | str):
        return json_document(data)
    if not data or data.isspace():
        return NO_ARGUMENTS
    return data if isinstance(data, bytes) else data.encode(errors="replace")


def is_blank(data: Arguments) -> bool:
    """Return whether arguments are a text without content, which some models send for `{}`."""
    return isinstance(data, bytes | str) and (not data or data.isspace())


def arguments_json_or_empty(data: Arguments) -> bytes:
    """Return the arguments as JSON bytes; empty for a mapping that is not JSON."""
    try:
        return arguments_json(data)
    except ToolValidationError:
        return b""

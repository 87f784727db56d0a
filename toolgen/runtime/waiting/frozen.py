"""A suspended call: what it waits with, and what people and programs see of it.

The journal of the run that waits keeps it as a sealed record (`sealed_calls`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

from toolgen.contract.json_value import Json
from toolgen.shapes.sensitive import pointers_at, redacted

from ..call_meta import CallMeta

SuspensionKind = Literal["confirmation", "input", "credential", "pending"]

_OPTIONAL: Final = frozenset(
    {
        *("is_shortened", "is_asked_by_tool", "reason", "handle", "request", "answers"),
        *("idempotency_key", "sensitive", "keep"),
    }
)
"""Fields that are left out where they say nothing."""
_SHOWN: Final = (
    *("id", "kind", "tool", "question", "preview", "is_shortened", "answer_schema", "expires_at"),
    *("handle", "request", "reason"),
)
"""Fields that are shown as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenCall:
    """A suspended call. Holds no value of an interceptor, and no token."""

    id: str
    kind: SuspensionKind
    tool: str
    spec_digest: str
    """`ToolSpec.approval_digest`: where it is another one when the answer comes, it is asked again."""
    payload_json: bytes = field(repr=False)
    """The arguments, byte for byte what will run."""
    meta: CallMeta
    question: str
    preview: str
    answer_schema: Mapping[str, Any]
    created_at: float
    expires_at: float
    """Seconds since 1970, both."""
    idempotency_key: str = ""
    """Of the call, whatever process executes it."""
    handle: str = ""
    request: Mapping[str, Json] | None = None
    answers: tuple[Json, ...] = ()
    """What was answered to this call before: documents by `answer_document`, each of them verified."""
    is_shortened: bool = False
    """The question or the preview shows only a part of a value."""
    is_asked_by_tool: bool = False
    """The executor wants the approval, and neither the design nor the policy."""
    reason: str = ""
    """Why it is asked again, where an answer was given and not used."""
    sensitive: tuple[str, ...] = ()
    """Where the arguments have values that nobody is shown: `Codec.sensitive`."""
    keep: Json = field(default=None, repr=False)
    """What the executor gets back with the answer."""

    def shown(self) -> dict[str, Any]:
        """Return what people and programs see of the call, by the names of `Suspended` and of events."""
        arguments: dict[str, Json] = json.loads(self.payload_json)
        return {
            **{name: getattr(self, name) for name in _SHOWN},
            "number": len(self.answers) + 1,
            "arguments": redacted(arguments, self.sensitive),
            "sensitive": pointers_at(arguments, self.sensitive),
            "tool_call_id": self.meta.tool_call_id,
            "requested_by": self.meta.requested_by,
        }

    def as_json(self) -> dict[str, Json]:
        """Return the call as a document, without a seal; the same for the same call."""
        facts: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        meta = {one.name: getattr(self.meta, one.name) for one in fields(self.meta)}
        facts["meta"] = {**meta, "labels": dict(self.meta.labels)}
        facts["payload_json"] = self.payload_json.decode()
        facts["request"] = None if self.request is None else dict(self.request)
        facts["answer_schema"] = dict(self.answer_schema)
        facts["answers"] = list(self.answers)
        facts["sensitive"] = list(self.sensitive)
        return {name: value for name, value in facts.items() if value or name not in _OPTIONAL}

    @classmethod
    def from_json(cls, document: Json) -> FrozenCall:
        """Return the call of a document by `as_json`.

        Raises:
            ValueError: it is none.
        """
        try:
            facts: dict[str, Any] = dict(document)  # type: ignore[arg-type]  # checked here
            facts["payload_json"] = facts["payload_json"].encode()
            facts["meta"] = CallMeta(**facts["meta"])
            facts["answers"] = tuple(facts.get("answers", ()))
            facts["sensitive"] = tuple(facts.get("sensitive", ()))
            return cls(**facts)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"this is not the document of a frozen call: {error}") from error

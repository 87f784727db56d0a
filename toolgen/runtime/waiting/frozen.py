"""The frozen document of a suspended call, in the journal of the run that waits."""

from __future__ import annotations

import hashlib
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
    """What was answered to this call before."""
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

    def shown_arguments(self) -> dict[str, Json]:
        """Return the arguments for people and programs."""
        shown: dict[str, Json] = redacted(json.loads(self.payload_json), self.sensitive)
        return shown

    def sensitive_pointers(self) -> tuple[str, ...]:
        """Return the JSON Pointers to what is redacted in the arguments for people and programs."""
        return pointers_at(json.loads(self.payload_json), self.sensitive)

    @property
    def digest(self) -> str:
        """SHA-256 of the document, in hex, to which tokens and answers are bound."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Json]:
        """Return the call as a document, the same for the same call."""
        facts: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        meta = {one.name: getattr(self.meta, one.name) for one in fields(self.meta)}
        facts["meta"] = {**meta, "labels": dict(self.meta.labels)}
        if not self.meta.agent:  # as in documents of before, whose digests have none
            del facts["meta"]["agent"]
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

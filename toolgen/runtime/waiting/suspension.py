"""What is frozen of a call that waits for an answer, and where it is kept."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Protocol

from toolgen.contract.json_value import Json

from ..calls import CallMeta
from ..results import SuspensionKind

_LATER: Final = ("is_shortened", "is_asked_by_tool")
"""Fields that stores of older versions do not have; left out where they say nothing, so that seals hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspension:
    """A call that waits. Holds no injected value and no token."""

    id: str
    kind: SuspensionKind
    tool: str
    spec_digest: str
    payload_json: bytes
    """The arguments, byte for byte what will run."""
    meta: CallMeta
    question: str
    preview: str
    answer_schema: Mapping[str, Any]
    created_at: float
    expires_at: float
    """Seconds since 1970, both."""
    handle: str = ""
    request: Mapping[str, Json] | None = None
    answers: tuple[Json, ...] = ()
    """What was answered to this call before."""
    is_shortened: bool = False
    """The question or the preview shows only a part of a value."""
    is_asked_by_tool: bool = False
    """The executor wants the approval, and neither the design nor the policy."""
    seal: str = ""
    """HMAC-SHA-256 of everything above, in hex; its key is the token, which the store never sees."""

    def sealed(self, token: str) -> Suspension:
        """Return the suspension with its seal."""
        return replace(self, seal=self._seal(token))

    def is_whole(self, token: str) -> bool:
        """Return whether it is what was frozen under this token."""
        return hmac.compare_digest(self.seal, self._seal(token))

    def as_json(self) -> str:
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        meta = {field.name: getattr(self.meta, field.name) for field in fields(self.meta)}
        facts["meta"] = {**meta, "labels": dict(self.meta.labels)}
        facts["payload_json"] = self.payload_json.decode()
        facts["request"] = None if self.request is None else dict(self.request)
        facts["answer_schema"] = dict(self.answer_schema)
        for name in _LATER:
            if not facts[name]:
                del facts[name]
        return json.dumps(facts, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Suspension:
        """Return the suspension of a text by `as_json`.

        Raises:
            ValueError: it is none.
        """
        try:
            facts: dict[str, Any] = json.loads(text)
            facts["payload_json"] = facts["payload_json"].encode()
            facts["meta"] = CallMeta(**facts["meta"])
            facts["answers"] = tuple(facts["answers"])
            return cls(**facts)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no suspension: {error}") from error

    def _seal(self, token: str) -> str:
        text = replace(self, seal="").as_json()
        return hmac.new(token.encode(errors="replace"), text.encode(), "sha256").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A suspension as a store has it."""

    suspension: Suspension
    answer_hash: str = ""
    """Of the answer that was taken; "" while none was."""
    outcome: bytes | None = None
    """What came of the answer; None while that is not known."""


class SuspensionStore(Protocol):
    """Keeps suspensions by the hash of their token. Each method is one atomic step, over all processes."""

    async def put(self, token_hash: str, suspension: Suspension) -> None:
        """Keep a new suspension."""
        ...

    async def get(self, token_hash: str) -> Stored | None:
        """Return what is kept under the token; None when there is nothing."""
        ...

    async def claim(self, token_hash: str, answer_hash: str) -> bool:
        """Take an answer, if none was taken yet; return whether this one was."""
        ...

    async def finish(self, token_hash: str, outcome: bytes) -> None:
        """Keep what came of the answer that was taken."""
        ...

    async def waiting(self) -> tuple[Suspension, ...]:
        """Return the suspensions without an answer, oldest first."""
        ...

    async def forget(self, before: float) -> int:
        """Drop what expired before this second since 1970; return how many."""
        ...


class MemorySuspensionStore:
    """Keeps suspensions as long as the process lives."""

    def __init__(self) -> None:
        self._kept: dict[str, Stored] = {}

    async def put(self, token_hash: str, suspension: Suspension) -> None:
        self._kept[token_hash] = Stored(suspension=suspension)

    async def get(self, token_hash: str) -> Stored | None:
        return self._kept.get(token_hash)

    async def claim(self, token_hash: str, answer_hash: str) -> bool:
        stored = self._kept.get(token_hash)
        if stored is None or stored.answer_hash:
            return False
        self._kept[token_hash] = replace(stored, answer_hash=answer_hash)
        return True

    async def finish(self, token_hash: str, outcome: bytes) -> None:
        stored = self._kept.get(token_hash)
        if stored is not None:
            self._kept[token_hash] = replace(stored, outcome=outcome)

    async def waiting(self) -> tuple[Suspension, ...]:
        return tuple(stored.suspension for stored in self._kept.values() if not stored.answer_hash)

    async def forget(self, before: float) -> int:
        late = [key for key, stored in self._kept.items() if stored.suspension.expires_at < before]
        for key in late:
            del self._kept[key]
        return len(late)

"""Tokens, seals of what a journal keeps, digests of arguments: HMAC-SHA-256 under a secret of the host.

A token names the call and says until when it is good; nothing keeps it, and whoever has the secret can
issue it again. The seal of a call that waits, or of an answer, says that a host with the secret wrote it for
this very place: who can only write to the journal cannot make one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import astuple, dataclass
from typing import Final, Literal

from toolgen.contract.json_value import Json

from .errors import UnknownSuspensionError

_FORM: Final = 1
_PREFIX: Final = "s_"
"""Of every token: never one that a shell takes for an option."""
_SHORTEST_SECRET: Final = 16
"""Bytes."""


Verdict = Literal["sealed", "tampered", "unsealed"]
"""`sealed`: a host with the secret wrote it. `tampered`: somebody else has changed it. `unsealed`: it has no
seal, or that of another secret, so that nobody here knows."""


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """The contents of a token."""

    run_id: str
    op: str
    """Key of the wait within the run."""
    session_id: str
    expires_at: float
    """Seconds since 1970."""
    digest: str
    """Of the frozen call."""


class Sealer:
    """Issues and opens tokens, and seals answers."""

    def __init__(self, *secrets: bytes) -> None:
        """Construct a sealer that seals with the first secret, and accepts seals by any of them.

        Raises:
            ValueError: there is none, or one has fewer than 16 bytes.
        """
        if not secrets or min(map(len, secrets)) < _SHORTEST_SECRET:
            raise ValueError(f"a secret has at least {_SHORTEST_SECRET} bytes, from a random source")
        self._secrets = {hashlib.sha256(b"key id" + secret).hexdigest()[:8]: secret for secret in secrets}
        self._newest = next(iter(self._secrets))

    def issue(self, ticket: TokenClaims) -> str:
        """Return the token; the same for the same ticket."""
        text = _base64(json.dumps([_FORM, self._newest, *astuple(ticket)]).encode())
        return f"{_PREFIX}{text}.{self._mac(self._newest, 'token', text)}"

    def open(self, token: str) -> TokenClaims:
        """Return the contents of a token.

        Raises:
            UnknownSuspensionError: no host with one of the secrets issued it.
        """
        text, _, mac = token.removeprefix(_PREFIX).partition(".")
        is_ours = token.isascii() and token.startswith(_PREFIX)
        is_ours = is_ours and any(
            hmac.compare_digest(self._mac(key, "token", text), mac) for key in self._secrets
        )
        if is_ours:  # nothing of another token is read
            form, _, *facts = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            if form == _FORM:
                return TokenClaims(*facts)
        hint = "copy the whole token, from s_ on; a token of another secret is unknown here"
        raise UnknownSuspensionError("no suspended call has this token", hint=hint)

    def seal(self, ticket: TokenClaims, answer: Json, by: str) -> dict[str, Json]:
        """Return an answer with its person and its seal."""
        mac = self._mac(self._newest, "answer", _answer_text(ticket, answer, by))
        return {"answer": answer, "by": by, "key": self._newest, "seal": mac}

    def is_sealed(self, ticket: TokenClaims, given: Json) -> bool:
        """Return whether an answer has a seal by one of the secrets, for this very call."""
        match given:
            case {"answer": answer, "by": str(by), "key": str(key), "seal": str(seal)} if (
                key in self._secrets
            ):
                mac = self._mac(key, "answer", _answer_text(ticket, answer, by))
                return seal.isascii() and hmac.compare_digest(mac, seal)
            case _:
                return False

    @property
    def keys(self) -> tuple[str, ...]:
        """The ids of the secrets, by which seals name them, the one that seals first."""
        return tuple(self._secrets)

    def mark(self, use: str, contents: Json) -> dict[str, Json]:
        """Return the seal of contents, for one use."""
        return {"key": self._newest, "mac": self._mac(self._newest, use, _canonical(contents))}

    def judge(self, use: str, contents: Json, seal: Json) -> Verdict:
        """Return what the seal says of the contents; `seal` is by `mark`, or anything else."""
        match seal:
            case None:
                return "unsealed"
            case {"key": str(key), "mac": str(mac), **rest} if not rest:
                if key not in self._secrets:
                    return "unsealed"
                is_ours = mac.isascii() and hmac.compare_digest(
                    self._mac(key, use, _canonical(contents)), mac
                )
                return "sealed" if is_ours else "tampered"
            case _:
                return "tampered"

    def arguments_mac(self, tool: str, payload_json: bytes, session_id: str, tool_call_id: str) -> str:
        """Return the keyed digest of a call's arguments: the same for the same arguments of the same call."""
        digest = hashlib.sha256(payload_json).hexdigest()
        return self._mac(self._newest, "arguments", json.dumps([tool, session_id, tool_call_id, digest]))

    def _mac(self, key: str, use: str, text: str) -> str:
        return _base64(hmac.digest(self._secrets[key], f"{use}:{text}".encode(), "sha256"))


def _answer_text(ticket: TokenClaims, answer: Json, by: str) -> str:
    return json.dumps([ticket.run_id, ticket.op, ticket.digest, answer, by], sort_keys=True)


def _canonical(contents: Json) -> str:
    return json.dumps(contents, sort_keys=True)


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")

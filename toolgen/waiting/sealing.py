"""Tokens and seals, and the secret under which they are made: the one of the host, or of its engine.

Both are HMAC-SHA-256. A token names a call and says until when it is good; nothing keeps it, and whoever has
the secret can issue it again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sys
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final, Literal

from toolgen.calls.errors import RegistrationError
from toolgen.contract.json_value import Json
from toolgen.runs import Engine
from toolgen.stores import StoreError

from .errors import MissingSecretError, UnknownSuspensionError

Verdict = Literal["sealed", "tampered", "unsealed"]
"""`sealed`: a host with the secret wrote it. `tampered`: somebody else has changed it. `unsealed`: it has no
seal, or that of another secret, so that nobody here knows."""

_FORM: Final = 1
_PREFIX: Final = "s_"
"""First characters of every token, so that no shell takes one for an option."""
_SHORTEST_SECRET: Final = 16
"""Bytes."""


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
    """Digest of the frozen call."""


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

    def issue(self, claims: TokenClaims) -> str:
        """Return the token; the same for the same claims."""
        text = _base64(json.dumps([_FORM, self._newest, *astuple(claims)]).encode())
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

    def seal(self, claims: TokenClaims, answer: Json, by: str) -> dict[str, Json]:
        """Return an answer with its person and its seal."""
        mac = self._mac(self._newest, "answer", _answer_text(claims, answer, by))
        return {"answer": answer, "by": by, "key": self._newest, "seal": mac}

    def is_sealed(self, claims: TokenClaims, sealed: Json) -> bool:
        """Return whether an answer has a seal by one of the secrets, for this very call."""
        match sealed:
            case {"answer": answer, "by": str(by), "key": str(key), "seal": str(seal)} if (
                key in self._secrets
            ):
                mac = self._mac(key, "answer", _answer_text(claims, answer, by))
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


def question_claims(run_id: str, about: Mapping[str, Any], session_id: str = "") -> TokenClaims:
    """Return the claims to which the seal and the token of a planner's question are bound."""
    seen = json.dumps([about["kind"], about["question"], dict(about["answer_schema"])], sort_keys=True)
    digest = hashlib.sha256(seen.encode()).hexdigest()
    return TokenClaims(run_id, f"wait:{about['id']}", session_id, 0.0, digest)


async def kept_sealer(engine: Engine, *, is_checking: bool) -> Sealer | None:
    """Return the sealer with the secret of an engine; None where it keeps none.

    A missing one is made, unless calls wait that were sealed with it.

    Raises:
        MissingSecretError: as said.
        StoreError: it cannot be read or made.

    One that only checks what waits gets a secret of its own then.
    """
    try:
        is_missing = engine.secret(create=False) is None
    except StoreError:
        if is_checking:  # which says what is wrong with it
            return Sealer(secrets.token_bytes(32))
        raise
    if is_missing:
        waits = await engine.open_waits(limit=sys.maxsize)
        sealed = [wait.run_id for wait in waits if _has_seal(wait.about)]
        if sealed and engine.secret(create=False) is None:  # another process may have made it
            if is_checking:
                return Sealer(secrets.token_bytes(32))
            raise MissingSecretError(sealed[0])
    secret = engine.secret()
    return None if secret is None else sealer_with(secret)


def sealer_of(engine: Engine) -> Sealer:
    """Return the sealer with the secret of an engine.

    Raises:
        RegistrationError: it keeps none.
    """
    secret = engine.secret()
    if secret is None:
        raise RegistrationError(
            f"the engine {engine.name!r} keeps no secret, and tokens are sealed with one",
            hint="give the same to all processes: Runtime(secret=…)",
        )
    return sealer_with(secret)


def sealer_with(secret: bytes | Sequence[bytes]) -> Sealer:
    """Return the sealer with a secret, or with several.

    Raises:
        RegistrationError: one is too short, or there is none.
    """
    try:
        return Sealer(*([secret] if isinstance(secret, bytes) else secret))
    except ValueError as error:
        raise RegistrationError(str(error), hint="Runtime(secret=…) takes secrets.token_bytes(32)") from None


def _has_seal(about: Json) -> bool:
    """Return whether a wait is about a suspended call that some host has sealed."""
    match about:
        case {"frozen": {"seal": _}}:
            return True
        case _:
            return False


def _answer_text(claims: TokenClaims, answer: Json, by: str) -> str:
    return json.dumps([claims.run_id, claims.op, claims.digest, answer, by], sort_keys=True)


def _canonical(contents: Json) -> str:
    return json.dumps(contents, sort_keys=True)


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")

"""A suspended call: its frozen data, its token, and its sealed record in the journal of its run.

Tokens and seals are HMAC-SHA-256 under a secret of the host. A token contains its expiry time and is not
stored. The seal of a record covers the run, the waiting operation and the whole document, and each earlier
answer in it has its own seal. Write access to the journal is not enough to forge a seal.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import Any, Final, Literal

from toolgen.calls.call import FrozenCall
from toolgen.calls.results import SuspensionKind
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record, record

from .errors import TamperedSuspensionError, UnknownSuspensionError, UnsealedSuspensionError

Verdict = Literal["sealed", "tampered", "unsealed"]
"""`sealed`: a host with the secret wrote the record. `tampered`: it was changed by someone without the
secret. `unsealed`: it has no seal, or a seal with another secret, so its author is unknown."""

_FORM: Final = 1
TOKEN_PREFIX: Final = "s_"
"""First characters of every token, so that no shell treats it as an option."""
_SHORTEST_SECRET: Final = 16
"""Minimum length of a secret in bytes."""
FIRST: Final = "wait:1"
"""Key of the first wait of a single-call run."""
_SEAL: Final = "seal"
"""Field of the seal, in the document of a call and in each of its earlier answers."""
_CALL: Final = "call"
_ANSWERED: Final = "answered"
_ADOPTED: Final = "adopted"
"""Uses of seals: for a complete record, for an earlier answer in it, and for a record that an operator
adopted."""
_MOST_WAITS: Final = 100
"""Maximum number of earlier waits of a call for which a record's seal is accepted."""


@record
class Question:
    """Question of a call before it continues, with the attributes of `FrozenCall`."""

    kind: SuspensionKind
    answer_schema: Mapping[str, Any]
    question: str = ""
    preview: str = ""
    is_shortened: bool = False
    handle: str = ""
    request: Mapping[str, Json] | None = None
    is_asked_by_tool: bool = False
    resume_state: Json = None


def next_wait(op: str) -> str:
    """Return the key of the next wait of a call that stays suspended or asks again."""
    before, _, number = op.rpartition(":")
    return f"{before}:{int(number) + 1}"


def new_id() -> str:
    """Return a new id for a suspended call."""
    return secrets.token_hex(8)


@frozen_record(kw_only=False)
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
            ValueError: there is no secret, or one has fewer than 16 bytes.
        """
        if not secrets or min(map(len, secrets)) < _SHORTEST_SECRET:
            raise ValueError(f"a secret must have at least {_SHORTEST_SECRET} bytes from a random source")
        self._secrets = {hashlib.sha256(b"key id" + secret).hexdigest()[:8]: secret for secret in secrets}
        self._newest = next(iter(self._secrets))

    def issue(self, claims: TokenClaims) -> str:
        """Return the token; the same for the same claims."""
        text = _base64(json.dumps([_FORM, self._newest, *astuple(claims)]).encode())
        return f"{TOKEN_PREFIX}{text}.{self._mac(self._newest, 'token', text)}"

    def open(self, token: str) -> TokenClaims:
        """Return the contents of a token.

        Raises:
            UnknownSuspensionError: no host with one of the secrets issued it.
        """
        text, _, mac = token.removeprefix(TOKEN_PREFIX).partition(".")
        macs = [self._mac(key, "token", text) for key in self._secrets if token.startswith(TOKEN_PREFIX)]
        # otherwise, nothing is decoded
        if token.isascii() and any(hmac.compare_digest(ours, mac) for ours in macs):
            form, _, *facts = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            if form == _FORM:
                return TokenClaims(*facts)
        hint = (
            "copy the complete token, starting with s_; a token issued with another secret is not valid here"
        )
        raise UnknownSuspensionError("no suspended call has this token", hint=hint)

    def seal(self, claims: TokenClaims, answer: Json, by: str) -> dict[str, Json]:
        """Return an answer with the person who gave it, and its seal."""
        mac = self._mac(self._newest, "answer", _answer_text(claims, answer, by))
        return {"answer": answer, "by": by, "key": self._newest, "seal": mac}

    def is_sealed(self, claims: TokenClaims, sealed: Json) -> bool:
        """Return whether an answer has a seal by one of the secrets for exactly this call."""
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
        """Ids of the secrets, the sealing one first; each seal contains the id of its secret."""
        return tuple(self._secrets)

    def mark(self, use: str, contents: Json) -> dict[str, Json]:
        """Return the seal of contents, for one use."""
        return {"key": self._newest, "mac": self._mac(self._newest, use, _canonical(contents))}

    def judge(self, use: str, contents: Json, seal: Json) -> Verdict:
        """Return the verdict about a seal of the contents; `seal` can be any value."""
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


@frozen_record
class SealedCall:
    """A suspended call at its wait, sealed by a host."""

    run_id: str
    op: str
    """Key of the wait within the run."""
    call: FrozenCall
    document: dict[str, Json]
    """The call with its seal, as stored in the journal."""
    digest: str
    """Digest of the document, by `digest_of`."""

    @property
    def claims(self) -> TokenClaims:
        """Contents of its token; its answer is bound to them."""
        call = self.call
        return TokenClaims(self.run_id, self.op, call.meta.session_id, call.expires_at, self.digest)


def seal_call(sealer: Sealer, run_id: str, op: str, call: FrozenCall) -> SealedCall:
    """Return the sealed record of a call to suspend."""
    document = call.as_json()
    if call.answers:
        document["answers"] = [_sealed_answer(sealer, run_id, op, answer) for answer in call.answers]
    digest = digest_of(document)
    document[_SEAL] = sealer.mark(_CALL, [run_id, op, digest])
    return SealedCall(run_id=run_id, op=op, call=call, document=document, digest=digest)


def verify_call(sealer: Sealer, run_id: str, op: str, document: Json, adoption: Json = None) -> SealedCall:
    """Return the call of a record that a host with one of the secrets has sealed for this wait of the call.

    If the host could not verify a record, its answer was not used and the record waits under the next key, so
    a seal for an earlier wait of the same call counts too. Only sealed earlier answers are returned, even if
    the record was adopted: an attacker who removes a seal and adds an approval gains nothing if an operator
    adopts the call.

    Args:
        sealer: Has the secrets.
        run_id: The run that waits.
        op: Key of its wait.
        document: The record in its journal.
        adoption: Adoption by an operator of a record without a seal for this wait, by `adoption_of`.

    Raises:
        TamperedSuspensionError: the record was changed, or is not a record.
        UnsealedSuspensionError: it has no seal by one of the secrets, and no operator has adopted it.
    """
    if not isinstance(document, dict):
        raise TamperedSuspensionError(run_id)
    try:
        digest = digest_of(document)
    except RecursionError as error:
        raise TamperedSuspensionError(run_id) from error
    verdict = _verdict(sealer, run_id, op, digest, document.get(_SEAL))
    if verdict == "unsealed" and _is_adopted(sealer, [run_id, op, digest], adoption):
        verdict = "sealed"
    if verdict == "tampered":
        raise TamperedSuspensionError(run_id)
    call = read_call(run_id, document)
    if verdict == "unsealed":
        raise UnsealedSuspensionError(run_id)
    answers = [
        {name: part for name, part in answer.items() if name != _SEAL}
        for answer in call.answers
        if isinstance(answer, dict) and _is_sealed(sealer, run_id, op, answer)
    ]
    call = replace(call, answers=tuple(answers))
    return SealedCall(run_id=run_id, op=op, call=call, document=document, digest=digest)


def read_call(run_id: str, document: Json) -> FrozenCall:
    """Return the call of an unverified record; make no decision from it.

    Raises:
        TamperedSuspensionError: the document is not a record of a call.
    """
    if not isinstance(document, dict):
        raise TamperedSuspensionError(run_id)
    try:
        return FrozenCall.from_json({name: part for name, part in document.items() if name != _SEAL})
    except ValueError as error:
        raise TamperedSuspensionError(run_id) from error


def adoption_of(sealer: Sealer, run_id: str, op: str, document: dict[str, Json], by: str) -> Json:
    """Return the journal entry with which an operator adopts an unsealed record unchanged."""
    return {"by": by, _SEAL: sealer.mark(_ADOPTED, [[run_id, op, digest_of(document)], by])}


def digest_of(document: dict[str, Json]) -> str:
    """Return the SHA-256 of a record without its seal, in hex."""
    unsealed = {name: part for name, part in document.items() if name != _SEAL}
    return hashlib.sha256(json.dumps(unsealed, sort_keys=True).encode()).hexdigest()


def _verdict(sealer: Sealer, run_id: str, op: str, digest: str, seal: Json) -> Verdict:
    """Return the verdict about the seal of a record at a wait, or at an earlier wait of the call."""
    verdict = sealer.judge(_CALL, [run_id, op, digest], seal)
    before, _, number = op.rpartition(":")
    newest = int(number) - 1 if number.isdecimal() else 0
    for earlier in range(newest, max(0, newest - _MOST_WAITS), -1):
        if verdict != "tampered":
            break
        verdict = sealer.judge(_CALL, [run_id, f"{before}:{earlier}", digest], seal)
    return verdict


def _is_adopted(sealer: Sealer, contents: Json, adoption: Json) -> bool:
    match adoption:
        case {"by": str(by), "seal": seal}:
            return sealer.judge(_ADOPTED, [contents, by], seal) == "sealed"
        case _:
            return False


def _sealed_answer(sealer: Sealer, run_id: str, op: str, answer: Any) -> Json:
    return {**answer, _SEAL: sealer.mark(_ANSWERED, _answer_contents(run_id, op, answer))}


def _is_sealed(sealer: Sealer, run_id: str, op: str, answer: dict[str, Json]) -> bool:
    unsealed = {name: part for name, part in answer.items() if name != _SEAL}
    return sealer.judge(_ANSWERED, _answer_contents(run_id, op, unsealed), answer.get(_SEAL)) == "sealed"


def _answer_contents(run_id: str, op: str, answer: dict[str, Json]) -> Json:
    call, _, _ = op.rpartition(":")  # the keys of all waits of one call start with this
    return [run_id, call, answer]


def _answer_text(claims: TokenClaims, answer: Json, by: str) -> str:
    return json.dumps([claims.run_id, claims.op, claims.digest, answer, by], sort_keys=True)


def _canonical(contents: Json) -> str:
    return json.dumps(contents, sort_keys=True)


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")

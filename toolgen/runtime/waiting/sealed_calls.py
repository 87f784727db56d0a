"""The sealed record of a suspended call: its document, which a host has sealed for one wait of one run.

The seal covers the run, the operation that waits and the whole document; the document has the earlier answers
to the call, each with a seal of its own. An operator adopts a record without a seal: its seal then stands
beside it, in the journal of the same run.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, Final

from toolgen.contract.json_value import Json

from .errors import TamperedSuspensionError, UnsealedSuspensionError
from .frozen import FrozenCall
from .tokens import Sealer, TokenClaims, Verdict

FIRST: Final = "wait:1"
"""Key of the first wait of a run that is one call."""
_SEAL: Final = "seal"
"""Field of the seal, in the document of a call and in each of its earlier answers."""
_CALL: Final = "call"
_ANSWERED: Final = "answered"
_ADOPTED: Final = "adopted"
"""Uses of seals: of a whole record, of an earlier answer in it, and of a record that an operator adopted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCall:
    """A suspended call where it waits, as a host has sealed it."""

    run_id: str
    op: str
    """Key of the wait within the run."""
    call: FrozenCall
    document: dict[str, Json]
    """The call with its seal, as the journal keeps it."""

    @property
    def claims(self) -> TokenClaims:
        """The contents of its token, and what an answer to it is bound to."""
        call = self.call
        digest = digest_of(self.document)
        return TokenClaims(self.run_id, self.op, call.meta.session_id, call.expires_at, digest)


def seal_call(sealer: Sealer, run_id: str, op: str, call: FrozenCall) -> SealedCall:
    """Return the sealed record of a call that is about to wait."""
    document = call.as_json()
    if call.answers:
        document["answers"] = [_sealed_answer(sealer, run_id, op, answer) for answer in call.answers]
    document[_SEAL] = sealer.mark(_CALL, _contents(run_id, op, document))
    return SealedCall(run_id=run_id, op=op, call=call, document=document)


def verify_call(sealer: Sealer, run_id: str, op: str, document: Json, adoption: Json = None) -> SealedCall:
    """Return the call of a record that a host with one of the secrets has sealed for this very wait.

    It has those of the earlier answers that are sealed themselves, also where the record was adopted: who
    removes a seal, and adds an approval, gets none although an operator adopts the call.

    Args:
        sealer: Has the secrets.
        run_id: The run that waits.
        op: Key of its wait.
        document: What its journal keeps.
        adoption: By which an operator adopted a record that has no seal, by `adoption_of`.

    Raises:
        TamperedSuspensionError: the record was changed, or is none.
        UnsealedSuspensionError: it has no seal by one of the secrets, and nobody has adopted it.
    """
    if not isinstance(document, dict):
        raise TamperedSuspensionError(run_id)
    try:
        contents = _contents(run_id, op, document)
    except RecursionError as error:
        raise TamperedSuspensionError(run_id) from error
    verdict: Verdict = sealer.judge(_CALL, contents, document.get(_SEAL))
    if verdict == "unsealed" and _is_adopted(sealer, contents, adoption):
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
    return SealedCall(run_id=run_id, op=op, call=replace(call, answers=tuple(answers)), document=document)


def read_call(run_id: str, document: Json) -> FrozenCall:
    """Return the call of a record, whoever wrote it: nothing may be decided by it.

    Raises:
        TamperedSuspensionError: it is none.
    """
    if not isinstance(document, dict):
        raise TamperedSuspensionError(run_id)
    try:
        return FrozenCall.from_json({name: part for name, part in document.items() if name != _SEAL})
    except ValueError as error:
        raise TamperedSuspensionError(run_id) from error


def adoption_of(sealer: Sealer, run_id: str, op: str, document: dict[str, Json], by: str) -> Json:
    """Return what an operator adds to a journal to adopt a record as it stands."""
    return {"by": by, _SEAL: sealer.mark(_ADOPTED, [_contents(run_id, op, document), by])}


def adoption_op(op: str, key: str) -> str:
    """Return the operation under whose answer a run keeps the adoption of the record of a wait.

    `key` is the id of the secret that sealed the adoption: whoever loses it adopts again with the next one.
    """
    return f"adopted:{op}:{key}"


def digest_of(document: dict[str, Json]) -> str:
    """Return the SHA-256 of a record without its seal, in hex."""
    unsealed = {name: part for name, part in document.items() if name != _SEAL}
    return hashlib.sha256(json.dumps(unsealed, sort_keys=True).encode()).hexdigest()


def next_wait(op: str) -> str:
    """Return the key of the wait of a call that is asked again."""
    before, _, number = op.rpartition(":")
    return f"{before}:{int(number) + 1}"


def _contents(run_id: str, op: str, document: dict[str, Json]) -> Json:
    return [run_id, op, digest_of(document)]


def _is_adopted(sealer: Sealer, contents: Json, adoption: Json) -> bool:
    match adoption:
        case {"by": str(by), "seal": seal}:
            return sealer.judge(_ADOPTED, [contents, by], seal) == "sealed"
        case _:
            return False


def _sealed_answer(sealer: Sealer, run_id: str, op: str, answer: Any) -> Json:
    return {**answer, _SEAL: sealer.mark(_ANSWERED, _answer_contents(run_id, op, answer))}


def _is_sealed(sealer: Sealer, run_id: str, op: str, answer: dict[str, Json]) -> bool:
    given = {name: part for name, part in answer.items() if name != _SEAL}
    return sealer.judge(_ANSWERED, _answer_contents(run_id, op, given), answer.get(_SEAL)) == "sealed"


def _answer_contents(run_id: str, op: str, answer: dict[str, Json]) -> Json:
    call, _, _ = op.rpartition(":")  # all waits of one call have keys with this beginning
    return [run_id, call, answer]

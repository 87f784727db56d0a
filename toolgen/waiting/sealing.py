"""Sealer of a runtime, with the secret of the host or of the engine."""

from __future__ import annotations

import hashlib
import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from toolgen.calls.errors import RegistrationError
from toolgen.contract.json_value import Json
from toolgen.engines import Engine
from toolgen.stores import StoreDiskError, StoreError

from .errors import MissingSecretError
from .frozen import Sealer, TokenClaims


def question_claims(run_id: str, about: Mapping[str, Any], session_id: str = "") -> TokenClaims:
    """Return the claims to which the seal and the token of a planner's question are bound."""
    seen = json.dumps([about["kind"], about["question"], dict(about["answer_schema"])], sort_keys=True)
    digest = hashlib.sha256(seen.encode()).hexdigest()
    return TokenClaims(run_id, f"wait:{about['id']}", session_id, 0.0, digest)


async def stored_sealer(engine: Engine, *, is_checking: bool) -> Sealer | None:
    """Return the sealer with the secret of an engine; None if the engine has no secret.

    A missing secret is created, unless suspended calls were sealed with it. If the caller only checks
    suspended calls, it then gets a sealer with a temporary secret.

    Raises:
        MissingSecretError: the secret is missing, and suspended calls were sealed with it.
        StoreError: the secret cannot be read or created.
    """
    try:
        is_missing = engine.secret(create=False) is None
    except StoreError as error:
        # a StoreDiskError names the problem and is raised
        if is_checking and not isinstance(error, StoreDiskError):
            return Sealer(secrets.token_bytes(32))
        raise
    if is_missing:
        waits = await engine.open_waits(limit=sys.maxsize)
        sealed = [wait.run_id for wait in waits if _has_seal(wait.about)]
        if sealed and engine.secret(create=False) is None:  # another process might have created it
            if is_checking:
                return Sealer(secrets.token_bytes(32))
            raise MissingSecretError(sealed[0])
    secret = engine.secret()
    return None if secret is None else sealer_with(secret)


def sealer_of(engine: Engine) -> Sealer:
    """Return the sealer with the secret of an engine.

    Raises:
        RegistrationError: the engine stores no secret.
    """
    secret = engine.secret()
    if secret is None:
        raise RegistrationError(
            f"the engine {engine.name!r} has no secret to seal tokens with",
            hint="pass the same secret in all processes: Runtime(secret=…)",
        )
    return sealer_with(secret)


def sealer_with(secret: bytes | Sequence[bytes]) -> Sealer:
    """Return the sealer with a secret, or with several.

    Raises:
        RegistrationError: a secret is too short, or none was passed.
    """
    try:
        return Sealer(*([secret] if isinstance(secret, bytes) else secret))
    except ValueError as error:
        raise RegistrationError(str(error), hint="Runtime(secret=…) takes secrets.token_bytes(32)") from None


def _has_seal(about: Json) -> bool:
    """Return whether a wait is about a suspended call that a host has sealed."""
    match about:
        case {"frozen": {"seal": _}}:
            return True
        case _:
            return False


def adoption_op(op: str, key: str) -> str:
    """Return the operation whose answer is the adoption of the record of a wait.

    `key` is the id of the secret that sealed the adoption: after losing it, an operator adopts the record
    again with the next secret.
    """
    return f"adopted:{op}:{key}"

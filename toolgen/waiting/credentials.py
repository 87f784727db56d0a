"""Credentials that people provide for suspended calls: stored by the host, and never in an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias

from toolgen.calls.call import FrozenCall
from toolgen.contract.credentials import Credential, is_of_service
from toolgen.contract.errors import ToolgenError
from toolgen.contract.names import CREDENTIALS_CAPABILITY

from .errors import BadAnswerError

Keep: TypeAlias = Callable[[Credential, str | None], Awaitable[None]]
"""Stores a credential for the session, the user or the service."""


def keeper_for(capabilities: Mapping[str, object], call: FrozenCall) -> Keep:
    """Return the function that stores a credential for a suspended call.

    Raises:
        BadAnswerError: the call does not wait for a service credential.
        ToolgenError: the host stores no credentials.
    """
    keep = getattr(capabilities.get(CREDENTIALS_CAPABILITY), "keep", None)
    if not is_of_service(call.request) or call.request is None:
        raise BadAnswerError(
            "this call does not wait for a service credential", hint="pass the answer to `answer`"
        )
    if keep is None:
        raise ToolgenError(
            "this runtime has no credential store",
            hint="Runtime(capabilities=[CredentialsCapability(SqliteCredentialStore(…))])",
        )
    return partial(keep, call.meta, call.request)

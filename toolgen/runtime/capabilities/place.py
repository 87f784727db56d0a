"""Where stored things belong: to an application, a user, a session or a turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from ..calls import CallMeta

Scope: TypeAlias = Literal["app", "user", "session", "temp"]
UserOf: TypeAlias = Callable[[CallMeta], str]


class Place(NamedTuple):
    """One drawer of a store; nothing in it is seen from another."""

    app: str
    scope: Scope
    owner: str
    """The user, the session, or session and turn; "" in the scope app."""


def user_label(meta: CallMeta) -> str:
    """Return the label `user` of the call; "" without one."""
    return meta.labels.get("user", "")


def place_of(app: str, scope: Scope, meta: CallMeta, user: UserOf) -> Place:
    """Return the drawer of a call.

    Raises:
        LookupError: the call does not say whose it is.
    """
    match scope:
        case "app":
            return Place(app, scope, "")
        case "user":
            return Place(app, scope, _known(user(meta), "user; give the capability user=, or the label 'user'"))
        case "session":
            return Place(app, scope, _known(meta.session_id, "session_id in its CallMeta"))
        case "temp":
            turn = _known(meta.turn_id, "turn_id in its CallMeta")
            return Place(app, scope, f"{meta.session_id}\n{turn}")


def _known(owner: str, missing: str) -> str:
    if not owner:
        raise LookupError(f"this call has no {missing}")
    return owner

"""The state of one call as its executor uses it; `capabilities/state.py` provides it and keeps changes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias, get_args

from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .call import CallMeta
    from .capability import CallScope
    from .steps.bridge import Wait

Scope: TypeAlias = Literal["app", "user", "session", "temp"]
"""`temp` lives for one turn and is never stored; where the call names no turn, for that call."""
Operation: TypeAlias = Literal["set", "delete", "append", "add"]


_SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)


@frozen_record
class Change:
    """One change of the state by a call; `applied` has what it does to the values."""

    key: str
    """The key without its scope."""
    operation: Operation
    value: Json = None


def applied(values: Mapping[str, Json], changes: Sequence[Change]) -> dict[str, Json]:
    """Return the values after the changes, which are made in their order: what each operation means.

    `set` stores a value and `delete` removes the key; `append` adds an item to a list and `add` a number to a
    number, where a key that is missing counts as `[]` and 0.

    Raises:
        ValueError: a change does not fit the value that it finds.
    """
    result = dict(values)
    for change in changes:
        value = result.get(change.key)
        match change.operation:
            case "set":
                result[change.key] = change.value
            case "delete":
                result.pop(change.key, None)
            case "append":
                if not isinstance(value, list | None):
                    raise ValueError(f"{change.key!r} is no list, so nothing can be appended to it")
                result[change.key] = [*(value or []), change.value]
            case "add":
                if isinstance(value, bool) or not isinstance(value, int | float | None):
                    raise ValueError(f"{change.key!r} is no number, so nothing can be added to it")
                assert isinstance(change.value, int | float)
                result[change.key] = (value or 0) + change.value
    return result


class _ByMethods:
    """Says how the state is used, where its keys are written as those of a mapping."""

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError(f"the state is no mapping; read the value by ctx.state.get({key!r})")

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise TypeError(f"the state is no mapping; write the value by ctx.state.set({key!r}, …)")

    def __delitem__(self, key: object) -> NoReturn:
        raise TypeError(f"the state is no mapping; delete the value by ctx.state.delete({key!r})")


class StateChanges(_ByMethods):
    """The changes of the state by one call, kept when it succeeds. A key without a scope is the session's."""

    call: CallScope
    changes: dict[tuple[Scope, str], list[Change]]
    """The changes by scope and owner, in the order in which they were made."""
    _owner: Callable[[Scope, CallMeta], str]
    _refuse: Callable[[str, Operation], None]

    def set(self, key: str, value: Json) -> None:
        """Replace the value."""
        self._change(key, "set", value)

    def delete(self, key: str) -> None:
        self._change(key, "delete", None)

    def append(self, key: str, item: Json) -> None:
        """Append an item to a list; parallel calls append theirs in their order."""
        self._change(key, "append", item)

    def add(self, key: str, number: float) -> None:
        """Add to a number; the additions of parallel calls are summed."""
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError(f"{number!r} is no number")
        self._change(key, "add", number)

    def _change(self, key: str, operation: Operation, value: Json) -> None:
        scope, owner, name = self._place(key)
        self._refuse(f"{scope}:{name}", operation)
        try:
            copy: Json = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ValueError(f"the value of {key!r} is not JSON, which the state requires") from error
        change = Change(key=name, operation=operation, value=copy)
        self.changes.setdefault((scope, owner), []).append(change)

    def _place(self, key: str) -> tuple[Scope, str, str]:
        prefix, colon, name = key.partition(":")
        scope: Scope = "session" if not colon else prefix  # type: ignore[assignment]  # checked below
        if scope not in _SCOPES:
            raise ValueError(f"{key!r} has no scope of the state; scopes are {', '.join(_SCOPES)}")
        return scope, self._owner(scope, self.call.meta), name if colon else key


class State(StateChanges):
    """The state that one call can use: `ctx.state`."""

    def __init__(
        self,
        call: CallScope,
        *,
        owner: Callable[[Scope, CallMeta], str],
        load: Callable[[Scope, str], Awaitable[Mapping[str, Json]]],
        refuse: Callable[[str, Operation], None],
    ) -> None:
        """Construct the state of a call.

        Args:
            call: The call that uses it.
            owner: Returns the owner of a scope for a call.
            load: Returns what is stored for an owner.
            refuse: Raises if a key, with its scope, must not be changed by an operation.
        """
        self.call = call
        self.changes = {}
        self._owner = owner
        self._load = load
        self._refuse = refuse

    async def get(self, key: str, default: Json = None) -> Json:
        """Return the value, with the changes of this call."""
        scope, owner, name = self._place(key)
        stored = await self._load(scope, owner)
        return applied(stored, self.changes.get((scope, owner), ())).get(name, default)


class SyncState(StateChanges):
    """The state for a synchronous executor; `get` waits in its thread."""

    def __init__(self, state: State, wait: Wait) -> None:
        vars(self).update(vars(state))  # the changes are of one call
        self._state = state
        self._wait = wait

    def get(self, key: str, default: Json = None) -> Json:
        """Return the value, with the changes of this call.

        Raises:
            CallEndedError: the call is over, or ends meanwhile.
        """
        return self._wait(self._state.get, key, default)

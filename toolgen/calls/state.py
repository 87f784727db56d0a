"""State of one call for its executor; `capabilities/state.py` provides it and stores the changes."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NoReturn, TypeAlias, get_args

from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .call import CallMeta
    from .capability import CallScope
    from .steps.bridge import Wait

Scope: TypeAlias = Literal["app", "user", "session", "temp"]
"""Scope of a key. `temp` lasts for one turn, or for one call without a turn, and is never stored."""
Operation: TypeAlias = Literal["set", "delete", "append", "add"]


_SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
_ABSENT: Final = object()
"""Marks a key without a value."""
_MOST_WATCHED: Final = 100
"""Maximum number of lists and objects that are checked for changes in place at the end of a call."""


@frozen_record
class Change:
    """One change of the state by a call; `applied` applies it to the values."""

    key: str
    """The key without its scope."""
    operation: Operation
    value: Json = None


def applied(values: Mapping[str, Json], changes: Sequence[Change]) -> dict[str, Json]:
    """Return the values after some changes, which are applied in their order.

    `set` stores a value, `delete` removes a key, `append` adds an item to a list and `add` adds to a number.
    A missing key counts as `[]` or 0.

    Raises:
        ValueError: A change does not fit the value.
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
                    raise ValueError(f"cannot append to {change.key!r}: its value is not a list")
                result[change.key] = [*(value or []), change.value]
            case "add":
                if isinstance(value, bool) or not isinstance(value, int | float | None):
                    raise ValueError(f"cannot add to {change.key!r}: its value is not a number")
                assert isinstance(change.value, int | float)
                result[change.key] = (value or 0) + change.value
    return result


@frozen_record
class _Watched:
    """A list or an object that the executor holds, while the state has a copy of it."""

    key: str
    value: Json
    text: str
    """Its JSON when it was read or set."""

    def is_changed(self) -> bool:
        try:
            return json.dumps(self.value) != self.text
        except (TypeError, ValueError, RecursionError):  # it is no longer JSON
            return True


class StateChanges:
    """Changes of the state by one call, stored if it succeeds. A key without a scope belongs to the
    session."""

    call: CallScope
    changes: dict[tuple[Scope, str], list[Change]]
    """The changes by scope and owner, in order."""
    _owner: Callable[[Scope, CallMeta], str]
    _refuse: Callable[[str, Operation], None]
    _watched: list[_Watched]
    """Lists and objects that the executor has read or set; the state has them as they were at that time."""
    _marks: dict[tuple[Scope, str], int]
    """Number of changes that hooks made before the executor was called."""
    _dropped: list[bool]
    """One item for each discarded attempt of the executor."""
    _over: threading.Event
    """Set when the call is over."""
    __iter__: ClassVar[None] = None
    """`StateCapability.read` returns all keys; a call reads only keys that it knows."""

    def set(self, key: str, value: Json) -> None:
        """Replace the value; `state[key] = value` does the same."""
        text = self._change(key, "set", value)
        self._watch(key, value, text)

    def delete(self, key: str) -> None:
        """Delete the value, if there is one."""
        self._change(key, "delete", None)

    def append(self, key: str, item: Json) -> None:
        """Append an item to a list; items of parallel calls are appended in the order of the calls."""
        self._change(key, "append", item)

    def add(self, key: str, number: float) -> None:
        """Add to a number; the additions of parallel calls are summed."""
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError(f"{number!r} is not a number")
        self._change(key, "add", number)

    def __setitem__(self, key: str, value: Json) -> None:
        self.set(key, value)

    def mark(self) -> None:
        """Mark the changes so far, so that they survive a failed attempt of the executor."""
        self._marks.update((place, len(changes)) for place, changes in self.changes.items())

    def restart(self) -> None:
        """Drop the changes since the mark, because the executor failed and is called again."""
        for place in tuple(self.changes):
            del self.changes[place][self._marks.get(place, 0) :]
            if not self.changes[place]:
                del self.changes[place]
        self._watched.clear()
        self._dropped.append(True)

    def end(self) -> tuple[str, ...]:
        """Reject further changes, and return the keys whose values were changed in place but not set."""
        self._over.set()
        return tuple(dict.fromkeys(one.key for one in self._watched if one.is_changed()))

    def _change(self, key: str, operation: Operation, value: Json) -> str:
        """Add a change, and return the JSON of its value.

        Raises:
            CallEndedError: the call is over.
            ValueError: the value is not JSON, or the key or the operation is refused.
        """
        if self._over.is_set():
            from .steps.bridge import CallEndedError  # few calls need it

            raise CallEndedError(
                f"the change of {key!r} is lost: the call is over and its state has been stored"
            )
        scope, owner, name = self._place(key)
        self._refuse(f"{scope}:{name}", operation)
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the value of {key!r} cannot be stored: it is not JSON") from error
        change = Change(key=name, operation=operation, value=json.loads(text))
        self.changes.setdefault((scope, owner), []).append(change)
        if operation in ("set", "delete"):
            self._watched[:] = [one for one in self._watched if self._place(one.key) != (scope, owner, name)]
        return text

    def _watch(self, key: str, value: Json, text: str) -> None:
        if isinstance(value, list | dict) and len(self._watched) < _MOST_WATCHED:
            self._watched.append(_Watched(key=key, value=value, text=text))

    def _place(self, key: str) -> tuple[Scope, str, str]:
        prefix, colon, name = key.partition(":")
        scope: Scope = "session" if not colon else prefix  # type: ignore[assignment]  # checked below
        if scope not in _SCOPES:
            raise ValueError(f"{key!r} has an unknown scope; the scopes are {', '.join(_SCOPES)}")
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
            load: Returns the stored values of an owner.
            refuse: Raises if an operation must not change a key, which includes its scope.
        """
        self.call = call
        self.changes = {}
        self._owner = owner
        self._load = load
        self._refuse = refuse
        self._watched, self._marks, self._dropped = [], {}, []
        self._over = threading.Event()

    async def get(self, key: str, default: Json = None) -> Json:
        """Return a copy of the value, with the changes of this call."""
        value = await self._read(key)
        return default if value is _ABSENT else value

    async def _read(self, key: str) -> Any:
        """Return a copy of the value; `_ABSENT` if there is none."""
        scope, owner, name = self._place(key)
        stored = await self._load(scope, owner)
        value = applied(stored, self.changes.get((scope, owner), ())).get(name, _ABSENT)
        if isinstance(value, list | dict):
            text = json.dumps(value)
            self._watch(key, value := json.loads(text), text)
        return value

    def __getitem__(self, key: str) -> NoReturn:
        """Raise, because reading requires `await`, which a subscript cannot do.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"an asynchronous function reads the state with `await ctx.state.get({key!r})`")

    __contains__ = __getitem__

    def __delitem__(self, key: str) -> None:
        self.delete(key)


class SyncState(StateChanges):
    """The state for a synchronous executor, which reads and writes it like a dictionary, in its thread.

    Raises:
        CallEndedError: the call is over, or ends in the meantime.
    """

    def __init__(self, state: State, wait: Wait) -> None:
        vars(self).update(vars(state))  # both hold the changes of the same call
        self._state = state
        self._wait = wait
        self._attempt = len(state._dropped)

    def _change(self, key: str, operation: Operation, value: Json) -> str:
        """Add a change, unless it comes from a failed attempt whose thread is still running."""
        if self._attempt != len(self._dropped):
            from .steps.bridge import CallEndedError

            raise CallEndedError(f"the change of {key!r} is lost: this attempt of the call has failed")
        return super()._change(key, operation, value)

    def get(self, key: str, default: Json = None) -> Json:
        """Return a copy of the value, with the changes of this call."""
        return self._wait(self._state.get, key, default)

    def __getitem__(self, key: str) -> Any:
        if (value := self._wait(self._state._read, key)) is _ABSENT:
            raise KeyError(key)
        return value

    def __contains__(self, key: str) -> bool:
        return self._wait(self._state._read, key) is not _ABSENT

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self.delete(key)

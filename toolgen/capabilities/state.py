"""State that outlives a call: of the application, of a user, of a session, of a turn.

A call reads what is stored and what it has written itself. What it writes is kept when it succeeded, after
all calls that were made with it, in the order of the calls.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Literal, NoReturn, Protocol, TypeAlias, cast, runtime_checkable

from toolgen.calls.call import CallMeta
from toolgen.calls.capability import CallScope
from toolgen.calls.provided import State, SyncState
from toolgen.calls.steps.bridge import InThread, Wait
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.events.records import StateChanged, StateConflict

Scope: TypeAlias = Literal["app", "user", "session", "temp"]
"""`temp` lives for one turn and is never stored; where the call names no turn, for that call."""
Operation: TypeAlias = Literal["set", "delete", "append", "add"]

_SCOPES: Final[tuple[Scope, ...]] = ("app", "user", "session", "temp")
_MOST_TURNS: Final = 1_000
"""Turns whose temporary values are remembered."""
_NO_TURN: Final = "call"
"""Owner of temporary values of a call that names no turn: nobody else reads them."""


@frozen_record
class Change:
    """One change of the state by a call; `applied` has what it does to the values."""

    key: str
    """The key without its scope."""
    operation: Operation
    value: Json = None


class StateStore(Protocol):
    """Keeps values by scope, owner and key. Each method is one atomic step, over all processes."""

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        """Return all values of an owner; none where nothing is stored.

        Raises:
            ValueError: the owner is not Unicode, by a lone surrogate: a call fails when it reads the state,
                and not after it ran, when its changes cannot be kept. So does `load_each`.
        """
        ...

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        """Apply the changes in their order to the stored values.

        Raises:
            ValueError: one of them does not fit what is stored, such as a number added to a text.
        """
        ...


@runtime_checkable
class ErasingStateStore(Protocol):
    """A store whose values can be dropped."""

    async def forget(self, scope: Scope, owner: str) -> int:
        """Drop all values of an owner; return 1 where there were any stored, 0 otherwise."""
        ...


@runtime_checkable
class BulkStateStore(Protocol):
    """A store that reads several owners in one step; other stores are read once for each owner."""

    async def load_each(self, places: Sequence[tuple[Scope, str]]) -> Sequence[dict[str, Json]]:
        """Return all values of each of the owners, in their order."""
        ...


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


class _StateInThread(_ByMethods, InThread):
    """The state of a synchronous executor."""


class CallState(_ByMethods, State):
    """The state of a capability that one call can use."""

    def __init__(self, capability: StateCapability, call: CallScope) -> None:
        self._capability = capability
        self.call = call
        self.changes: dict[tuple[Scope, str], list[Change]] = {}
        """The changes by scope and owner, in the order in which they were made."""

    async def get(self, key: str, default: Json = None) -> Json:
        scope, owner, name = self._place(key)
        stored = await self._capability.load(scope, owner)
        return applied(stored, self.changes.get((scope, owner), ())).get(name, default)

    def set(self, key: str, value: Json) -> None:
        self._change(key, "set", value)

    def delete(self, key: str) -> None:
        self._change(key, "delete", None)

    def append(self, key: str, item: Json) -> None:
        self._change(key, "append", item)

    def add(self, key: str, number: float) -> None:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError(f"{number!r} is no number")
        self._change(key, "add", number)

    def _change(self, key: str, operation: Operation, value: Json) -> None:
        scope, owner, name = self._place(key)
        self._capability.refuse(f"{scope}:{name}", operation)
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
        return scope, self._capability.owner(scope, self.call.meta), name if colon else key


class StateCapability:
    """Provides `ctx.state`."""

    name = "state"

    def __init__(
        self,
        store: StateStore,
        *,
        app: str = "app",
        user: Callable[[CallMeta], str] = lambda meta: meta.labels.get("user", ""),
        rules: Mapping[str, Operation] | None = None,
    ) -> None:
        """Construct the capability on a store; `user` returns the user of a call.

        `rules` names for a key, with its scope, the only operation that may change it: a counter that is
        only added to is never lost to a call made at the same time.
        """
        self._store = store
        self._app = app
        self._user = user
        self._rules = dict(rules or {})
        self._turns: OrderedDict[str, dict[str, Json]] = OrderedDict()
        """The state of turns by owner."""

    def open(self, call: CallScope) -> CallState:
        return CallState(self, call)

    def for_thread(self, opened: CallState, wait: Wait) -> SyncState:
        return cast(SyncState, _StateInThread(opened, wait))

    async def close(self, opened: Sequence[tuple[CallState, bool]]) -> None:
        """Store the changes of calls that succeeded; the changes of other calls are dropped."""
        succeeded_calls = [state for state, succeeded in opened if succeeded]
        merged: dict[tuple[Scope, str], list[Change]] = {}
        for state in succeeded_calls:
            for place, changes in state.changes.items():
                merged.setdefault(place, []).extend(changes)
        for (scope, owner), changes in merged.items():
            if scope != "temp":
                retry, what = succeeded_calls[0].call.store_retry, f"state of the {scope}"
                await retry.run(partial(self._store.apply, scope, owner, changes), what, is_idempotent=False)
            elif owner != _NO_TURN:
                self._turns[owner] = applied(self._turns.get(owner, {}), changes)
                self._turns.move_to_end(owner)
                while len(self._turns) > _MOST_TURNS:
                    self._turns.popitem(last=False)
            for state in succeeded_calls:
                _report_changes(state, (scope, owner))
        if succeeded_calls:
            _report_conflicts(succeeded_calls)

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        return self._turns.get(owner, {}) if scope == "temp" else await self._store.load(scope, owner)

    async def read(self, meta: CallMeta) -> dict[str, Json]:
        """Return all values that a call with this meta could read, under the keys of `State.get`.

        Those of the session are without `session:`, unless they have a colon of their own. A scope whose
        owner the meta does not say is left out.
        """
        scopes: tuple[Scope, ...] = ("app", "user", "session")
        places: list[tuple[Scope, str]] = [
            (scope, owner) for scope in scopes if (owner := self._owner(scope, meta))
        ]
        if isinstance(self._store, BulkStateStore):
            states = list(await self._store.load_each(places))
        else:
            states = [await self._store.load(scope, owner) for scope, owner in places]
        places.append(("temp", turn := self._owner("temp", meta)))
        states.append(self._turns.get(turn, {}))
        return {
            key if scope == "session" and ":" not in key else f"{scope}:{key}": value
            for (scope, _), values in zip(places, states, strict=True)
            for key, value in values.items()
        }

    @property
    def store(self) -> StateStore:
        return self._store

    async def forget(self, session_id: str) -> int:
        """Drop the state of a session; return how many documents were dropped.

        Raises:
            ToolgenError: the store cannot drop any.
        """
        if not isinstance(self._store, ErasingStateStore):
            raise ToolgenError(
                f"{type(self._store).__name__} cannot drop the state of a session",
                hint="give the store the method forget(scope, owner)",
            )
        return await self._store.forget("session", session_id)

    def owner(self, scope: Scope, meta: CallMeta) -> str:
        """Return the owner of a scope for a call.

        Raises:
            RuntimeError: the host's `CallMeta` does not say.
        """
        owner = self._owner(scope, meta)
        if not owner:
            raise RuntimeError(f"the CallMeta of this call does not say whose {scope} state it is")
        return owner

    def _owner(self, scope: Scope, meta: CallMeta) -> str:
        """Return the owner; empty where the meta does not name one."""
        match scope:
            case "app":
                return self._app
            case "user":
                return self._user(meta)
            case "session":
                return meta.session_id
            case "temp":
                return json.dumps([meta.session_id, meta.turn_id]) if meta.turn_id else _NO_TURN

    def refuse(self, key: str, operation: Operation) -> None:
        """Raise when the rules require another operation for the key.

        Raises:
            ValueError: they do.
        """
        rule = self._rules.get(key)
        if rule is not None and rule != operation:
            raise ValueError(f"{key!r} is only changed by {rule!r}, as the rules of the state say")


def _report_changes(state: CallState, place: tuple[Scope, str]) -> None:
    """Report each key of an owner that a call has changed, once for each operation, in order."""
    if state.call.report is None or place == ("temp", _NO_TURN):
        return
    changes = state.changes.get(place, ())
    keys: Iterable[tuple[str, Operation]] = ((change.key, change.operation) for change in changes)
    for key, operation in dict.fromkeys(keys):
        changed = StateChanged(tool=state.call.tool, scope=place[0], key=key, operation=operation)
        state.call.report(event=changed)


def _report_conflicts(states: Sequence[CallState]) -> None:
    """Report the keys that more than one call has set, to the first."""
    if (report := states[0].call.report) is None:
        return
    writers: dict[tuple[Scope, str, str], list[str]] = {}
    for state in states:
        for (scope, owner), changes in state.changes.items():
            if (scope, owner) == ("temp", _NO_TURN):
                continue
            for key in dict.fromkeys(
                change.key for change in changes if change.operation in ("set", "delete")
            ):
                writers.setdefault((scope, owner, key), []).append(state.call.meta.tool_call_id)
    for (scope, _, key), calls in writers.items():
        if len(calls) > 1:
            ids = tuple(calls)
            report(event=StateConflict(scope=scope, key=key, tool_call_ids=ids, applied_tool_call_id=ids[-1]))

"""State that outlives a call: of the application, of a user, of a session, of a turn.

A call reads stored values and its own writes. Its writes are stored if it succeeds, after all calls of the
same step have ended, in the order of the calls.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol, runtime_checkable

from toolgen.calls.call import CallMeta
from toolgen.calls.capability import CallScope
from toolgen.calls.state import Change, Operation, Scope, State, SyncState, applied
from toolgen.calls.steps.bridge import Wait
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.events.records import StateChanged, StateConflict

_log: Final = logger("toolgen.runtime")
_MOST_TURNS: Final = 1_000
"""Maximum number of turns whose temporary values are stored."""
_NO_TURN: Final = "call"
"""Owner of temporary values of a call without a turn, which no other call reads."""


class StateStore(Protocol):
    """Protocol of a store of values by scope, owner and key. Each method is atomic across processes.

    Example:

    ```python
    from toolgen.capabilities import applied


    class DictStateStore:
        def __init__(self) -> None:
            self._values = {}

        async def load(self, scope, owner):
            return dict(self._values.get((scope, owner), {}))

        async def apply(self, scope, owner, changes) -> None:
            self._values[scope, owner] = applied(self._values.get((scope, owner), {}), changes)

        async def load_each(self, places):  # optional: `BulkStateStore`
            return [await self.load(scope, owner) for scope, owner in places]

        async def forget(self, scope, owner) -> int:  # optional: `ErasingStateStore`
            return 1 if self._values.pop((scope, owner), None) else 0
    ```
    """

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        """Return all values of an owner; an empty dictionary if there are none.

        Raises:
            ValueError: The owner cannot be stored, for example because of a lone surrogate.
        """
        ...

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        """Apply changes in their order to the stored values, as `applied` does.

        Raises:
            ValueError: A change does not fit the stored value, for example a number that is added to a text.
        """
        ...


@runtime_checkable
class ErasingStateStore(Protocol):
    """Protocol of a store that can delete the values of an owner. Without it, a session's state cannot be
    erased."""

    async def forget(self, scope: Scope, owner: str) -> int:
        """Delete all values of an owner, and return 1 if there were any, else 0."""
        ...


@runtime_checkable
class BulkStateStore(Protocol):
    """Protocol of a store that reads several owners in one step. Other stores are read once per owner."""

    async def load_each(self, places: Sequence[tuple[Scope, str]]) -> Sequence[dict[str, Json]]:
        """Return the values of each owner, in the order of the arguments."""
        ...


class StateCapability:
    """Provides `ctx.state`: values of a session, a user, the application or a turn.

    Args:
        store: Store of the values.
        app: Owner of the values of the application.
        user: Function that returns the user of a call; by default the label `user`.
        rules: The only operation (`set`, `delete`, `append`, `add`) that may change a key, by key with its
            scope. A counter that only `add` changes loses no concurrent calls.
    """

    name = "state"

    def __init__(
        self,
        store: StateStore,
        *,
        app: str = "app",
        user: Callable[[CallMeta], str] = lambda meta: meta.labels.get("user", ""),
        rules: Mapping[str, Operation] | None = None,
    ) -> None:
        """Construct the capability. The class documents the arguments."""
        self._store = store
        self._app = app
        self._user = user
        self._rules = dict(rules or {})
        self._turns: OrderedDict[str, dict[str, Json]] = OrderedDict()
        """The state of turns by owner."""

    def open(self, call: CallScope) -> State:
        """Internal: return the state of a call."""
        return State(call, owner=self.owner, load=self.load, refuse=self.refuse)

    def for_thread(self, opened: State, wait: Wait) -> SyncState:
        """Internal: return the state of a call for its thread."""
        return SyncState(opened, wait)

    async def close(self, opened: Sequence[tuple[State, bool]]) -> None:
        """Internal: store the changes of calls that succeeded, and drop those of other calls."""
        unsaved = {state: state.end() for state, _ in opened}
        succeeded_calls = [state for state, succeeded in opened if succeeded]
        merged: dict[tuple[Scope, str], list[Change]] = {}
        for state in succeeded_calls:
            for place, changes in state.changes.items():
                merged.setdefault(place, []).extend(changes)
        for (scope, owner), changes in merged.items():
            if scope != "temp":
                retry_step, what = succeeded_calls[0].call.retry_step, f"state of the {scope}"
                await retry_step(partial(self._store.apply, scope, owner, changes), what, is_idempotent=False)
            elif owner != _NO_TURN:
                self._turns[owner] = applied(self._turns.get(owner, {}), changes)
                self._turns.move_to_end(owner)
                while len(self._turns) > _MOST_TURNS:
                    self._turns.popitem(last=False)
            for state in succeeded_calls:
                _report_changes(state, (scope, owner))
        for state in succeeded_calls:
            for key in unsaved[state]:
                _log.warning(
                    "%s changed the value of %r in place; the change is not stored: set the key to "
                    "the new value",
                    state.call.tool,
                    key,
                )
        if succeeded_calls:
            _report_conflicts(succeeded_calls)

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        """Internal: return the values of an owner."""
        return self._turns.get(owner, {}) if scope == "temp" else await self._store.load(scope, owner)

    async def read(self, meta: CallMeta) -> dict[str, Json]:
        """Return all values that a call with this `CallMeta` can read, by the keys of `State.get`."""
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
        """Store of the values."""
        return self._store

    async def forget(self, session_id: str) -> int:
        """Delete the state of a session, and return the number of deleted documents.

        Raises:
            ToolgenError: The store is no `ErasingStateStore`.
        """
        if not isinstance(self._store, ErasingStateStore):
            raise ToolgenError(
                f"{type(self._store).__name__} cannot delete the state of a session",
                hint="add the method forget(scope, owner) to the store",
            )
        return await self._store.forget("session", session_id)

    def owner(self, scope: Scope, meta: CallMeta) -> str:
        """Return the owner of a scope for a call.

        Raises:
            RuntimeError: The `CallMeta` does not determine it.
        """
        owner = self._owner(scope, meta)
        if not owner:
            raise RuntimeError(f"the CallMeta of this call does not name the owner of the {scope} state")
        return owner

    def _owner(self, scope: Scope, meta: CallMeta) -> str:
        """Return the owner; "" if the meta does not name one."""
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
        """Internal: check the rules.

        Raises:
            ValueError: The rules require another operation for the key.
        """
        rule = self._rules.get(key)
        if rule is not None and rule != operation:
            raise ValueError(f"{key!r} can only be changed by {rule!r}, according to the rules of the state")


def _report_changes(state: State, place: tuple[Scope, str]) -> None:
    """Report each key of an owner that a call has changed, once per operation, in order."""
    if state.call.report is None or place == ("temp", _NO_TURN):
        return
    changes = state.changes.get(place, ())
    keys: Iterable[tuple[str, Operation]] = ((change.key, change.operation) for change in changes)
    for key, operation in dict.fromkeys(keys):
        changed = StateChanged(tool=state.call.tool, scope=place[0], key=key, operation=operation)
        state.call.report(event=changed)


def _report_conflicts(states: Sequence[State]) -> None:
    """Report the keys that more than one call has set, to the first call."""
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

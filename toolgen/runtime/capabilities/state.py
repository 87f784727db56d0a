"""State: JSON values by key that outlive a call, in four scopes.

A call reads a snapshot and collects its changes; they are kept together with those of the other calls of
its batch, in call order, when all have ended. Changes of calls that failed, were denied or are suspended
are dropped.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, cast, get_args

from toolgen.contract.fields import Json
from toolgen.contract.record import record

from .capability import CallScope
from .errors import StateError
from .json_values import copied, stored_text
from .merge import Rule
from .place import Place, Scope, UserOf, place_of, user_label
from .state_memory import MemoryStateStore

_SCOPES: Final = get_args(Scope)
_LONGEST_KEY: Final = 255
_NO_RULES: Final[Mapping[str, Rule]] = MappingProxyType({})
_MOST_TURNS: Final = 1000
"""Turns whose `temp` values are remembered; the oldest go first."""


@record
class Change:
    """One write to one key."""

    place: Place
    key: str
    """Without its scope."""
    kind: Literal["set", "merge", "delete"]
    value: Json = None
    rule: Rule | None = None
    """Of a merge."""


class StateStore(Protocol):
    """Keeps state; `MemoryStateStore` and `SqliteStateStore` are two, a host may bring its own."""

    async def load(self, place: Place) -> dict[str, Json]:
        """Return all values of a place by key, a copy."""

    async def apply(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Apply all changes in order, in one transaction; a merge sees what is stored at that moment.

        Return the merges that their rule refused with a TypeError; they change nothing.
        """


class State:
    """`ctx.state`: the values that one call sees, its own writes included.

    A key is `scope:name` with the scope app, user, session or temp; temp lives as long as the turn.
    Calls of one batch do not see each other's writes. Writes may come from a thread; reads are awaited.
    """

    def __init__(self, capability: StateCapability, call: CallScope) -> None:
        self._capability = capability
        self._call = call
        self._loaded: dict[Place, dict[str, Json]] = {}
        self._changes: list[Change] = []
        self._is_closed = False

    async def get(self, key: str, default: Any = None) -> Any:
        """Return the value, a copy.

        Raises:
            StateError: the key has no scope, or the call does not say whose it is.
        """
        place, name = self._split(key)
        return (await self._view(place)).get(name, default)

    async def all(self, scope: Scope) -> dict[str, Any]:
        """Return the values of a scope by name, without the scope, a copy.

        Raises:
            StateError: there is no such scope, or the call does not say whose it is.
        """
        return await self._view(self._place(scope, scope))

    def set(self, key: str, value: Json) -> None:
        """Write a value; of two calls of a batch, the later in call order wins.

        Raises:
            StateError: the value is no JSON, or too large; or as `get`.
        """
        self._note(key, "set", value)

    def merge(self, key: str, value: Json) -> None:
        """Contribute to a value by the rule that the host declared for the key; no contribution is lost.

        Raises:
            StateError: the key has no rule, or its rule does not take the value; or as `set`.
        """
        rule = self._capability.rules.get(key)
        if rule is None:
            known = ", ".join(self._capability.rules) or "none"
            raise StateError(
                f"state key {key!r} has no rule to merge by; keys with rules are {known}; "
                f"give StateCapability(rules={{{key!r}: append}}), or use set"
            )
        try:
            rule(None, value)
        except TypeError as error:
            raise StateError(f"state key {key!r} does not take the value: {error}") from None
        self._note(key, "merge", value, rule)

    def delete(self, key: str) -> None:
        """Remove a value, if there is one.

        Raises:
            StateError: as `get`.
        """
        self._note(key, "delete", None)

    def taken(self) -> tuple[Change, ...]:
        """Return the changes of the call, in order; it can make no more."""
        self._is_closed = True
        return tuple(self._changes)

    @property
    def tool(self) -> str:
        """Id of the tool that wrote."""
        return self._call.tool

    def _note(
        self, key: str, kind: Literal["set", "merge", "delete"], value: Json, rule: Rule | None = None
    ) -> None:
        place, name = self._split(key)
        if self._is_closed:
            raise StateError(f"state key {key!r} is written after the call has ended")
        try:
            size = len(stored_text(value).encode())
        except TypeError as error:
            raise StateError(f"the value for state key {key!r} cannot be stored: {error}") from None
        if size > self._capability.max_value_bytes:
            raise StateError(
                f"the value for state key {key!r} has {size} bytes, the most are "
                f"{self._capability.max_value_bytes}; save it as an artifact"
            )
        change = Change(place=place, key=name, kind=kind, value=copied(value), rule=rule)
        self._changes.append(change)

    def _split(self, key: str) -> tuple[Place, str]:
        scope, colon, name = key.partition(":")
        if not colon or not name:
            raise StateError(f"state key {key!r} has no scope; write one such as {'session:' + scope!r}")
        if len(key) > _LONGEST_KEY:
            raise StateError(f"a state key of {len(key)} characters is too long, the most are {_LONGEST_KEY}")
        return self._place(scope, key), name

    def _place(self, scope: str, key: str) -> Place:
        if scope not in _SCOPES:
            raise StateError(f"state key {key!r} has the scope {scope!r}; scopes are {', '.join(_SCOPES)}")
        try:
            return self._capability.place(cast("Scope", scope), self._call)
        except LookupError as error:
            raise StateError(f"state key {key!r} belongs to nobody: {error}") from None

    async def _view(self, place: Place) -> dict[str, Any]:
        if place not in self._loaded:
            self._loaded[place] = await self._capability.store_of(place).load(place)
        view: dict[str, Any] = copied(self._loaded[place])
        apply(view, [change for change in self._changes if change.place == place])
        return view


class StateCapability:
    """Gives executors `ctx.state`.

    `rules` by key, such as `{"session:cart": append}`, say how `State.merge` combines.
    """

    name = "state"

    def __init__(
        self,
        store: StateStore,
        *,
        app: str,
        user: UserOf = user_label,
        rules: Mapping[str, Rule] = _NO_RULES,
        max_value_bytes: int = 65_536,
    ) -> None:
        """Make it; `user` says whose call it is, and "" that nobody knows.

        Raises:
            ValueError: a key of the rules has no scope.
        """
        for key in rules:
            if key.partition(":")[0] not in _SCOPES or not key.partition(":")[2]:
                raise ValueError(f"the rule for {key!r} names no scope; write a key such as 'session:cart'")
        self.rules = MappingProxyType(dict(rules))
        self.max_value_bytes = max_value_bytes
        self._app = app
        self._user = user
        self._store = store
        self._temp = MemoryStateStore()
        self._turns: OrderedDict[Place, None] = OrderedDict()

    def open(self, call: CallScope) -> State:
        return State(self, call)

    async def close(self, opened: Sequence[tuple[State, bool]]) -> tuple[str, ...]:
        """Keep the changes of the calls that succeeded; return the conflicts between them, in words."""
        made = [(state.tool, state.taken(), succeeded) for state, succeeded in opened]
        kept = [(tool, changes) for tool, changes, succeeded in made if succeeded]
        temp = [change for _, changes in kept for change in changes if change.place.scope == "temp"]
        lasting = [change for _, changes in kept for change in changes if change.place.scope != "temp"]
        refused: list[Change] = []
        if lasting:
            refused += await self._store.apply(lasting)
        if temp:
            refused += await self._temp.apply(temp)
            await self._forget_old_turns(temp)
        return (*_conflicts(kept), *map(_refusal, refused))

    def place(self, scope: Scope, call: CallScope) -> Place:
        """Return where the values of a scope are kept for a call.

        Raises:
            LookupError: the call does not say whose it is.
        """
        return place_of(self._app, scope, call.meta, self._user)

    def store_of(self, place: Place) -> StateStore:
        return self._temp if place.scope == "temp" else self._store

    async def _forget_old_turns(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._turns[change.place] = None
            self._turns.move_to_end(change.place)
        while len(self._turns) > _MOST_TURNS:
            self._temp.forget(self._turns.popitem(last=False)[0])


def apply(values: dict[str, Json], changes: Sequence[Change]) -> tuple[Change, ...]:
    """Make the changes to the values of one place, in order; return the merges that their rule refused."""
    refused: list[Change] = []
    for change in changes:
        if change.kind == "delete":
            values.pop(change.key, None)
        elif change.rule is None:
            values[change.key] = copied(change.value)
        else:
            try:
                values[change.key] = change.rule(values.get(change.key), copied(change.value))
            except TypeError:
                refused.append(change)
    return tuple(refused)


def _conflicts(kept: Sequence[tuple[str, Sequence[Change]]]) -> list[str]:
    """Return a sentence a key that several calls wrote, unless all of them merged or ended the same."""
    last: dict[tuple[Place, str], list[tuple[str, Change]]] = {}
    replaced: set[tuple[Place, str]] = set()
    for tool, changes in kept:
        ends = {(change.place, change.key): change for change in changes}
        replaced.update((one.place, one.key) for one in changes if one.kind != "merge")
        for where, change in ends.items():
            last.setdefault(where, []).append((tool, change))
    return [
        f"state key '{where[0].scope}:{where[1]}' was written by {len(writers)} calls at once, of "
        f"{', '.join(tool for tool, _ in writers)}; the last of them stands"
        for where, writers in last.items()
        if where in replaced and any(_end(change) != _end(writers[0][1]) for _, change in writers)
    ]


def _end(change: Change) -> tuple[str, str]:
    return change.kind, stored_text(change.value)


def _refusal(change: Change) -> str:
    return (
        f"state key '{change.place.scope}:{change.key}' did not take a contribution: its rule does not fit "
        "what is stored"
    )

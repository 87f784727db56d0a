"""State in the memory of the process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from toolgen.contract.json_value import Json

from .state import Change, Scope, applied


class MemoryStateStore:
    """Keeps values in a dict."""

    shared_instead: ClassVar = "PostgresStateStore(database)"

    def __init__(self) -> None:
        self._values: dict[tuple[Scope, str], dict[str, Json]] = {}

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        return dict(self._values.get((scope, owner), {}))

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        self._values[scope, owner] = applied(self._values.get((scope, owner), {}), changes)

    async def forget(self, scope: Scope, owner: str) -> int:
        return 0 if self._values.pop((scope, owner), None) is None else 1

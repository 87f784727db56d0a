"""The events of one call within a run: collected for its loop, which publishes each once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from toolgen.contract.json_value import Json

from ..calls import NO_META, CallMeta
from ..engine import ActivityInfo
from .document import as_json, ids_of
from .records import Event

_PROGRESS: Final = frozenset({"tool_update", "tool_output_delta"})
"""Events that are worth nothing later; they go to the log at once, best effort."""
_OF_THE_LOOP: Final = frozenset({"tool_start"})
"""Events that the loop of an agent tells itself."""


class CallEvents:
    """Collects the events of one call of an activity."""

    is_idle = False

    def __init__(self, info: ActivityInfo, clock: Callable[[], float], *, tells_start: bool = False) -> None:
        """Construct without events; `tells_start` where no loop publishes that the call was made."""
        self._info = info
        self._dropped = frozenset() if tells_start else _OF_THE_LOOP
        self._clock = clock
        self.kept: list[dict[str, Json]] = []

    def emit(self, event: Event, meta: CallMeta = NO_META) -> None:
        """Collect an event of the call, or pass it on at once when it is best effort."""
        document = as_json(event)
        document |= {"time": self._clock(), **ids_of(meta)}
        if event.type in _PROGRESS:
            self._info.emit(document)
        elif event.type not in self._dropped:
            self.kept.append(document)

    async def begun(self) -> None:
        """Store that the executor begins now, with the events of the call so far, and return then.

        Who has approved a call is in the log before it runs, also where its process ends in the middle.
        """
        events = tuple(self.kept)
        await self._info.begun(events)
        del self.kept[: len(events)]

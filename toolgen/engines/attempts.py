"""What every engine gives to an attempt at an activity: where its reports go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger

from .payloads import encode

log = logger("toolgen.engines")


class Progress:
    """Receives the reports of an attempt while it runs."""

    __slots__ = ("_op", "_publish", "_run_id", "is_open")

    def __init__(self, run_id: str, op: str, publish: Callable[[Mapping[str, Any]], object]) -> None:
        """Construct an open one; `publish` gets copies of reports, in any thread."""
        self._run_id = run_id
        self._op = op
        self._publish = publish
        self.is_open = True

    def emit(self, event: Mapping[str, Json]) -> None:
        """Publish a report, in any thread; one that is no JSON, or comes late, is lost."""
        if not self.is_open:
            return
        try:
            _, copy = encode(dict(event), f"an event of the operation {self._op}")
            self._publish(copy)
        except Exception:
            log.exception("run %s: an event of %s was lost", self._run_id, self._op)

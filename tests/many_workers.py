"""An engine with many workers, as far as hosts see."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from toolgen.engines import InProcessEngine
from toolgen.runtime.engine import EngineCaps

SECRET: Final = b"0123456789abcdef"


class ManyWorkers(InProcessEngine):
    """An engine of one process whose features are those of an engine with many workers."""

    @property
    def caps(self) -> EngineCaps:
        return replace(super().caps, has_many_workers=True)

"""Where a run is executed."""

from .in_process import InProcessEngine

__all__ = ["InProcessEngine"]

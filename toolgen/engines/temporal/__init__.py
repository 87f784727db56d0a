"""Runs on Temporal, for many workers on many machines: `toolgen[temporal]`.

Each run is one workflow, whose history is both its journal and its log. Clients read the state of a run from
the history, so they need no running worker and no store other than the server.
"""

from .engine import TemporalEngine
from .settings import TemporalLimits

__all__ = ["TemporalEngine", "TemporalLimits"]

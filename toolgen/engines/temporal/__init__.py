"""Runs on Temporal, for many workers on many machines: `toolgen[temporal]`.

A run is one workflow, and its history is its journal and its log: what a client says of a run is read from
there, so that no worker need be up, and no store beside the server.
"""

from .engine import TemporalEngine
from .settings import TemporalLimits

__all__ = ["TemporalEngine", "TemporalLimits"]

"""Engines: they execute runs, and keep the journal of each."""

from .in_process import InProcessEngine

__all__ = ["InProcessEngine"]

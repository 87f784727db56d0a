"""The commands: the only place that reads settings and imports an author's code."""

from .entry import main

__all__ = ["main"]

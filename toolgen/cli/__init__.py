"""The commands: the only place that reads settings and imports designs and runtimes."""

from .entry import main

__all__ = ["main"]

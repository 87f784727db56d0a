"""The commands: the only place that reads settings and imports designs and runtimes."""

from .entry import command, main

__all__ = ["command", "main"]

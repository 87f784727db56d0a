"""The command line: the only place that reads settings and loads an author's code."""

from .entry import main

__all__ = ["main"]

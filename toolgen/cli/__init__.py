"""The command line: the only place that reads settings and loads an author's code."""

from toolgen.cli.entry import main

__all__ = ["main"]

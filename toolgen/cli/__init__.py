"""The commands; no other package reads settings or imports designs and runtimes."""

from .entry import main

__all__ = ["main"]

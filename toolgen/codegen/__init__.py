"""From a checked design to the text of every generated file."""

from .plan import generate, stub

__all__ = ["generate", "stub"]

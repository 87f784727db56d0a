"""Makes the text of every generated file from a checked design."""

from .plan import generate, stub

__all__ = ["generate", "stub"]

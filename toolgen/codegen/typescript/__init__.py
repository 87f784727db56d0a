"""TypeScript: types of what crosses the HTTP surface, and a typed client for it."""

from .plan import generate

__all__ = ["generate"]

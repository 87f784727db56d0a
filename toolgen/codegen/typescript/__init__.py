"""TypeScript: types of the values that are sent and received over HTTP, and a typed client."""

from .plan import generate

__all__ = ["generate"]

"""Checks a design that is made of words and resolves it."""

from .build import Evaluation, build

__all__ = ["Evaluation", "build"]

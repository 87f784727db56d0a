"""Checks the clauses of a design and resolves them into `toolgen.expr`."""

from .build import Evaluation, build

__all__ = ["Evaluation", "build"]

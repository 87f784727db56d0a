"""Checks the clauses of a design and resolves them into `toolgen.dsl.expr`."""

from .build import Evaluation, build

__all__ = ["Evaluation", "build"]

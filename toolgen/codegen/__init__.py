"""The generator: the text of every generated file, made from a checked design."""

from typing import TYPE_CHECKING

from toolgen.contract.lazy import lazy_exports

if TYPE_CHECKING:
    from toolgen.codegen.plan import catalog_text, generate, stub

__all__ = ["catalog_text", "generate", "stub"]

_LAZY = {"toolgen.codegen.plan": "catalog_text generate stub"}
"""Imported lazily, because commands that only read the manifest do not need the generator."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)

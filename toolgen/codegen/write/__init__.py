"""Writes a generated tree to disk, whole or not at all.

Everything is staged, formatted by one ruff call, and then moved file by file between two manifests. An
exception puts the old files back; what a kill leaves is repaired by the next run, whatever it generates.
Links and special files are neither followed nor opened.
"""

from .atomic_write import Edit
from .comparison import Comparison
from .output import WriteReport, compare, preview, write
from .staging import STAGING, sweep

__all__ = ["STAGING", "Comparison", "Edit", "WriteReport", "compare", "preview", "sweep", "write"]

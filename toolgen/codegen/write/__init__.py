"""Writes a generated tree to disk, completely or not at all.

All files are staged, formatted by one ruff call, and then moved one by one between two manifests. An
exception restores the old files. After a kill, the next run repairs the folder, whatever it generates.
Links are not followed, and special files are not opened.
"""

from .atomic_write import Edit
from .comparison import Comparison
from .output import WriteReport, compare, preview, write
from .staging import STAGING, sweep

__all__ = ["STAGING", "Comparison", "Edit", "WriteReport", "compare", "preview", "sweep", "write"]

"""How often Python looks for garbage while a command reads and writes a design."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_THRESHOLD: Final = 1_000_000
"""New objects between two looks for cycles, which bounds what waits for one; Python's own default is 700."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let Python look for cycles rarely: each look walks the objects of a design, which live to its end."""
    before = gc.get_threshold()
    gc.set_threshold(_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)

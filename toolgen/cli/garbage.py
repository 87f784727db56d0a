"""How often Python looks for garbage: while a command reads and writes a design, and in a server."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_THRESHOLD: Final = 1_000_000
"""New objects between two looks for cycles, which bounds what waits for one; Python's own default is 700."""
_OF_SERVERS: Final = (50_000, 40)
"""The same in a server, some 5 MB; and such looks for each one among what has outlived one."""
_OF_PYTHON: Final = gc.get_threshold()
"""Python's own threshold, read before the author's code is imported."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let Python look for cycles rarely: each look walks the objects of a design, which live to its end."""
    before = gc.get_threshold()
    gc.set_threshold(_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def server_collections() -> Iterator[None]:
    """Let Python look for cycles less often while a server serves, and not among what it was started with.

    With 1,000 runs at once half of the processor's time is spent on looks at their objects, which live. What
    the author's code has set by `gc.set_threshold` stays as it is.
    """
    if (before := gc.get_threshold()) != _OF_PYTHON:
        yield
        return
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_OF_SERVERS, before[2])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

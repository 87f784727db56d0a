"""Extras: names the extra that installs a missing package of an adapter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import ToolgenError


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Name the extra that installs the packages imported within the context.

    Raises:
        ToolgenError: a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "toolgen":
            raise
        message = f"the package {error.name!r} is not installed"
        raise ToolgenError(message, hint=f"pip install 'toolgen[{name}]'") from error

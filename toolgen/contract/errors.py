"""The base class of environment errors. The author's mistakes are findings, the model's are issues."""

from __future__ import annotations

from typing import Final

HINT: Final = "\n  hint: "
"""Text between a message and its hint, in the text of an error."""


class ToolgenError(Exception):
    """Base class of errors of the environment: a file, a setting or a registration. Commands exit with 2."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        """What happened."""
        self.hint = hint
        """What to do."""

    def __str__(self) -> str:
        return f"{self.message}{HINT}{self.hint}" if self.hint else self.message

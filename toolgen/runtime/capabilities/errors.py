"""Errors of state and artifacts.

    ValueError
    └── StateError                   an executor used its state wrongly: its bug, hidden from the model
    ToolError                        in words that the model may read
    └── ArtifactError                a name, a media type or a size that is not allowed
        └── ArtifactMissingError     there is no such artifact or version
"""

from __future__ import annotations

from ..errors import ToolError


class StateError(ValueError):
    """State cannot be read or written like this; the message names the key and never shows the value."""


class ArtifactError(ToolError):
    """An artifact cannot be saved or named like this."""


class ArtifactMissingError(ArtifactError):
    """There is no artifact of this name, or not in this version."""

"""The outcome that a person found out of a call that may have run, and whose result was lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from toolgen.contract.errors import ToolgenError

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json


class ResolveError(ToolgenError):
    """The resolution was rejected; the message says why, and nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The outcome of a call, as a person found it out."""

    outcome: Literal["result", "failed", "not_run"]
    result: Json = None
    """The result of a call that ended well, as the result schema of its tool says."""
    message: str = ""
    """Why a call has failed, for the model."""

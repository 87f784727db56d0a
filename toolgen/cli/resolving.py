"""The options of `toolgen runs resolve`: one of them gives the outcome of the call."""

from __future__ import annotations

import json

from toolgen.calls.resolution import Resolution
from toolgen.contract.errors import ToolgenError


def resolution_of(*, result: str, failed: str, not_run: bool) -> Resolution:
    """Return the resolution that the options give.

    Raises:
        ToolgenError: not just one of them is given, or the result is not JSON.
    """
    if (result != "") + (failed != "") + not_run != 1:
        raise ToolgenError(
            "the outcome of the call is missing",
            hint="add --result JSON, --failed TEXT or --not-run, one of them",
        )
    if not result:
        return Resolution(outcome="not_run" if not_run else "failed", message=failed)
    try:
        return Resolution(outcome="result", result=json.loads(result))
    except ValueError as error:
        raise ToolgenError(f"--result is not JSON: {error}", hint="quote it for the shell") from error

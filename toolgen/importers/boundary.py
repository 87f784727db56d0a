"""The boundary around one tool: an unexpected exception becomes a finding about that tool only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Finding

from .codes import INTERNAL_ERROR, finding_at

_HINT = "this is a bug in toolgen; please report it with this line and the tool"

T = TypeVar("T")


def each(results: Iterable[T], pointer: str, tool: str = "") -> Iterator[T | Finding]:
    """Yield the results of reading or writing one tool; an exception ends them with a finding.

    Raises:
        ToolgenError: The environment is at fault, so that no other tool would succeed.
    """
    faults: list[Finding] = []
    with findings_for_exceptions(faults, pointer, tool):
        yield from results
    yield from faults


@contextmanager
def findings_for_exceptions(findings: list[Finding], pointer: str, tool: str) -> Iterator[None]:
    """Turn an exception in a part of the work on one tool into a finding.

    Raises:
        ToolgenError: The environment is at fault, so that no other tool would succeed.
    """
    try:
        yield
    except ToolgenError:
        raise
    except Exception as error:  # noqa: BLE001 - a finding asks for a report, and the other tools are read
        message = f"raised {_shown(error)}"
        findings.append(finding_at(INTERNAL_ERROR, pointer, message, hint=_HINT, tool=tool))


def _shown(error: Exception) -> str:
    """Return the text of an exception, with the innermost place in toolgen of its traceback."""
    place, trace = "", error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        if module.startswith("toolgen."):
            place = f" in {module}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}({str(error)!r:.200}){place}"

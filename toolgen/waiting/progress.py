"""Progress of pending work, from whoever does the work."""

from __future__ import annotations

from toolgen.calls.progress import checked_fraction, progress_json, require_text

from .answers import hiding_call
from .call_results import CallReader
from .errors import LateAnswerError, MissingToolError, UnknownSuspensionError


async def report_progress(
    reader: CallReader, token: str, fraction: float | None, message: str, value: object
) -> None:
    """Report the progress of pending work; as `Waits.progress`."""
    fraction = checked_fraction(fraction)
    require_text(message)
    waits = reader.waits
    opened = await waits.open(waits.sealer.open(token), None)
    frozen = opened.frozen
    if frozen is None or frozen.kind != "pending":
        who = "a planner" if frozen is None else frozen.tool
        raise UnknownSuspensionError(
            f"this token is not of pending work: {who} waits for an answer", hint="give it to `answer`"
        )
    if not opened.status.is_open:
        raise LateAnswerError("the work is over", hint="its result is that of the call")
    tool = await reader.tools.find(frozen.tool, frozen.meta, opened.run_id)
    if tool is None:
        raise MissingToolError(
            f"{frozen.tool} is not available here, so its progress was not reported; the work goes on",
            hint="report progress in the process that has the tool and its listeners",
        )
    shown = None if value is None else progress_json(tool.spec, value)
    report = reader.services.reports.progress_callback(tool.spec, frozen.meta)
    if report is None:
        return
    with hiding_call(frozen, tool.spec):
        report(fraction=fraction, message=message, value=shown)

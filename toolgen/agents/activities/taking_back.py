"""What a run waited for when it was canceled: nobody can approve it any more, in whatever process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from toolgen.runtime.call.batch import Batch
from toolgen.runtime.call.entry import Entry
from toolgen.runtime.call.failures import log
from toolgen.runtime.events.reports import Reports
from toolgen.runtime.waiting.answering import Answering
from toolgen.runtime.waiting.answers import cancellation
from toolgen.runtime.waiting.errors import SuspensionError

from ..output import Awaiting

if TYPE_CHECKING:
    from ..host import AgentHost


def open_calls(host: AgentHost, awaiting: Iterable[Awaiting]) -> dict[str, Entry]:
    """Return the tools of the calls that wait, by token, as the run sees them; after its end it cannot."""
    found = {one.token: host.entry_of(one.tool, one.run_id) for one in awaiting if one.token}
    return {token: entry for token, entry in found.items() if entry is not None}


async def take_back(host: AgentHost, calls: dict[str, Entry], reason: str) -> None:
    """Answer calls whose run is over, so that nobody else does; the log of the run has their ends."""
    silent = replace(host.tools, reports=Reports())
    for token, entry in calls.items():
        known = {entry.spec.id: entry}.get
        try:
            await Answering(silent, None).deliver(
                token, cancellation(reason), None, Batch(silent.capabilities), known
            )
        except SuspensionError:
            pass  # somebody was faster
        except Exception:
            log.exception("a call of %s that was canceled may still be answered", entry.spec.id)

"""What a run waited for when it was canceled: nobody can approve it any more, in whatever process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolgen.runtime.call.batch import Batch
from toolgen.runtime.call.entry import Entry
from toolgen.runtime.call.failures import log
from toolgen.runtime.events.reports import Reports
from toolgen.runtime.waiting.answering import Answering
from toolgen.runtime.waiting.answers import cancellation
from toolgen.runtime.waiting.errors import SuspensionError

from ..output import Awaiting
from .recorded import answer_of

if TYPE_CHECKING:
    from ..host import AgentHost


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call that waits."""

    run_id: str
    token: str
    entry: Entry
    """Its tool, as the run sees it; after the end of the run it cannot be found."""


def open_calls(host: AgentHost, awaiting: Iterable[Awaiting]) -> tuple[OpenCall, ...]:
    """Return the calls that wait, in their order."""
    found = ((one, host.entry_of(one.tool, one.run_id)) for one in awaiting if one.token)
    return tuple(
        OpenCall(run_id=one.run_id, token=one.token, entry=entry) for one, entry in found if entry is not None
    )


async def take_back(host: AgentHost, calls: Iterable[OpenCall], reason: str) -> None:
    """Answer calls whose run is over, so that nobody else does; the log of the run has their ends.

    The conversation hears that they were taken back.
    """
    silent = replace(host.tools, reports=Reports())
    for call in calls:
        spec = call.entry.spec
        known = {spec.id: call.entry}.get
        try:
            result = await Answering(silent, None).deliver(
                call.token, cancellation(reason), None, Batch(silent.capabilities), known
            )
            await host.conversations.answer(call.run_id, answer_of(result, spec.name))
        except SuspensionError:
            pass  # somebody was faster
        except Exception:
            log.exception("a call of %s that was canceled may still be answered", spec.id)

"""Checks suspended calls against a new contract: their frozen arguments and pending approvals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolgen.contract.record import frozen_record

from .changes import ContractChange, change
from .comparison import approved
from .contracts import Contract


@frozen_record
class SuspendedCallRecord:
    """A suspended call."""

    id: str
    tool: str
    kind: str
    """Kind of suspension, for example `confirmation` if a person has to approve the call."""
    arguments: Any


def suspended_call_changes(
    calls: Iterable[SuspendedCallRecord], before: Contract, after: Contract
) -> Iterator[ContractChange]:
    """Yield calls that cannot be resumed with the new contract, and calls that need a new approval."""
    for call in calls:
        if "payload" not in after.tools.get(call.tool, {}):  # removed, or now run by the provider
            if call.tool in before.tools:
                yield change(
                    "suspended-call",
                    call.tool,
                    f"the tool of the suspended call {call.id} was removed",
                    argument=call.id,
                )
            continue
        document = after.document(after.tools[call.tool]["payload"])
        if not document.fault and not document.accepts((document.root,), call.arguments):
            message = f"the arguments of the suspended call {call.id} are no longer accepted"
            yield change("suspended-call", call.tool, message, argument=call.id)
        elif call.kind != "pending" and call.tool in before.tools:
            if approved(before.tools[call.tool]) == approved(after.tools[call.tool]):
                continue
            message = f"the question of the suspended call {call.id} will be asked again"
            yield change("suspended-call", call.tool, message, breaks="w", argument=call.id)

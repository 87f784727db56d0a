"""Checks suspended calls against a new contract: their frozen arguments and pending approvals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolgen.contract.record import frozen_record

from .changes import ContractChange, change
from .comparison import approved
from .contracts import Contract


@frozen_record
class ParkedCall:
    """A call that waits for an answer."""

    id: str
    tool: str
    kind: str
    """`confirmation` for one that a person has to approve."""
    arguments: Any


def parked_changes(
    calls: Iterable[ParkedCall], before: Contract, after: Contract
) -> Iterator[ContractChange]:
    """Yield the calls that cannot be resumed with the new contract, and those that are asked again."""
    for call in calls:
        if "payload" not in after.tools.get(call.tool, {}):  # gone, or the provider runs it
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

"""The host's policy: allows, denies or asks about each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from toolgen.contract.record import record

from .hooks import Deny

if TYPE_CHECKING:
    from ..call import ToolCall
    from ..specs import ToolSpec


@record
class Allow:
    """The call may run; a `Confirm` of its design still applies."""


@record
class Ask:
    """A person must approve the call."""

    question: str = ""
    """What the person is asked; "" for the question of the design."""


Decision: TypeAlias = Allow | Ask | Deny


class Policy(Protocol):
    """Decides about every call, before a person is asked and before anything runs."""

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Decision:
        """Return the decision; `preview` describes the effect of the call.

        `call.payload` is a copy of the arguments: nothing that is done to it changes what runs.
        """
        ...

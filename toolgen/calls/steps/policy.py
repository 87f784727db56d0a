"""The host's policy, which allows, denies or asks about each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from toolgen.contract.record import record

from ..call import SeenBounds
from ..context import Key, Values
from .hooks import Deny

if TYPE_CHECKING:
    from ..call import ToolCall
    from ..results import ToolResult
    from ..specs import ToolSpec
_SEEN: Final[Key[list[SeenBounds]]] = Key("bounds of the turn")


@record
class Allow:
    """Allow the call. A `Confirm` of its design still applies."""


@record
class Ask:
    """Require the approval of a person."""

    question: str = ""
    """Question for the person; "" for the question of the design."""


Decision: TypeAlias = Allow | Ask | Deny
"""Return type of `Policy.decide`."""


class Policy(Protocol):
    """Protocol of an object that decides about every call before a person is asked and before anything
    runs."""

    async def decide(self, call: ToolCall, spec: ToolSpec, preview: str) -> Decision:
        """Return the decision about a call, whose effect `preview` describes. `call.payload` is a copy of the
        arguments. Decide by `spec.hints`, which has a value for each behavior hint.
        """
        ...


def remember(result: ToolResult, values: Values) -> None:
    """Store the bounds of a result, so that the policy can read them in later calls of the same turn."""
    if result.bounds is not None:
        seen = values.get(_SEEN, [])
        values[_SEEN] = seen
        seen.append(SeenBounds(tool=result.tool, bounds=result.bounds))


def seen_bounds(values: Values) -> tuple[SeenBounds, ...]:
    """Return the bounds of the results of the same turn so far, oldest first."""
    seen: list[SeenBounds] = values.get(_SEEN, [])
    return tuple(seen)

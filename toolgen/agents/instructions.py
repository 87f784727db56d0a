"""The instructions of an agent for one planning: a template with values of the state, or a function."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from pydantic_core import to_json

from toolgen.calls.call import CallMeta
from toolgen.calls.capability import ReadState
from toolgen.calls.toolsets.dynamic import ReadonlyContext
from toolgen.contract.boundary import Contained
from toolgen.contract.json_value import Json
from toolgen.contract.tasks import awaited

from .planner.plan_faults import PlannerError

InstructionsFunction: TypeAlias = Callable[[ReadonlyContext], "str | Awaitable[str]"]
"""Returns instructions for a planning; it may be asynchronous."""

_VALUE: Final = re.compile(r"\{\{|\}\}|\{((?:(?:app|user|session|temp):)?[A-Za-z_]\w*)(\?)?\}")
"""A state value `{user:name}`, an optional one `{user:name?}`, or doubled braces."""


async def instructions_for(
    agent: str,
    text: str,
    function: InstructionsFunction | None,
    read_state: ReadState | None,
    meta: CallMeta,
) -> str:
    """Return the template with its values, followed by the text that the function returns.

    `read_state` reads the state of the host; it is called only if the instructions may need it.

    Raises:
        PlannerError: a value is absent, or the function returns no text.
        Exception: an exception of the function or the capability.
    """
    values: Mapping[str, Json] = {}
    if read_state is not None and (function is not None or _VALUE.search(text)):
        values = await read_state(meta)
    parts = [_VALUE.sub(lambda match: _value(agent, match, values), text)]
    if function is not None:
        with Contained():
            written = await awaited(function(ReadonlyContext(meta=meta, state=values)))
        if not isinstance(written, str):
            raise PlannerError(
                f"the instructions of agent {agent!r} are {type(written).__name__}, not a string"
            )
        parts.append(written)
    return "\n\n".join(part for part in parts if part)


def _value(agent: str, match: re.Match[str], values: Mapping[str, Json]) -> str:
    key = match[1]
    if key is None:
        return match[0][0]
    value = values.get(key.removeprefix("session:"))
    if value is None and not match[2]:
        raise PlannerError(
            f"the instructions of agent {agent!r} need the state key {key!r}, which is not set; set it "
            f"first, or write {{{key}?}} if it can be absent"
        )
    if value is None:
        return ""
    return value if isinstance(value, str) else to_json(value).decode()

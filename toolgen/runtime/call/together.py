"""Calls that are made at once: each with a place in their batch, and a result whatever the others do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from ..calls import CallMeta, ToolCall
from ..results import ToolResult
from ..toolsets.directory import Directory
from .batch import Batch
from .boundary import contained
from .dispatch import dispatch
from .ending import escaped, unknown
from .entry import Entry
from .failures import Arguments
from .frame import Frame
from .host import Host

Later = Callable[[Entry, Arguments, ToolResult, CallMeta], Awaitable[ToolResult]]
"""Returns the result of a call that an agent answers, or that waits from now on."""


async def results_of(
    calls: Iterable[ToolCall], directory: Directory, batch: Batch, host: Host, later: Later
) -> tuple[ToolResult, ...]:
    """Return the results of the calls of a batch, in the order of the calls.

    Raises:
        KeyboardInterrupt: a tool raised it.
    """
    calls = tuple(calls)
    in_place = host.execution.in_place
    running = (in_place(_one(call, place, directory, batch, host, later)) for place, call in enumerate(calls))
    ended = await asyncio.gather(*running, return_exceptions=True)
    results = (
        _failed(call, directory, batch, host, one) if isinstance(one, BaseException) else one
        for call, one in zip(calls, ended, strict=True)
    )
    return await batch.settle(tuple(results), host.reports)


async def _one(
    call: ToolCall, place: int, directory: Directory, batch: Batch, host: Host, later: Later
) -> ToolResult:
    entry = directory.find(call.tool)
    if entry is None:
        return unknown(directory, call.tool, call.meta, host)
    frame = Frame(entry, call.payload_json, call.meta, batch, host)
    frame.context.place = place
    result = await dispatch(frame)
    if result.delegated is not None or result.frozen is not None:
        return await later(entry, call.payload_json, result, call.meta)
    return result


def _failed(
    call: ToolCall, directory: Directory, batch: Batch, host: Host, error: BaseException
) -> ToolResult:
    """Return the result of a call whose tool has ended the task of the call.

    Raises:
        KeyboardInterrupt: it was raised.
    """
    entry = directory.find(call.tool)
    assert entry is not None  # only what is executed can do so
    return escaped(Frame(entry, call.payload_json, call.meta, batch, host), contained(error))

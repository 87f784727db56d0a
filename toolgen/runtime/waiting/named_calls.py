"""The part of a runtime for peers that may make a call again, each time under the same name."""

from __future__ import annotations

from typing import Any

from ..call.dispatch import dispatch
from ..call.frame import Batch, Frame, RuntimeServices
from ..call.hook_tools import HookTools
from ..call.host_arguments import HostArguments, call_arguments, tool_name
from ..call_meta import NO_META, CallMeta
from ..context import set_idempotency_key
from ..results import Suspended, ToolResult
from ..specs import ToolSpec
from ..toolsets.directory import Directory
from ..toolsets.snapshot import CallService, Snapshot
from .call_names import CallName
from .call_runs import CallRuns
from .ledger import Ledger, canonical_arguments


class NamedCalls(CallService):
    """The methods of `Runtime` for named calls; each hands on to its `Ledger`."""

    _hook_tools: HookTools
    _directory: Directory
    _services: RuntimeServices
    _ledger: Ledger | None
    _calls: CallRuns

    async def call_once(
        self,
        name: CallName,
        tool: str | ToolSpec[Any, Any],
        arguments: HostArguments,
        meta: CallMeta = NO_META,
        *,
        within: Snapshot | None = None,
    ) -> ToolResult:
        """Return the one result of a call, as `call`; under this name it is executed once.

        Made again it has the result that it had, or its open question; one that runs is waited for. One of
        another tool or with other arguments is a `CallNameError` and executes nothing, unless the first one
        still waits for its approval: then that question is taken back, and the new arguments are asked about.
        Kept are, for as long as the engine keeps runs, the calls that asked somebody or may not run twice;
        without an engine none are.

        Raises:
            RegistrationError: as `call`.
            TypeError: as `call`.
        """
        self._hook_tools.require_all_known()
        found = (self._directory if within is None else within.directory).by_name.get(tool_name(tool))
        if found is None:
            return await self.call(tool, arguments, meta, within=within)
        services = self._services.for_direct_call(found)
        batch = Batch(services.capabilities)
        frame = Frame(found, call_arguments(found.spec, arguments), meta, batch, services)
        if self._ledger is None or services.waits is None:
            result = await self._unkept(name, frame)
        else:
            result = await self._ledger.result(name, frame)
        return (await batch.settle((result,), services.reports))[0] if batch.touched else result

    async def _unkept(self, name: CallName, frame: Frame) -> ToolResult:
        """Return the result of a call of which nothing is kept but, by its name, its idempotency key."""
        tool, meta = frame.tool, frame.meta
        payload = canonical_arguments(tool, frame.arguments, frame.services.limits)
        if payload is not None:
            set_idempotency_key(frame.context, name.idempotency_key(meta, tool.spec.id, payload))
        result = await dispatch(frame)
        if result.delegated is None:
            return result
        return await self._calls.later(tool, frame.arguments, result, meta)

    async def question(
        self,
        name: CallName,
        tool: str | ToolSpec[Any, Any],
        arguments: HostArguments,
        meta: CallMeta = NO_META,
        *,
        within: Snapshot | None = None,
    ) -> Suspended | None:
        """Return what a call of `call_once` with these arguments waits for; None for nothing. It makes none.

        An agent's tool may wait for several answers: it is the first. Pending work is no question.
        """
        found = (self._directory if within is None else within.directory).by_name.get(tool_name(tool))
        if found is None or self._ledger is None:
            return None
        return await self._ledger.question(name, found, call_arguments(found.spec, arguments), meta)

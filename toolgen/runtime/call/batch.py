"""Calls of one batch: their shared values, and the commit of their changes when the last has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolgen.contract.secrets import Secrets, hiding, within

from ..context import ToolContext, actions_of, opened_by, store_retry_of
from ..results import ToolResult
from ..values import Values
from .boundary import Contained
from .failures import log

if TYPE_CHECKING:
    from ..capabilities import Capability
    from ..events.call_reporter import CallReporter
    from .bridge import Wait


class Batch:
    """The calls of one turn's step; a single call is a batch of its own."""

    __slots__ = ("_capabilities", "_secrets", "_values", "touched")

    def __init__(self, capabilities: Mapping[str, Capability], values: Values | None = None) -> None:
        self._capabilities = capabilities
        self.touched: list[ToolContext] = []
        """Contexts of calls that used a capability, or asked something of their agent."""
        self._values = values
        self._secrets: tuple[Secrets, ...] = ()

    def add_secrets(self, secrets: Secrets) -> None:
        """Add the sensitive values of a call, which are redacted while the batch is settled."""
        self._secrets = (*self._secrets, secrets)

    @property
    def values(self) -> Values:
        """The values that the calls share."""
        if self._values is None:
            self._values = Values()
        return self._values

    def open(self, name: str, context: ToolContext) -> Any:
        """Return the capability's object for a call.

        Raises:
            AttributeError: the host provides no such capability.
        """
        from ..capabilities import CallScope  # a host without capabilities never needs it

        capability = self._capabilities.get(name)
        if capability is None or context.spec is None:
            known = ", ".join(self._capabilities) or "none"
            raise AttributeError(
                f"ctx has no {name!r}: this runtime provides {known}; give it the capability, and say "
                f"Needs({name!r}) in the design, so that it is missed at registration"
            )
        scope = CallScope(
            meta=context.meta,
            tool=context.tool,
            spec=context.spec,
            report=context.report,
            store_retry=store_retry_of(context),
        )
        return capability.open(scope)

    def in_thread(self, name: str, opened: Any, wait: Wait) -> Any:
        """Return the capability's object for a synchronous executor."""
        from ..capabilities import ThreadCapability

        capability = self._capabilities[name]
        return capability.for_thread(opened, wait) if isinstance(capability, ThreadCapability) else opened

    async def settle(self, results: Sequence[ToolResult], reports: CallReporter) -> tuple[ToolResult, ...]:
        """Commit the capabilities of the batch and return the results with the actions of their tools.

        A failure of a capability is logged, without the sensitive values of any call of the batch, and the
        results are returned as they came.
        """
        if not self.touched:
            return tuple(results)
        with hiding(within(*self._secrets) if self._secrets else None):
            try:
                return await self._settled(results, reports)
            except Exception:
                log.exception("a capability did not commit the changes of %d calls", len(results))
                return tuple(results)

    async def _settled(self, results: Sequence[ToolResult], reports: CallReporter) -> tuple[ToolResult, ...]:
        self.touched.sort(key=lambda context: context.place)
        settled = list(results)
        for context in self.touched:
            if actions := actions_of(context):
                settled[context.place] = replace(settled[context.place], actions=actions)
        for name, capability in self._capabilities.items():
            opened = [
                (opened_by(context)[name], results[context.place].status == "ok")
                for context in self.touched
                if name in opened_by(context)
            ]
            if opened:
                with Contained():
                    conflicts = await capability.close(opened)
                reports.emit_state_conflicts(conflicts, self.touched[0].meta)
        self.touched = []
        return tuple(settled)

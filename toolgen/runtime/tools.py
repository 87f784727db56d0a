"""The tools of a runtime: registered, listed, and disabled while it works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from toolgen.calls.errors import UnknownToolError
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.frame import tool_name
from toolgen.calls.toolsets.dynamic import DynamicToolset, OnError, ReadonlyContext, StaticToolset
from toolgen.calls.toolsets.registration import ToolsetRegistration

from .assembly import Assembly

if TYPE_CHECKING:
    from toolgen.calls.toolsets.snapshot import Snapshot
    from toolgen.capabilities import StateStore
    from toolgen.capabilities.disabling import DisabledTool, DisabledTools


@final
class RuntimeTools:
    """The tools of one runtime, as `Runtime.tools`."""

    def __init__(self, assembly: Assembly, switches: DisabledTools | None) -> None:
        self._assembly = assembly
        self._switches = switches

    def register(self, registration: ToolsetRegistration | StaticToolset) -> None:
        """Add a toolset; all of it or, when something does not fit, nothing.

        A warning goes to the log where a tool asks before it runs, or its result comes later, and no engine
        keeps the call.

        Raises:
            RegistrationError: it is registered already, a method or a capability is missing, or nobody
                fills an injected field.
        """
        self._assembly.registry.register(registration)
        if isinstance(registration, StaticToolset):
            self._assembly.warn_of_unasked(tool.spec for tool in registration.bound)
        else:
            self._assembly.warn_of_unasked(registration.specs)

    def add_toolset(
        self,
        toolset: DynamicToolset | ToolsetRegistration,
        *,
        on_error: OnError = "fail",
        timeout: float = 30.0,
    ) -> None:
        """Add a toolset that lists its tools for each request; `snapshot` calls it.

        An asynchronous context manager is opened with the runtime and closed with it. `timeout` are the
        seconds that opening it, or one list, may take.

        Raises:
            RegistrationError: it is no toolset, or another one has its name.
        """
        self._assembly.toolsets.add(toolset, on_error, timeout)

    async def snapshot(
        self, context: ReadonlyContext | None = None, *, previous: Snapshot | None = None
    ) -> Snapshot:
        """Return the tools of one model request; its calls go through the snapshot.

        A wire name that tools of several registered toolsets have gets the name of the toolset before it.
        `previous` is the snapshot of the request before it, in the same run.

        Raises:
            SnapshotError: a toolset cannot list its tools, or two tools have one name, or a hook names a
                tool that its toolset does not list.
            RegistrationError: a hook names a tool that is not there.
        """
        assembly = self._assembly
        assembly.options.hook_tools.require_all_known()
        return await assembly.toolsets.snapshot(context or ReadonlyContext(), previous)

    @property
    def may_change(self) -> bool:
        """Whether `snapshot` may return other tools for the next request."""
        return self._assembly.toolsets.may_change

    def toolsets(self) -> tuple[str, ...]:
        """Return the names of the registered toolsets, `service.toolset`, in the order of registration."""
        return self._assembly.toolsets.names

    def list(self) -> tuple[ToolSpec, ...]:
        """Return the specs of all registered tools, in the order of registration."""
        return self._assembly.directory.specs

    def spec(self, tool: str | ToolSpec) -> ToolSpec:
        """Return the registered spec of a tool, by its id, its wire name or its generated spec.

        Raises:
            UnknownToolError: no tool, or more than one, has the name.
            TypeError: it is neither a name nor a spec.
        """
        directory, name = self._assembly.directory, tool_name(tool)
        registered = directory.by_name.get(name)
        if registered is None:
            raise UnknownToolError(directory.unknown_tool_message(name))
        return registered.spec

    def schema(self, tool: str | ToolSpec) -> dict[str, dict[str, Any]]:
        """Return the JSON Schemas of a tool under `payload` and `result`.

        Raises:
            UnknownToolError, TypeError: as `spec`.
        """
        spec = self.spec(tool)
        return {"payload": spec.payload.schema, "result": spec.result.schema}

    async def disable(self, tool: str | ToolSpec, reason: str = "", *, by: str = "") -> str:
        """Disable a tool in all processes that share the store, within seconds, and return its id.

        Models are not offered it any more, and its calls end as errors without their executor, those too that
        wait for an answer now. Calls that are executed go on.

        Args:
            tool: An id, a wire name that one tool has, or a generated spec.
            reason: What models and people read.
            by: Who disables it.

        Raises:
            UnknownToolError: no tool, or more than one, has the name.
            RegistrationError: this runtime has no `disabled`, or a toolset cannot list its tools.
            StoreError: the store cannot be used.
            TypeError: the tool is neither a name nor a spec.
        """
        switches = self._require_switches()
        id_ = await self._id_of(tool_name(tool))
        await switches.disable(id_, reason, by=by)
        return id_

    async def enable(self, tool: str | ToolSpec) -> str:
        """Enable a tool again, and return its id; of a tool that is gone by its id.

        Raises:
            UnknownToolError, RegistrationError, StoreError, TypeError: as `disable`.
        """
        switches, name = self._require_switches(), tool_name(tool)
        is_known = any(disabled.tool == name for disabled in await switches.all())
        id_ = name if is_known else await self._id_of(name)
        await switches.enable(id_)
        return id_

    async def disabled(self) -> tuple[DisabledTool, ...]:
        """Return the tools that are disabled now, by id.

        Raises:
            RegistrationError, StoreError: as `disable`.
        """
        return await self._require_switches().all()

    @property
    def disabled_store(self) -> StateStore | None:
        """The store of what is disabled; None where nothing can be."""
        return None if self._switches is None else self._switches.store

    def _require_switches(self) -> DisabledTools:
        from toolgen.capabilities.disabling import require_disabled  # a host that disables nothing needs none

        return require_disabled(self._switches)

    async def _id_of(self, tool: str) -> str:
        """Return the id of a tool, by its id or by a wire name that one tool has.

        Raises:
            UnknownToolError: no tool, or more than one, has the name.
        """
        from toolgen.calls.toolsets.snapshot import id_of_tool

        loops = self._assembly.loops
        joined = () if loops is None else loops.listings
        return await id_of_tool(tool, self._assembly.directory, [self.snapshot, *joined])

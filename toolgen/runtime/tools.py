"""Registration, lists and switches of the tools of a runtime."""

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
    """Tools of a runtime."""

    def __init__(self, assembly: Assembly, switches: DisabledTools | None) -> None:
        self._assembly = assembly
        self._switches = switches

    def register(self, registration: ToolsetRegistration | StaticToolset) -> None:
        """Register a toolset, completely or not at all.

        A warning is logged if a tool can be suspended and the runtime has no engine.

        Args:
            registration: What the generated `registration(executor)` or `function_toolset` returns.

        Raises:
            RegistrationError: The toolset is registered already, a method or a capability is missing, or an
                injected field is filled by no interceptor.
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
        """Add a toolset that lists its tools for each request.

        If it is an asynchronous context manager, it is opened and closed with the runtime.

        Args:
            toolset: Dynamic toolset, or a registration.
            on_error: If it cannot list its tools: `fail` the request, `drop` the tools, or use the last list
                of the session (`stale`).
            timeout: Maximum seconds for opening the toolset and for each list.

        Raises:
            RegistrationError: It is not a toolset, or another one has the same name.
        """
        self._assembly.toolsets.add(toolset, on_error, timeout)

    async def snapshot(
        self, context: ReadonlyContext | None = None, *, previous: Snapshot | None = None
    ) -> Snapshot:
        """Return the tools for one model request. Make the calls of the request through the snapshot.

        Disabled tools are left out. If tools of several registered toolsets have the same wire name, their
        names get the name of the toolset as a prefix.

        Args:
            context: Call metadata and state, for dynamic toolsets.
            previous: Snapshot of the previous request of the same run, for the errors of tools that are gone.

        Raises:
            SnapshotError: A toolset cannot list its tools, two tools have the same name, or a hook names a
                tool that its toolset does not list.
            RegistrationError: A hook names a tool that does not exist.
        """
        assembly = self._assembly
        assembly.options.hook_tools.require_all_known()
        return await assembly.toolsets.snapshot(context or ReadonlyContext(), previous)

    @property
    def may_change(self) -> bool:
        """Whether the next `snapshot` can have other tools."""
        return self._assembly.toolsets.may_change

    def toolsets(self) -> tuple[str, ...]:
        """Return the names of the registered toolsets, such as `home.devices`, in the order of
        registration."""
        return self._assembly.toolsets.names

    def list(self) -> tuple[ToolSpec, ...]:
        """Return the specs of all registered tools, disabled ones included, in the order of registration."""
        return self._assembly.directory.specs

    def spec(self, tool: str | ToolSpec) -> ToolSpec:
        """Return the registered spec of a tool, by its ID, wire name or generated spec.

        Raises:
            UnknownToolError: No tool, or more than one, has the name.
            TypeError: The argument is neither a name nor a spec.
        """
        directory, name = self._assembly.directory, tool_name(tool)
        registered = directory.by_name.get(name)
        if registered is None:
            raise UnknownToolError(directory.unknown_tool_message(name))
        return registered.spec

    def schema(self, tool: str | ToolSpec) -> dict[str, dict[str, Any]]:
        """Return the JSON Schemas of the arguments (`payload`) and the `result` of a tool.

        Raises:
            UnknownToolError, TypeError: As in `spec`.
        """
        spec = self.spec(tool)
        return {"payload": spec.payload.schema, "result": spec.result.schema}

    async def disable(self, tool: str | ToolSpec, reason: str = "", *, by: str = "") -> str:
        """Disable a tool within seconds in all processes that share the store, and return its ID.

        Models are no longer offered the tool. New and suspended calls end as errors without being executed;
        running calls continue.

        Args:
            tool: ID, wire name that only one tool has, or generated spec.
            reason: Text for models and people.
            by: Name of the operator.

        Raises:
            UnknownToolError: No tool, or more than one, has the name.
            RegistrationError: The runtime was created without `disabled`, or a toolset cannot list its tools.
            StoreError: The store cannot be used.
            TypeError: The tool is neither a name nor a spec.
        """
        switches = self._require_switches()
        id_ = await self._id_of(tool_name(tool))
        await switches.disable(id_, reason, by=by)
        return id_

    async def enable(self, tool: str | ToolSpec) -> str:
        """Enable a tool again and return its ID. For a tool that no longer exists, pass the ID.

        Raises:
            UnknownToolError, RegistrationError, StoreError, TypeError: As in `disable`.
        """
        switches, name = self._require_switches(), tool_name(tool)
        is_known = any(disabled.tool == name for disabled in await switches.all())
        id_ = name if is_known else await self._id_of(name)
        await switches.enable(id_)
        return id_

    async def disabled(self) -> tuple[DisabledTool, ...]:
        """Return the disabled tools, sorted by ID.

        Raises:
            RegistrationError, StoreError: As in `disable`.
        """
        return await self._require_switches().all()

    @property
    def disabled_store(self) -> StateStore | None:
        """Store of the disabled tools; None if no tool can be disabled."""
        return None if self._switches is None else self._switches.store

    def _require_switches(self) -> DisabledTools:
        # not needed by a host that disables nothing
        from toolgen.capabilities.disabling import require_disabled

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

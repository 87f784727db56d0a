"""The registry of tools, and the door through which calls come in."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterable
from typing import Any

from toolgen.contract.naming import LONGEST_NAME

from .calls import NO_META, CallMeta, ToolCall
from .dispatch import dispatch
from .errors import RegistrationError, ToolError, UnknownToolError
from .failures import Arguments, failed
from .registration import Entry, Interceptor, ToolsetRegistration, checked, entries
from .results import RetryHint, ToolResult
from .specs import ToolSpec
from .trace import Trace


class Runtime:
    """Executes the calls of the toolsets that are registered with it."""

    def __init__(self, *, interceptors: Iterable[Interceptor] = ()) -> None:
        """Make a runtime without tools; interceptors run in the order given.

        Raises:
            RegistrationError: something is no interceptor.
        """
        self._interceptors = tuple(map(checked, interceptors))
        self._toolsets: dict[str, ToolsetRegistration] = {}
        self._by_id: dict[str, Entry] = {}
        self._by_name: dict[str, list[Entry]] = {}

    def register(self, registration: ToolsetRegistration) -> None:
        """Add a toolset; all of it or, when something does not fit, nothing.

        Raises:
            FormatError: it was generated in another format.
            RegistrationError: it is registered already, a method is missing or not asynchronous, or
                nobody fills an injected field.
        """
        if registration.name in self._toolsets:
            raise RegistrationError(f"toolset {registration.name!r} is registered already")
        found = entries(registration, self._interceptors)
        for entry in found:
            if other := self._by_id.get(entry.spec.id):
                raise RegistrationError(
                    f"toolset {registration.name!r} brings {entry.spec.id!r}, "
                    f"which the registered toolset {other.toolset!r} serves"
                )
        for entry in found:
            self._by_id[entry.spec.id] = entry
            self._by_name.setdefault(entry.spec.name, []).append(entry)
        self._toolsets[registration.name] = registration

    async def call(
        self, tool: str, arguments: Arguments, meta: CallMeta = NO_META, *, trace: Trace | None = None
    ) -> ToolResult:
        """Return the one result of a call, whatever happens in it.

        `tool` is an id, or a wire name that one registered tool has. `arguments` are the model's words:
        JSON text, or a mapping of JSON values. A fresh `trace` gets the steps of the call.
        """
        entry = self._by_id.get(tool) or self._named(tool)
        if entry is None:
            result = self._unknown(tool, meta)
        else:
            result = await dispatch(entry, arguments, meta, trace)
        if trace is not None and result.error is not None:
            trace.fail(result.error)
        return result

    async def call_all(self, calls: Iterable[ToolCall]) -> tuple[ToolResult, ...]:
        """Return the results of calls made at once, in the order of the calls."""
        running = (self.call(call.tool, call.payload_json, call.meta) for call in calls)
        return tuple(await asyncio.gather(*running))

    def list_toolsets(self) -> tuple[str, ...]:
        """Return the names of the registered toolsets, `service.toolset`, in the order of registration."""
        return tuple(self._toolsets)

    def list_tools(self) -> tuple[ToolSpec[Any, Any], ...]:
        """Return the specs of all registered tools, in the order of registration."""
        return tuple(entry.spec for entry in self._by_id.values())

    def tool_spec(self, tool: str) -> ToolSpec[Any, Any]:
        """Return the spec of a tool by id or wire name.

        Raises:
            UnknownToolError: no tool, or more than one, has the name.
        """
        entry = self._by_id.get(tool) or self._named(tool)
        if entry is None:
            raise UnknownToolError(self._no_such(tool))
        return entry.spec

    def tool_schema(self, tool: str) -> dict[str, dict[str, Any]]:
        """Return the JSON Schemas of a tool under `payload` and `result`.

        Raises:
            UnknownToolError: as `tool_spec`.
        """
        spec = self.tool_spec(tool)
        return {"payload": spec.payload.schema, "result": spec.result.schema}

    def _named(self, name: str) -> Entry | None:
        found = self._by_name.get(name, ())
        return found[0] if len(found) == 1 else None

    def _no_such(self, tool: str) -> str:
        if tool in self._by_name:
            ids = ", ".join(entry.spec.id for entry in self._by_name[tool])
            return f"more than one tool is called {tool!r}: {ids}; use the id"
        asked = tool if len(tool) <= LONGEST_NAME else f"{tool[:LONGEST_NAME]}…"
        near = difflib.get_close_matches(asked, [*self._by_name, *self._by_id], 3)
        return f"there is no tool {asked!r}" + (f"; close names are {', '.join(near)}" if near else "")

    def _unknown(self, tool: str, meta: CallMeta) -> ToolResult:
        message = self._no_such(tool)
        hint = RetryHint(reason="tool_unavailable", tool=tool, message=message)
        return failed(tool, ToolError(message, retry_hint=hint), meta)

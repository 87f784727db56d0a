"""The registered toolsets of a runtime: each is added whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..errors import RegistrationError
from .directory import Directory
from .dynamic import StaticToolset, ToolList, native_of
from .registration import ToolsetRegistration, registered_bound_tools, registered_tools

if TYPE_CHECKING:
    from ..steps.registered_tool import RegisteredTool, RuntimeOptions
    from .toolsets import Toolsets

Served: TypeAlias = ToolsetRegistration | StaticToolset
Prepared: TypeAlias = tuple[Served, ToolList]
"""A toolset that fits, and what it lists."""


class Registry:
    """Registers toolsets, and holds their executors."""

    def __init__(self, options: RuntimeOptions, toolsets: Toolsets) -> None:
        self.options = options
        self.managers = toolsets.managers
        self.directory = Directory()
        self._toolsets = toolsets
        self._served: dict[str, Served] = {}

    def register(self, registration: Served) -> None:
        """Register a toolset; as `Runtime.tools.register`."""
        if registration.name in self._toolsets.names:
            raise RegistrationError(f"toolset {registration.name!r} is registered already")
        self.add_prepared([self._prepare(registration)])

    def prepare_new(self, registrations: Iterable[Served], agent: str) -> list[Prepared]:
        """Prepare the toolsets of an agent that are not registered yet.

        Raises:
            FormatError: as `register`.
            RegistrationError: one does not fit, or has another executor than the toolset of its name has.
        """
        prepared: dict[str, Prepared] = {}
        for registration in registrations:
            served = self._served.get(registration.name)
            if served is None and registration.name in prepared:
                served = prepared[registration.name][0]
            if served is None and registration.name in self._toolsets.names:
                raise RegistrationError(
                    f"agent {agent!r} brings {registration.name!r}, the name of a dynamic toolset"
                )
            if served is None:
                prepared[registration.name] = self._prepare(registration)
            elif _executor(served) != _executor(registration):
                raise RegistrationError(
                    f"agent {agent!r} has another executor for toolset {registration.name!r} "
                    "than was registered before",
                    hint="a toolset has one executor in a runtime; give the same one",
                )
        return list(prepared.values())

    def directory_with(self, prepared: Sequence[Prepared]) -> Directory:
        """Return the directory as it would be with these toolsets.

        Raises:
            RegistrationError: an id is taken.
        """
        return Directory((*self.directory.tools, *_listed_tools(prepared)))

    def add_prepared(self, prepared: Sequence[Prepared]) -> None:
        """Register prepared toolsets.

        Raises:
            RegistrationError: an id is taken; then none is taken up.
        """
        tools = _listed_tools(prepared)
        self.directory.add(tools)
        self.options.hook_tools.add(tool.spec.id for tool in tools)
        for registration, listed in prepared:
            self._toolsets.add_static(listed)
            self._served[registration.name] = registration

    def _prepare(self, registration: Served) -> Prepared:
        name = registration.name
        if isinstance(registration, StaticToolset):
            tools = registered_bound_tools(name, registration.bound, self.options)
        else:
            tools = registered_tools(registration, self.options)
        listed = ToolList(
            toolset=name,
            tools=tools,
            instructions=registration.instructions,
            native=native_of(registration),
        )
        return registration, listed


def _listed_tools(prepared: Sequence[Prepared]) -> list[RegisteredTool]:
    return [tool for _, listed in prepared for tool in listed.tools]


def _executor(served: Served) -> object:
    return served.bound if isinstance(served, StaticToolset) else served.executor

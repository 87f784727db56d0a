"""`app.py` and `services.py` of a new project: the runtime of a design, and stubs of its services."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from toolgen.contract.record import frozen_record
from toolgen.contract.transport import HTTP
from toolgen.dsl.expr.tree import Agent, Design, Service, Toolset
from toolgen.shapes.naming import class_name, module_name

from .. import names
from ..catalog import toolsets_of
from ..imports import Imports
from ..layout import agents_package, service_module, toolset_package
from ..spelling import RUNTIME
from ..text import docstring, quote
from .agent import REGISTER_PARAMETERS

_OWN: Final = ("runtime", "serve", "engine", "planner", "server", "made", "folder", "path")
"""Names that the module defines, which no toolset can use there."""


@frozen_record
class AppPlace:
    """Names and import paths of the parts of a project."""

    name: str
    """Name of the project."""
    package: str
    """Import path of the folder of `app.py`."""
    generated: str
    """Import path of the generated code."""
    stubs: str
    """Import path of the executor stubs."""
    levels: int
    """Number of folders from `app.py` up to the project folder."""
    server: str = ""
    """Expression of the MCP server behind the locked toolset, with names from `toolgen.adapters.mcp`."""


@frozen_record
class AppView:
    template: ClassVar[str] = "app.py.jinja"
    docstring: str
    imports: str
    own_imports: str
    server: str
    """Expression of the MCP server; "" for none."""
    server_name: str
    """Literal of the name of its toolset."""
    levels: int
    has_credentials: bool
    has_agents: bool
    parameters: str
    """Parameters of `serve`."""
    executors: tuple[str, ...]
    """Statements that create the executors."""
    registrations: tuple[str, ...]
    """Statements that register toolsets and agents on `made`."""


@frozen_record
class ServiceMethodView:
    name: str
    payload: str
    result: str
    docstring: str
    error: str


@frozen_record
class ServiceStubView:
    name: str
    base: str
    docstring: str
    methods: tuple[ServiceMethodView, ...]


@frozen_record
class ServicesView:
    template: ClassVar[str] = "services.py.jinja"
    docstring: str
    imports: str
    services: tuple[ServiceStubView, ...]


def services_to_write(design: Design) -> tuple[Service, ...]:
    """Return the services of bound tools that no generated client implements completely."""
    behind = {tool.binding.service for toolset in _executed(design) for tool in toolset.tools if tool.binding}
    return tuple(service for service in design.services if service.name in behind and service.client is None)


def services_view(design: Design, place: AppPlace) -> ServicesView:
    """Return stubs of the services that the author has to write."""
    imports = Imports({class_name(service.name) for service in services_to_write(design)})
    stubs = []
    for service in services_to_write(design):
        *parents, last = service_module(service.name)
        alias = imports.name(".".join([place.generated, *parents]), last, names.service_module(service.name))
        methods = tuple(
            ServiceMethodView(
                name=names.service_method(service, method),
                payload=_type(imports, place, alias, method.payload.name, service),
                result=_type(imports, place, alias, method.result.name, service),
                docstring=docstring(method.description, 8),
                error=quote(f"{method.name} returns {method.result.name}"),
            )
            for method in service.methods
        )
        name = class_name(service.name)
        text = docstring(service.description or f"The service {service.name}.", 4)
        stubs.append(ServiceStubView(name=name, base=f"{alias}.{name}", docstring=text, methods=methods))
    return ServicesView(
        docstring=docstring(f"The services behind the tools of {place.name}, for you to write."),
        imports=imports.text(),
        services=tuple(stubs),
    )


def _type(imports: Imports, place: AppPlace, alias: str, name: str, service: Service) -> str:
    """Return the expression for a class of a method, from the service's module or the shared types."""
    if any(name == object_.name for object_ in service.objects):
        return f"{alias}.{name}"
    return imports.name(f"{place.generated}.types", name)


def app_view(design: Design, place: AppPlace) -> AppView:
    """Return the module that creates the runtime of a design, with the author's executors and services."""
    statements = _AppStatements(design=design, place=place)
    executors = tuple(statements.executors())
    registrations = tuple(statements.registrations())
    agents = [agent for service in design.services for agent in service.agents]
    locked = next((toolset for toolset in _executed(design) if toolset.lock), None)
    return AppView(
        docstring=docstring(f"The application {place.name}: the runtime of its tools and their executors."),
        imports=statements.library.text(),
        own_imports=statements.own.text(),
        server=place.server,
        server_name=quote(locked.name) if locked and place.server else "",
        levels=place.levels,
        has_credentials=_has_security(design),
        has_agents=bool(agents),
        parameters=", ".join(
            (
                "engine: Engine",
                *(["server: MCPToolset"] if place.server else []),
                *(["folder: Path | None = None"] if _has_security(design) else []),
                *(["planner: Planner | None = None"] if agents else []),
            )
        ),
        executors=executors,
        registrations=registrations,
    )


class _AppStatements:
    """The statements of an app, and the imports that they need."""

    def __init__(self, *, design: Design, place: AppPlace) -> None:
        self._design, self._place = design, place
        toolsets = list(_executed(design))
        named = names.toolset_names(
            toolsets, (*_OWN, *(module_name(service.name) for service in design.services))
        )
        self._names = {names.qualified(toolset): name for toolset, name in zip(toolsets, named, strict=True)}
        self._imported: dict[tuple[str, str], str] = {}
        self.library, self.own = _library(design, place), Imports({*_OWN})

    def executors(self) -> Iterator[str]:
        """Yield statements that create the executors, so that several registrations can use them."""
        for toolset in _executed(self._design):
            if self._design.needs_executor(toolset) and not toolset.lock:
                class_ = class_name(toolset.name)
                stub = f"{self._place.stubs}.{module_name(toolset.service)}.{module_name(toolset.name)}"
                executor = self._import(stub, class_, f"{class_name(toolset.service)}{class_}")
                yield f"{self._variable(toolset)} = {executor}({', '.join(self._services(toolset))})"

    def _services(self, toolset: Toolset) -> Iterator[str]:
        behind = dict.fromkeys(tool.binding.service for tool in toolset.tools if tool.binding)
        for name in behind:
            if self._design.by_name[name].client is None:
                class_ = self._import(f"{self._place.package}.services".removeprefix("."), class_name(name))
                yield f"{module_name(name)}={class_}()"

    def registrations(self) -> Iterator[str]:
        used = {
            names.qualified(toolset)
            for service in self._design.services
            for agent in service.agents
            for toolset in toolsets_of(agent)
        }
        for toolset in _executed(self._design):
            if names.qualified(toolset) not in used:
                *parents, last = toolset_package(toolset)
                module = self._import(
                    ".".join([self._place.generated, *parents]), last, f"{self._name(toolset)}_tools"
                )
                yield f"made.tools.register({module}.registration({self._argument(toolset)}))"
        for service in self._design.services:
            for agent in service.agents:
                yield self._agent(agent)

    def _agent(self, agent: Agent) -> str:
        package = ".".join([self._place.generated, *agents_package(agent.service)])
        module = self._import(package, module_name(agent.name), f"{module_name(agent.name)}_agent")
        toolsets = toolsets_of(agent)
        parameters = names.toolset_names(toolsets, REGISTER_PARAMETERS)
        arguments = [
            f"{parameter}={self._argument(toolset)}"
            for toolset, parameter in zip(toolsets, parameters, strict=True)
            if toolset.tools and not toolset.exporter and self._argument(toolset)
        ]
        return f"{module}.register({', '.join(['made', 'planner=planner', *arguments])})"

    def _argument(self, toolset: Toolset) -> str:
        """Return the executor argument of a toolset; "" if generated clients execute it."""
        if toolset.lock:
            return "server.executor"
        return self._variable(toolset) if self._design.needs_executor(toolset) else ""

    def _import(self, module: str, name: str, other: str = "") -> str:
        """Import a name of a module and return it; under another name if it is taken."""
        if (module, name) not in self._imported:
            taken = {*_OWN, *self._imported.values(), *self.library.names()}
            chosen = names.unused_name(other or f"{name}_", taken) if name in taken else name
            self._imported[module, name] = self.own.name(module, name, chosen)
        return self._imported[module, name]

    def _name(self, toolset: Toolset) -> str:
        return self._names[names.qualified(toolset)]

    def _variable(self, toolset: Toolset) -> str:
        return f"{self._name(toolset)}_executor"


def _library(design: Design, place: AppPlace) -> Imports:
    """Return the imports of an app from outside the project."""
    imports = Imports({*_OWN})
    listed: Mapping[str, tuple[str, ...]] = {
        "__future__": ("annotations",),
        "pathlib": ("Path",),
        "toolgen.engines": ("Engine", "InProcessEngine"),
        "toolgen.events": ("Events",),
        RUNTIME: ("Runtime",),
    }
    for module, used in listed.items():
        for name in used:
            imports.name(module, name)
    iterator, manager = (
        ("AsyncIterator", "asynccontextmanager") if place.server else ("Iterator", "contextmanager")
    )
    imports.name("collections.abc", iterator)
    imports.name("contextlib", manager)
    if place.server:
        for name in ("MCPToolset", place.server.partition("(")[0]):
            imports.name("toolgen.adapters.mcp", name)
    if any(service.agents for service in design.services):
        imports.name("toolgen.agents", "Planner")
    if _has_security(design):
        for name in (
            "CredentialsCapability",
            "CredentialStore",
            "MemoryCredentialStore",
            "SqliteCredentialStore",
        ):
            imports.name("toolgen.capabilities", name)
    return imports


def _executed(design: Design) -> Iterator[Toolset]:
    """Yield the toolsets with tools of their own, except toolsets that an agent implements."""
    for service in design.services:
        for toolset in service.toolsets:
            if toolset.tools and not toolset.exporter:
                yield toolset


def _has_security(design: Design) -> bool:
    methods = (method for service in design.services for method in service.methods)
    return any(isinstance(method.transport, HTTP) and method.transport.security for method in methods)

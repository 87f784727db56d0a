"""The `__init__.py` files: the root, plain packages, and packages that export names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from toolgen.contract.names import FORMAT
from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Agent, Service, Toolset
from toolgen.shapes.naming import class_name

from .. import names
from ..imports import Imports, sorted_names
from ..layout import class_names, client_module, completions_module, service_module, types_modules
from ..spelling import GENERATED
from ..text import docstring, quote


@frozen_record
class PackageView:
    template: ClassVar[str] = "package.py.jinja"
    docstring: str


@frozen_record
class RootView:
    """The package of the whole tree, which is imported before every other module of the tree."""

    template: ClassVar[str] = "root.py.jinja"
    docstring: str
    imports: str
    check: str
    """Name of the function that rejects a format that the runtime does not support."""
    format: int


@frozen_record
class SurfaceView:
    """A package that exports names of its modules, some of which it imports at their first use."""

    template: ClassVar[str] = "surface.py.jinja"
    docstring: str
    imports: str
    names: tuple[str, ...]
    """`__all__`, as literals."""
    typing_imports: str = ""
    lazy_modules: tuple[tuple[str, str], ...] = ()
    """Name of each module that the package exports, with its path as a literal."""
    modules: tuple[tuple[str, str], ...] = ()
    """Each lazy name with its module, as literals; empty if all are in one module."""
    home: str = ""
    """Expression of the module that defines the lazy name `name`."""


def root_view(text: str) -> RootView:
    """Return the root, which checks the format before modules use features that an older runtime lacks."""
    imports = Imports()
    check = imports.name(GENERATED, "check_format")
    return RootView(docstring=docstring(text), imports=imports.text(), check=check, format=FORMAT)


def package_view(text: str) -> PackageView:
    return PackageView(docstring=docstring(text))


def toolset_view(of: Toolset) -> SurfaceView:
    imports = Imports()
    text = of.description or f"The toolset {of.service}.{of.name}."
    if not of.tools:
        imports.name(".specs", names.NATIVE_TOOLS)
        return _eager(text, imports, [names.NATIVE_TOOLS])
    executors = ["registration"]
    if not of.exporter:
        executors.append(names.executor(of))
        if any(tool.binding for tool in of.tools):
            executors.append(names.bound_executor(of))
    specs = ["SPECS", "ToolId", *([names.NATIVE_TOOLS] if of.native else [])]
    for tool in of.tools:
        specs += [
            names.spec(tool),
            *(names.artifact_spec(tool, artifact.kind) for artifact in tool.artifacts),
            *(names.error_spec(tool, error) for error in tool.errors),
        ]
    for name in executors:
        imports.name(".export" if of.exporter else ".executor", name)
    for name in specs:
        imports.name(".specs", name)
    types = dict.fromkeys(class_names(of.objects), ".types")
    return _lazy(text, imports, types, eager=[*executors, *specs], lazy_modules=["calls"])


def types_package_view(of: Toolset) -> SurfaceView:
    """Return `types/__init__.py` of a large toolset."""
    modules = {
        name: f".{module[-1]}" for module, _, objects in types_modules(of) for name in class_names(objects)
    }
    return _lazy(f"Types of {of.service}.{of.name}, one module per tool.", Imports(), modules)


def service_package_view(of: Service) -> SurfaceView | PackageView:
    """Return the package of a service: its protocol, its clients, the types of its methods, its completions.

    If completions and service define the same name, the service's name is exported.
    """
    text = of.description or f"The service {of.name}."
    modules: dict[str, str] = {}
    if of.completions:
        own = [name for completion in of.completions for name in names.offered(completion)]
        home = f".{completions_module(of.name)[-1]}"
        modules |= dict.fromkeys([*class_names(of.completion_objects), *own], home)
    if of.methods:
        home = f".{service_module(of.name)[-1]}"
        errors = [names.error_spec(method, error) for method in of.methods for error in method.errors]
        modules |= dict.fromkeys([class_name(of.name), *class_names(of.objects), *errors], home)
    modules |= {names.client(of, kind): f".{client_module(of.name, kind)[-1]}" for kind in of.clients}
    return _lazy(text, Imports(), modules) if modules else package_view(text)


def agent_package_view(of: Agent) -> SurfaceView:
    imports = Imports()
    agent, specs = ["AGENT", "AGENT_ID", "client", "register"], ["SPECS"]
    if any(used.tools for used in of.uses):
        specs.append("ToolId")
    for name in agent:
        imports.name(".agent", name)
    for name in specs:
        imports.name(".specs", name)
    return _eager(of.description or f"The agent {of.id}.", imports, [*agent, *specs])


def _eager(text: str, imports: Imports, offered: Iterable[str]) -> SurfaceView:
    """Return a package that imports all its exported names at once."""
    return SurfaceView(docstring=docstring(text), imports=imports.text(), names=_listed(offered))


def _lazy(
    text: str,
    imports: Imports,
    modules: Mapping[str, str],
    *,
    eager: Iterable[str] = (),
    lazy_modules: Iterable[str] = (),
) -> SurfaceView:
    """Return a package that imports the names of `modules`, and `lazy_modules`, at their first use."""
    lazy_modules, homes = tuple(lazy_modules), sorted(set(modules.values()))
    typing_imports = Imports()
    imports.name("typing", "TYPE_CHECKING")
    if modules:
        imports.name(GENERATED, "lazy_attribute")
    for module in lazy_modules:
        imports.name(GENERATED, "LazyModule")
        typing_imports.name(".", module)
    for name, home in modules.items():
        typing_imports.name(home, name)
    is_one = len(homes) == 1
    home = f"{quote(homes[0])} if name in __all__ else None" if is_one else "_MODULES.get(name)"
    listed = () if is_one else tuple((quote(name), quote(home)) for name, home in modules.items())
    return SurfaceView(
        docstring=docstring(text),
        imports=imports.text(),
        names=_listed([*eager, *lazy_modules, *modules]),
        typing_imports=typing_imports.text(4),
        lazy_modules=tuple((module, quote(f".{module}")) for module in lazy_modules),
        modules=listed,
        home=home if modules else "",
    )


def _listed(offered: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(quote, sorted_names(offered)))

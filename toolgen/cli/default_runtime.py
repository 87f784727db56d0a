"""The runtime of a project without a configured one: for functions, and toolsets that need no code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from toolgen.capabilities import CredentialsCapability, SqliteCredentialStore
from toolgen.contract.errors import ToolgenError
from toolgen.contract.names import CALL_META_NAMES
from toolgen.contract.transport import HTTP
from toolgen.dsl import build
from toolgen.dsl.expr.tree import Design, Toolset
from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.runtime import Runtime, StaticToolset, ToolsetRegistration
from toolgen.shapes.naming import module_name

from .config import Project
from .function_toolsets import function_toolsets
from .load import load_design
from .python_errors import user_code_errors

if TYPE_CHECKING:
    from toolgen.adapters.mcp import MCPToolset


@asynccontextmanager
async def default_runtime(project: Project) -> AsyncIterator[Runtime]:
    """Yield a runtime with all toolsets of the design, and the functions in the settings.

    The clients of the design's services execute its tools, and the servers in the settings execute locked
    toolsets; a server is connected at its first call. Runs are stored in the file of the settings, and
    credentials in a file beside it. Without the file, no call can be suspended.

    Raises:
        ToolgenError: a toolset needs code, the design has errors, its code was not generated, a function
            cannot be a tool, or the file cannot be used.
    """
    design = _checked(project) if project.design else None
    async with AsyncExitStack() as servers:
        designed = _designed(project, design, servers) if design is not None else None
        toolsets = [each async for each in designed] if designed is not None else []
        toolsets += function_toolsets(project)
        runtime = _runtime(project, asks_for_credentials=design is not None and _has_security(design))
        for toolset in toolsets:
            runtime.tools.register(toolset)
        yield runtime


def _checked(project: Project) -> Design:
    """Return the design of a project.

    Raises:
        ToolgenError: it has errors.
    """
    design = build(load_design(project)).design
    if design is None:
        raise ToolgenError("the design has errors", hint="run: toolgen gen")
    return design


async def _designed(
    project: Project, design: Design, servers: AsyncExitStack
) -> AsyncIterator[StaticToolset | ToolsetRegistration]:
    """Yield the registrations of all toolsets of the design; `servers` closes the servers in the settings.

    Raises:
        ToolgenError: as `default_runtime`.
    """
    toolsets = [toolset for service in design.services for toolset in service.toolsets if toolset.tools]
    needs = [(toolset, _need(project, design, toolset)) for toolset in toolsets]
    if needing := [f"{toolset.service}.{toolset.name} ({need})" for toolset, need in needs if need]:
        code = ", ".join(needing)
        raise ToolgenError(
            f"{project.file}: [tool.toolgen] has no runtime, but these toolsets need code: {code}",
            hint='add runtime = "module:callable", a function that returns a configured Runtime',
        )
    for toolset in toolsets:
        module = f"{project.package}.{module_name(toolset.service)}.toolsets.{module_name(toolset.name)}"
        with user_code_errors(f"{module} cannot be registered; run: toolgen gen"):
            make = import_module(module).registration
            if toolset.lock:
                server = await servers.enter_async_context(_server(project, toolset))
                registration: ToolsetRegistration = make(server.executor)
            else:
                registration = make()
        yield registration


def _server(project: Project, toolset: Toolset) -> MCPToolset:
    """Return the server of a locked toolset.

    Raises:
        ToolgenError: as `ServerSettings.server`.
    """
    from toolgen.adapters.mcp import MCPToolset

    settings = project.mcp[_server_name(project, toolset)]
    return MCPToolset(toolset.name, settings.server(project.directory))


def _server_name(project: Project, toolset: Toolset) -> str:
    """Return the name of a toolset's server in the settings; "" if there is none."""
    names = (f"{toolset.service}.{toolset.name}", toolset.name)
    return next((name for name in names if name in project.mcp), "")


def _runtime(project: Project, *, asks_for_credentials: bool) -> Runtime:
    """Return a runtime with the file of its runs, and one beside it for the credentials of its services."""
    if not project.runs:
        return Runtime(events=Events())
    path = project.directory / project.runs
    engine = InProcessEngine(path)
    if not asks_for_credentials or (secret := engine.secret()) is None:
        return Runtime(events=Events(), engine=engine)
    store = SqliteCredentialStore(path.with_name(f"{path.name}.credentials"), secret=secret)
    return Runtime(events=Events(), engine=engine, capabilities=[CredentialsCapability(store)])


def _has_security(design: Design) -> bool:
    """Return whether a method of a service requires credentials."""
    methods = (method for service in design.services for method in service.methods)
    return any(isinstance(method.transport, HTTP) and method.transport.security for method in methods)


def _need(project: Project, design: Design, toolset: Toolset) -> str:
    """Return the part that a toolset needs from its host; "" if the clients of services are enough."""
    if toolset.exporter:
        return f"the agent {toolset.exporter}"
    if toolset.lock:
        needed = f"the connection to its server, [tool.toolgen.mcp.{toolset.name}]"
        return "" if _server_name(project, toolset) else needed
    if design.needs_executor(toolset):
        return "an executor"
    stub = Path(project.stubs, module_name(toolset.service), f"{module_name(toolset.name)}.py")
    if (project.directory / stub).exists():
        return f"the executor in {stub.as_posix()}"
    fields = dict.fromkeys(field.name for tool in toolset.tools for field in tool.injected)
    filled = [name for name in fields if name not in CALL_META_NAMES]
    return f"an interceptor that fills {', '.join(map(repr, filled))}" if filled else ""

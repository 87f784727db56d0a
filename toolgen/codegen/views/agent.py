"""`agent.py` and `specs.py` of an agent: its limits, its registration, its client and its tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final

from toolgen.contract.policy import History, RunPolicy
from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Agent, Design, Toolset, UsedTool

from .. import names
from ..catalog import non_default_limits, own_confirmation, toolsets_of
from ..imports import Imports
from ..layout import Module, agent_package, relative, toolset_package
from ..spelling import GENERATED, RUNTIME
from ..text import docstring, quote, strings
from .specs import confirmed

_AGENTS: Final = "toolgen.agents"
REGISTER_PARAMETERS: Final = ("runtime", "planner", "instructions", "dynamic", "agents_of")
_FUNCTIONS: Final = ("register", "client", "agents_of")


@frozen_record
class AgentView:
    template: ClassVar[str] = "agent.py.jinja"
    docstring: str
    imports: str
    id: str
    """Literal of the agent's id."""
    spec: str
    """Expression."""
    parameters: tuple[str, ...]
    """The executors with their types."""
    register_docstring: str
    registrations: tuple[str, ...]
    """Expressions, one for each toolset."""
    client_docstring: str


def agent_view(design: Design, agent: Agent) -> AgentView:
    imports = _imports()
    wired = _agent_toolsets(agent)
    for toolset in wired:
        *parents, module = toolset_package(toolset.toolset)
        imports.name(relative(agent_package(agent), tuple(parents)), module, toolset.module)
    executed = [toolset for toolset in wired if toolset.is_executed]
    if executed:
        imports.name(GENERATED, "RawExecutor")
    spec = f"{imports.name(_AGENTS, 'AgentSpec')}({', '.join(_facts(agent, imports))},)"
    registrations = tuple(toolset.registration(imports) for toolset in wired)
    return AgentView(
        docstring=docstring(agent.description or f"The agent {agent.id}."),
        imports=imports.text(),
        id=quote(agent.id),
        spec=spec,
        parameters=tuple(
            f"{toolset.parameter}: {toolset.module}.{names.executor(toolset.toolset)} | RawExecutor"
            f"{'' if design.needs_executor(toolset.toolset) else ' | None = None'}"
            for toolset in executed
        ),
        register_docstring=docstring(_register_text(bool(executed)), 4),
        registrations=registrations,
        client_docstring=docstring(f"Return a client that starts and follows runs of {agent.id}.", 4),
    )


@frozen_record
class _AgentToolset:
    """A toolset of the agent, with its names in the module."""

    toolset: Toolset
    parameter: str
    """Unique among the toolsets, whether or not it has an executor."""
    module: str

    @property
    def is_executed(self) -> bool:
        return bool(self.toolset.tools) and not self.toolset.exporter

    def registration(self, imports: Imports) -> str:
        """Return the expression to register; a toolset with only native tools has no executor."""
        if self.toolset.tools:
            return f"{self.module}.registration({self.parameter if self.is_executed else ''})"
        more = f", instructions={quote(self.toolset.instructions)}" if self.toolset.instructions else ""
        maker, native = imports.name(RUNTIME, "StaticToolset"), f"{self.module}.{names.NATIVE_TOOLS}"
        name = quote(names.qualified(self.toolset))
        return f"{maker}(name={name}, bound=(), native={native}{more})"


def _agent_toolsets(agent: Agent) -> list[_AgentToolset]:
    """Return the distinct toolsets; a module with the name of a parameter gets another name."""
    toolsets = toolsets_of(agent)
    parameters = names.toolset_names(toolsets, REGISTER_PARAMETERS)
    wired: list[_AgentToolset] = []
    for toolset, parameter in zip(toolsets, parameters, strict=True):
        is_executed = bool(toolset.tools) and not toolset.exporter
        others = {*parameters, *(other.module for other in wired)}
        taken = (others if is_executed else others - {parameter}) | set(_FUNCTIONS)
        wired.append(
            _AgentToolset(toolset=toolset, parameter=parameter, module=names.unused_name(parameter, taken))
        )
    return wired


def _imports() -> Imports:
    imports = Imports()
    imports.name("__future__", "annotations")
    imports.name("collections.abc", "Sequence")
    imports.name("typing", "Final")
    for name in ("DynamicToolset", "Runtime"):
        imports.name(RUNTIME, name)
    for name in (
        "AgentClient",
        "AgentRegistration",
        "AgentSpec",
        "InstructionsFunction",
        "Planner",
        "agents_of",
    ):
        imports.name(_AGENTS, name)
    return imports


def _facts(agent: Agent, imports: Imports) -> Iterator[str]:
    """Yield the keyword arguments of the spec; empty values are left out."""
    yield "id=AGENT_ID"
    yield f"description={quote(agent.description)}"
    tools = [_tool(tool, imports) for used in agent.uses for tool in used.tools]
    if tools:
        yield f"tools=({', '.join(tools)},)"
    if agent.transfers:
        yield f"transfers={strings(agent.transfers)}"
    if agent.instructions:
        yield f"instructions={quote(agent.instructions)}"
    if non_default_limits(agent.policy):
        yield f"policy={_limits(agent.policy, imports)}"


def _tool(used: UsedTool, imports: Imports) -> str:
    confirm = ""
    if confirmation := own_confirmation(used):  # the tool's own payload applies
        confirm = f", {confirmed(replace(confirmation, payload=None), imports)}"
    maker = imports.name(_AGENTS, "AgentTool")
    return f"{maker}(id={quote(used.tool.id)}, name={quote(used.name)}{confirm})"


def _limits(of: RunPolicy | History, imports: Imports) -> str:
    arguments = (f"{name}={_limit(value, imports)}" for name, value in non_default_limits(of).items())
    return f"{imports.name(_AGENTS, type(of).__name__)}({', '.join(arguments)})"


def _limit(value: object, imports: Imports) -> str:
    match value:
        case History():
            return _limits(value, imports)
        case str():
            return quote(value)
        case _:
            return repr(value)


def _register_text(has_executors: bool) -> str:
    executes = " and the executors of its tools" if has_executors else ""
    return (
        f"Register the agent with its planner{executes}.\n\n"
        "`planner` is a planner, or the name of one: `demo`, or a model such as `openai:gpt-5`. The default\n"
        "is the one in the settings of the project. `instructions` returns further instructions for the\n"
        "model before each planning, in addition to those of the design.\n\n"
        "`dynamic` are toolsets of the host that list their tools before each planning.\n\n"
        "Raises:\n    RegistrationError: the agent is already registered, or an argument does not fit it."
    )


@frozen_record
class AgentSpecsView:
    template: ClassVar[str] = "agent_specs.py.jinja"
    docstring: str
    imports: str
    ids: tuple[str, ...]
    """Literals of the ids."""
    specs: tuple[str, ...]
    """Expressions."""


def agent_specs_view(agent: Agent) -> AgentSpecsView:
    printer = _Printer(agent)
    specs = tuple(printer.spec(used.toolset, tool) for used in agent.uses for tool in used.tools)
    ids = dict.fromkeys(quote(tool.tool.id) for used in agent.uses for tool in used.tools)
    return AgentSpecsView(
        docstring=docstring(f"Specs of every tool that {agent.id} can call, under its names."),
        imports=printer.text(bool(ids)),
        ids=tuple(ids),
        specs=specs,
    )


class _Printer:
    """Prints the specs of one agent, and collects their imports."""

    def __init__(self, agent: Agent) -> None:
        called = {names.qualified(used.toolset) for used in agent.uses if used.tools}
        toolsets = [toolset for toolset in toolsets_of(agent) if names.qualified(toolset) in called]
        modules = names.toolset_names(toolsets, ())
        self._package: Module = agent_package(agent)
        self._imports = Imports(modules)
        self._modules = dict(zip(map(names.qualified, toolsets), modules, strict=True))

    def spec(self, toolset: Toolset, used: UsedTool) -> str:
        *parents, module = toolset_package(toolset)
        alias = self._modules[names.qualified(toolset)]
        self._imports.name(relative(self._package, tuple(parents)), module, alias)
        spec, changes = f"{alias}.{names.spec(used.tool)}", list(self._changes(toolset, used, alias))
        if not changes:
            return spec
        return f"{self._imports.name('dataclasses', 'replace')}({', '.join([spec, *changes])})"

    def _changes(self, toolset: Toolset, used: UsedTool, alias: str) -> Iterator[str]:
        """Yield the facts in which the agent differs from the toolset."""
        if used.name != names.wire(toolset, used.tool):
            yield f"name={quote(used.name)}"
        if confirmation := own_confirmation(used):
            codecs = names.unused_name(f"{alias}_codecs", self._modules.values())
            if confirmation.payload:
                self._imports.name(relative(self._package, toolset_package(toolset)), "codecs", codecs)
            yield confirmed(confirmation, self._imports, codecs)

    def text(self, has_tools: bool) -> str:
        self._imports.name("__future__", "annotations")
        self._imports.name("typing", "Any")
        self._imports.name(RUNTIME, "ToolSpec")
        if has_tools:
            self._imports.name("typing", "Literal")
        return self._imports.text()

"""The views of the TypeScript tree: shared types, a toolset, the client, the index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Error
from toolgen.dsl.expr.tree import Design, Tool, Toolset

from ..views.types import roles
from .declarations import TypePrinter, TypeView, may_be_empty
from .imports import TypeImports
from .layout import (
    CLIENT,
    SURFACE,
    TYPES,
    FileScope,
    answer_type,
    call_type,
    method_names,
    specifier,
    toolset_class,
    toolset_file,
    unused_name,
)
from .spelling import Members
from .text import WIDTH, comment, quote, union, value

_NEVER: Final = ("never",)
_BREAK: Final = "\n  "


@frozen_record
class TypesView:
    template: ClassVar[str] = "typescript/types.ts.jinja"
    comment: str
    imports: str
    types: tuple[TypeView, ...]


@frozen_record
class MethodView:
    """The method that calls one tool."""

    comment: str
    signature: str
    call: str
    """The type of the call."""
    id: str


@frozen_record
class ToolsetView:
    template: ClassVar[str] = "typescript/toolset.ts.jinja"
    imports: str
    types: tuple[TypeView, ...]
    comment: str
    name: str
    methods: tuple[MethodView, ...]


@frozen_record
class ToolsetProperty:
    """A toolset as a property of the client, and a namespace of the index."""

    comment: str
    name: str
    type: str
    """The class of its tools."""
    imported: str
    """The class in the import statement, with the name in its file if it is another one."""
    specifier: str


@frozen_record
class ClientView:
    template: ClassVar[str] = "typescript/client.ts.jinja"
    comment: str
    agents: str
    """The type of the ids of agents; "" for none."""
    toolsets: tuple[ToolsetProperty, ...]


@frozen_record
class IndexView:
    template: ClassVar[str] = "typescript/index.ts.jinja"
    has_agents: bool
    has_types: bool
    toolsets: tuple[ToolsetProperty, ...]


def types_view(design: Design, scope: FileScope) -> TypesView:
    imports = TypeImports()
    printer = TypePrinter(scope, imports, types="", surface=specifier(SURFACE, TYPES))
    types = tuple(printer.types(scope.crossing.all))
    text = f"Shared types of the tools of {design.name}."
    return TypesView(comment=comment(text), imports=imports.text(), types=types)


def toolset_view(toolset: Toolset, scope: FileScope, name: str) -> ToolsetView:
    """Return the view of the file of a toolset; `name` is its property of the client."""
    path, imports = toolset_file(toolset), TypeImports()
    printer = TypePrinter(scope, imports, types=specifier(TYPES, path), surface=specifier(SURFACE, path))
    types = list(printer.types((object_.name for object_ in toolset.objects), roles(toolset.tools)))
    own = _OwnNames(scope)
    methods = []
    for tool, method in zip(toolset.tools, method_names(toolset), strict=True):
        call = own.name(call_type(tool))
        generic = printer.used("LenientCall" if tool.facts.is_lenient else "Call")
        alias = _generic(generic, _parameters(tool, printer), f"export type {call} = ")
        text = f"A call of `{tool.name}`, distinguished by its status."
        types.append(TypeView(comment=comment(text), name=call, alias=alias))
        types += _answers(tool, printer, own)
        methods.append(_method(tool, method, call, printer, name))
    for used in ("CallOptions", "Surface"):
        printer.used(used)
    return ToolsetView(
        imports=imports.text(),
        types=tuple(types),
        comment=comment(toolset.description),
        name=own.name(toolset_class(toolset)),
        methods=tuple(methods),
    )


def _generic(name: str, parameters: list[Members], before: str) -> str:
    """Return a generic type with its parameters, each on its own line if they do not fit on one."""
    line = f" {name}<{', '.join(map(' | '.join, parameters))}>"
    if len(before) + len(line) <= WIDTH:
        return line
    listed = (union(members, indent=0, taken=3).lstrip() for members in parameters)
    return f" {name}<{','.join(f'{_BREAK}{each}' for each in listed)}\n>"


class _OwnNames:
    """Unique names for declarations that are not types of the design."""

    def __init__(self, scope: FileScope) -> None:
        self._taken = {*scope.shared, *scope.names["sent"].values(), *scope.names["received"].values()}

    def name(self, wanted: str) -> str:
        name = unused_name(wanted, self._taken)
        self._taken.add(name)
        return name


def _parameters(tool: Tool, printer: TypePrinter) -> list[Members]:
    """Return the type parameters of a call: result, artifacts, declared errors, acknowledgement."""
    artifacts = tuple(
        f"{printer.used('Artifact')}<{quote(part.kind)}, {printer.reference('received', part.type)}>"
        for part in tool.artifacts
    )
    errors = tuple(_error(error, printer) for error in tool.errors)
    ack = tool.long_running.ack if tool.long_running else None
    parameters = [
        (printer.reference("received", tool.result.name),),
        artifacts or _NEVER,
        errors or _NEVER,
        (printer.reference("received", ack),) if ack else _NEVER,
    ]
    while parameters[-1] == _NEVER:
        parameters.pop()
    return parameters


def _error(error: Error[str], printer: TypePrinter) -> str:
    details = f", {printer.reference('received', error.type)}" if error.type else ""
    if error.type and printer.may_be_empty(error.type):
        details += " | undefined"  # the surface omits empty details
    return f"{printer.used('DeclaredError')}<{quote(error.name)}{details}>"


def _answers(tool: Tool, printer: TypePrinter, own: _OwnNames) -> Iterator[TypeView]:
    """Yield the type of the answers to a suspended call, if the design declares their content."""
    types = []
    if tool.confirmation and tool.confirmation.payload:
        types.append(f"{printer.used('Approval')}<{printer.reference('sent', tool.confirmation.payload)}>")
    elif tool.confirmation and tool.long_running:
        types.append(printer.used("Approval"))
    if tool.long_running:
        types.append(f"{printer.used('WorkAnswer')}<{printer.reference('sent', tool.result.name)}>")
    if types:
        text = f"An answer to a suspended call of `{tool.name}`."
        name = own.name(answer_type(tool))
        alias = union(types, indent=0, taken=len(f"export type {name} =;"))
        yield TypeView(comment=comment(text), name=name, alias=alias)


def _method(tool: Tool, name: str, call: str, printer: TypePrinter, toolset: str) -> MethodView:
    payload = printer.reference("sent", tool.payload.name)
    default = "" if _required(tool) else " = {}"
    return MethodView(
        comment=comment(_description(tool), _tags(tool, f"client.tools.{toolset}.{name}"), indent=2),
        signature=_signature(name, [f"payload: {payload}{default}", "options?: CallOptions"], call),
        call=call,
        id=quote(tool.id),
    )


def _signature(name: str, parameters: list[str], call: str) -> str:
    line = f"async {name}({', '.join(parameters)}): Promise<{call}> {{"
    if len(line) + 2 <= WIDTH:
        return line
    listed = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"async {name}(\n{listed}  ): Promise<{call}> {{"


def _required(tool: Tool) -> bool:
    """Return whether a tool has required arguments."""
    return not may_be_empty(tool.payload, "sent")


def _description(tool: Tool) -> str:
    """Return the description of a tool for callers."""
    facts = [tool.facts.description]
    if tool.confirmation:
        some = " for some values" if tool.confirmation.when else ""
        facts.append(f"A person has to approve it first{some}.")
    if tool.long_running:
        facts.append("Its result can arrive later.")
    return "\n\n".join(filter(None, (facts[0], " ".join(facts[1:]))))


def _tags(tool: Tool, method: str) -> Iterator[tuple[str, str]]:
    if tool.examples:
        yield "example", f"```ts\nawait {method}({value(tool.examples[0].args)});\n```"
    if deprecated := tool.facts.deprecated:
        use = f" Use {deprecated.replacement}." if deprecated.replacement else ""
        yield "deprecated", f"{deprecated.reason}{use}"


def _properties(toolsets: Sequence[tuple[Toolset, str, ToolsetView]]) -> tuple[ToolsetProperty, ...]:
    properties, taken = [], {"AgentId", "Client", "Surface", "SurfaceOptions"}
    for toolset, name, view in toolsets:
        alias = unused_name(view.name, taken)
        taken.add(alias)
        properties.append(
            ToolsetProperty(
                comment=comment(toolset.description, indent=4),
                name=name,
                type=alias,
                imported=view.name if alias == view.name else f"{view.name} as {alias}",
                specifier=specifier(toolset_file(toolset), CLIENT),
            )
        )
    return tuple(properties)


def client_view(design: Design, toolsets: Sequence[tuple[Toolset, str, ToolsetView]]) -> ClientView:
    """Return the view of the client; each toolset comes with its property and its view."""
    agents = [quote(agent.id) for service in design.services for agent in service.agents]
    return ClientView(
        comment=comment(f"A client of the surface of {design.name}: {design.description}"),
        agents=union(agents, indent=0, taken=len("export type AgentId =;")) if agents else "",
        toolsets=_properties(toolsets),
    )


def index_view(
    design: Design, toolsets: Sequence[tuple[Toolset, str, ToolsetView]], shared: FileScope
) -> IndexView:
    return IndexView(
        has_agents=any(service.agents for service in design.services),
        has_types=bool(shared.crossing.all),
        toolsets=_properties(toolsets),
    )

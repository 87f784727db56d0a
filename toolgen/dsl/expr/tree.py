"""The checked design: frozen, resolved, valid by construction.

`toolgen.dsl.build` creates it from clauses; the generator reads it. The shapes of data are in
`toolgen.shapes.fields`; the facts of tools, with class names for types, are in `toolgen.contract.tool_facts`.
This module defines the elements that have a place in the design.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, TypeAlias

from toolgen.contract.json_value import Json
from toolgen.contract.policy import RunPolicy
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Artifact, Bounded, Confirmation, Error, LongRunning, ToolFacts
from toolgen.contract.transport import HTTP, Function, Server
from toolgen.shapes.fields import EnumType, Field, Objects, ObjectType, UnionType

from .source import Source


@frozen_record
class Example:
    args: dict[str, Json]
    result: Json = None
    """Example of the result; None if there is none."""
    source: Source | None = field(default=None, compare=False, repr=False)
    """Place in the source."""


# Conversions of a value. `Same` passes the value on; the others rebuild it.


@frozen_record
class Same:
    """The value fits unchanged."""


@frozen_record
class Each:
    """Every item of an array, or every value of a map, is converted."""

    of: Conversion
    container: Literal["array", "map"]


@frozen_record
class OrNone:
    """None stays None; everything else is converted."""

    of: Conversion


@frozen_record
class Rebuild:
    """An object becomes another object, by the mapping of these two classes in its `Binding`."""

    source: str
    target: str


@frozen_record
class Choose:
    """A tagged union becomes another: for each tag, the classes on both sides."""

    branches: tuple[Rebuild, ...]


Conversion: TypeAlias = "Same | Each | OrNone | Rebuild | Choose"

Computed = Literal["returned", "truncated"]


@frozen_record
class Assignment:
    """One field of the target object and the source of its value.

    Exactly one of `source` and `computed` is set; target fields without a source have no assignment.
    """

    target: Field
    source: Field | None = None
    conversion: Conversion = Same()
    computed: Computed | None = None
    """A bound that is computed: from the length of the only array, or from the total and the cursor."""


@frozen_record
class ObjectMapping:
    """How one object is built from another, field by field in the target's order."""

    source: str
    target: str
    assignments: tuple[Assignment, ...]
    keeps_keys: bool = False
    """Whether keys beyond the fields are copied, from one open object to another."""


@frozen_record
class ArtifactSource:
    """An artifact that is filled from a field of the bound method's result."""

    kind: str
    source: Field
    conversion: Conversion


@frozen_record
class Binding:
    """The method behind a tool and the transforms on both sides of it.

    Method classes are in the service's module, tool classes in the toolset's. The mappings of nested objects
    are in order of first use, each pair of source and target once for each side.
    """

    service: str
    method: str
    payload: ObjectMapping
    result: ObjectMapping
    artifacts: tuple[ArtifactSource, ...] = ()
    payload_objects: tuple[ObjectMapping, ...] = ()
    """Mappings of nested objects, from the tool's classes to the method's."""
    result_objects: tuple[ObjectMapping, ...] = ()
    """Mappings of nested objects, from the method's classes to the tool's."""


@frozen_record
class NativeTool:
    """A tool that the model's provider runs itself."""

    id: str
    """`service.toolset.kind`."""
    provider: str
    kind: str
    config: Mapping[str, Json]


@frozen_record
class Tool:
    id: str
    """`service.toolset.tool`."""
    name: str
    facts: ToolFacts
    payload: ObjectType
    """Arguments that the model sends, without injected fields."""
    result: ObjectType
    """Result that the model receives, with bounds and without artifacts."""
    injected: tuple[Field, ...] = ()
    artifacts: tuple[Artifact[str], ...] = ()
    bounded: Bounded | None = None
    binding: Binding | None = None
    examples: tuple[Example, ...] = ()
    confirmation: Confirmation[str] | None = None
    long_running: LongRunning[str] | None = None
    errors: tuple[Error[str], ...] = ()
    """The tool's own errors, then the errors of the bound method."""
    suppressed: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Reasons for suppressed rules of `toolgen lint`, by code."""
    source: Source | None = field(default=None, compare=False, repr=False)
    """Place in the source; None if it is not in an author's source."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes that cross the JSON boundary in addition to payload and result, each once."""
        confirm, late = self.confirmation, self.long_running
        names = [artifact.type for artifact in self.artifacts]
        names += [error.type for error in self.errors if error.type is not None]
        further = (confirm.payload if confirm else None, *((late.ack, late.progress) if late else ()))
        return tuple(dict.fromkeys((*names, *(name for name in further if name is not None))))


@frozen_record
class Toolset:
    name: str
    title: str | None
    """Name for people, if the author gave one."""
    description: str
    service: str
    """Name of the owning service, as written."""
    tools: tuple[Tool, ...]
    """Tools that toolgen executes; empty if all are native."""
    objects: tuple[ObjectType, ...]
    """Every object of its `types` module except the shared ones, in order of first use."""
    prefix: str = ""
    instructions: str = ""
    native: tuple[NativeTool, ...] = ()
    exporter: str = ""
    """Id of the agent whose runs implement the tools; "" for tools with an executor."""
    lock: str = ""
    """Path of the lock of the MCP server that executes the tools; "" for tools that toolgen executes."""
    suppressed: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Reasons for rules of `toolgen lint` that are suppressed for all of its tools, by code."""
    source: Source | None = field(default=None, compare=False, repr=False)
    """Place in the source; None if it is not in an author's source."""


@frozen_record
class UsedTool:
    """A tool as one agent calls it."""

    tool: Tool
    name: str
    """The wire name within the agent: `Use.prefix + Toolset.prefix + tool.name`."""
    confirmation: Confirmation[str] | None = None
    """The agent's own confirmation, which replaces the tool's; None keeps the tool's."""


@frozen_record
class UsedToolset:
    """The tools of one toolset that an agent uses, in the toolset's order."""

    toolset: Toolset
    prefix: str
    tools: tuple[UsedTool, ...]


@frozen_record
class Export:
    """A toolset that an agent implements."""

    toolset: Toolset
    prompts: Mapping[str, str]
    """First message of the child run by tool name: a template with names of the payload.

    If a tool has none, the message is the canonical JSON of the payload.
    """


@frozen_record
class Agent:
    """A planner with tools."""

    id: str
    """`service.agent`."""
    name: str
    service: str
    """Name of the service as written."""
    description: str
    uses: tuple[UsedToolset, ...]
    exports: tuple[Export, ...] = ()
    transfers: tuple[str, ...] = ()
    """Ids of the agents to which this agent can transfer the conversation."""
    instructions: str = ""
    """Instructions for the model, with state keys in braces."""
    policy: RunPolicy = field(default_factory=RunPolicy)


@frozen_record
class Completion:
    """A typed final answer of a model, without tools."""

    id: str
    """`service.completion`."""
    name: str
    description: str
    result: ObjectType


@frozen_record
class Method:
    name: str
    description: str
    payload: ObjectType
    result: ObjectType
    errors: tuple[Error[str], ...] = ()
    transport: HTTP | Function | None = None
    """Transport of the generated client; None for a method that you implement."""


ClientKind: TypeAlias = Literal["client", "functions"]
"""A generated implementation of a service, over HTTP or with functions, and the name of its module."""
_CLIENTS: Final[Mapping[type[HTTP | Function], ClientKind]] = {HTTP: "client", Function: "functions"}


@dataclass(frozen=True, kw_only=True)
class Service:
    name: str
    description: str
    methods: tuple[Method, ...]
    toolsets: tuple[Toolset, ...]
    """Toolsets that it owns: listed in the service, or used only by its agents."""
    objects: tuple[ObjectType, ...]
    """Every object of its `service` module except the shared ones."""
    agents: tuple[Agent, ...] = ()
    completions: tuple[Completion, ...] = ()
    completion_objects: tuple[ObjectType, ...] = ()
    """Every object of its `completions` module except the shared ones."""
    servers: tuple[Server, ...] = ()
    """Servers of its HTTP methods, the preferred one first."""
    is_lenient: bool = False
    """Whether responses that do not fit are passed on."""

    @cached_property
    def by_name(self) -> Mapping[str, Method]:
        """The methods by name."""
        return {method.name: method for method in self.methods}

    @cached_property
    def clients(self) -> tuple[ClientKind, ...]:
        """The clients that are generated for it, by the transports of its methods."""
        return tuple(kind for kind in _CLIENTS.values() if self.methods_of(kind))

    def methods_of(self, client: ClientKind) -> tuple[Method, ...]:
        """Return the methods of a generated client."""
        return tuple(
            method
            for method in self.methods
            if method.transport and _CLIENTS[type(method.transport)] == client
        )

    @cached_property
    def client(self) -> ClientKind | None:
        """The client that implements all of its methods; None if you implement some of them."""
        is_whole = len(self.clients) == 1 and all(method.transport for method in self.methods)
        return self.clients[0] if is_whole else None


@dataclass(frozen=True, kw_only=True)
class Design:
    name: str
    description: str
    services: tuple[Service, ...]
    types: tuple[ObjectType, ...]
    """Shared objects, `gen/types.py`: named types and their nested objects, in order of first use."""
    enums: tuple[EnumType, ...]
    """Named enums, all shared."""
    unions: tuple[UnionType, ...]
    """Named unions, all shared; the objects of their branches are among `types`."""
    version: str = ""
    """Version of the design's release (semver.org 2.0.0); "" if there is none."""

    @cached_property
    def shared(self) -> Objects:
        return {object_.name: object_ for object_ in self.types}

    @cached_property
    def by_name(self) -> Mapping[str, Service]:
        return {service.name: service for service in self.services}

    def bound_method(self, binding: Binding) -> Method:
        """Return the method behind a tool."""
        return self.by_name[binding.service].by_name[binding.method]

    def needs_executor(self, toolset: Toolset) -> bool:
        """Return whether the author writes an executor for the tools: clients do not implement them all."""
        return any(
            tool.binding is None or self.by_name[tool.binding.service].client is None
            for tool in toolset.tools
        )

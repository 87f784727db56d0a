"""Files and names of types in the TypeScript tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Final

from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Design, Tool, Toolset
from toolgen.shapes.fields import Objects
from toolgen.shapes.naming import class_name, module_name

from .. import layout, names
from ..layout import class_names
from .sides import CrossingTypes, Named, Side, reached, two_sided

SURFACE: Final = "surface.ts"
PLAIN: Final = ("surface.ts", "records.ts", "events.ts", "forms.ts", "controls.ts", "schemas.ts")
"""Files that are the same for every design: the client runtime, and forms for any catalog."""
TYPES: Final = "types.ts"
CLIENT: Final = "client.ts"
INDEX: Final = "index.ts"

_TAKEN: Final = frozenset(
    "Approval Artifact Call CallOptions DeclaredError Hidden Json LenientCall Promise Record Surface "
    "WorkAnswer".split()
)
"""Names that files import, or that the language defines."""
_PROPERTIES: Final = frozenset("constructor default prototype then".split())
"""Properties with a special meaning in JavaScript."""


@frozen_record
class FileScope:
    """The types that one file declares, and the types that it can refer to."""

    objects: Objects
    crossing: CrossingTypes
    """Types that cross the surface; in the file of shared types, from the tools of all toolsets."""
    names: Mapping[Side, Mapping[str, str]]
    """Names of types in TypeScript, by side and by name in the design."""
    shared: frozenset[str]
    """TypeScript names of the types in the file of shared types."""

    def sides(self, name: str) -> tuple[Side, ...]:
        """Return the sides for which a type is declared; one if they do not differ."""
        if self.names["sent"][name] == self.names["received"][name]:
            return ("received",) if name in self.crossing.received else ("sent",)
        sides: tuple[tuple[Side, Mapping[str, Named]], ...] = (
            ("sent", self.crossing.sent),
            ("received", self.crossing.received),
        )
        return tuple(side for side, types in sides if name in types)


def toolsets_of(design: Design) -> list[Toolset]:
    """Return the toolsets whose tools can be called, in the design's order."""
    return [toolset for service in design.services for toolset in service.toolsets if toolset.tools]


def toolset_file(toolset: Toolset) -> str:
    """Return the path of the file of a toolset: `assistant/devices.ts`."""
    if not toolset.exporter:
        return f"{module_name(toolset.service)}/{module_name(toolset.name)}.ts"
    service, _, agent = toolset.exporter.rpartition(".")
    return f"{module_name(service)}/{module_name(agent)}/{module_name(toolset.name)}.ts"


def specifier(path: str, base: str) -> str:
    """Return the specifier by which the file at `base` imports the compiled file of `path`."""
    up = "../" * (len(PurePosixPath(base).parts) - 1) or "./"
    return f"{up}{path.removesuffix('.ts')}.js"


def property_names(toolsets: list[Toolset]) -> list[str]:
    """Return the property name of each toolset, for the client and the index."""
    taken = {"client", "events", "surface", "types"}
    return unique_names([camel(name) for name in names.toolset_names(toolsets, taken)])


def method_names(toolset: Toolset) -> list[str]:
    """Return the method name of each tool."""
    return unique_names([camel(tool.name) for tool in toolset.tools])


def unique_names(wanted: list[str]) -> list[str]:
    """Return the names; duplicates and special properties of JavaScript get underscores."""
    unique: list[str] = []
    for name in wanted:
        unique.append(unused_name(name, {*unique, *_PROPERTIES}))
    return unique


def camel(name: str) -> str:
    """Return the property or method of a name: `list_devices` gives `listDevices`."""
    first, *others = [word for word in name.split("_") if word] or ["_"]
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def unused_name(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name


def toolset_class(toolset: Toolset) -> str:
    return class_name(toolset.name, "tools")


def call_type(tool: Tool) -> str:
    return class_name(tool.name, "call")


def answer_type(tool: Tool) -> str:
    return class_name(tool.name, "answer")


def shared_scope(design: Design) -> FileScope:
    """Return the scope of the file of shared types."""
    python = layout.shared_scope(design)
    by_toolset = [
        reached(toolset.tools, {**design.shared, **_own(toolset)}) for toolset in toolsets_of(design)
    ]
    crossing = CrossingTypes(
        sent={
            name: each for reach in by_toolset for name, each in reach.sent.items() if name in python.modules
        },
        received={
            name: each
            for reach in by_toolset
            for name, each in reach.received.items()
            if name in python.modules
        },
    )
    named = {name: unused_name(name, _TAKEN) for name in python.modules}
    inputs = {
        name: unused_name(f"{named[name]}Input", {*named.values(), *_TAKEN})
        for name in two_sided(crossing.all, python.objects)
        if name in crossing.sent
    }
    return FileScope(
        objects=python.objects,
        crossing=crossing,
        names={"sent": {**named, **inputs}, "received": named},
        shared=frozenset((*named.values(), *inputs.values())),
    )


def toolset_scope(toolset: Toolset, shared: FileScope) -> FileScope:
    """Return the scope of the file of a toolset."""
    own = _own(toolset)
    crossing = reached(toolset.tools, {**shared.objects, **own})
    taken = {*shared.shared, *_TAKEN}
    named = {name: unused_name(name, taken) for name in class_names(toolset.objects)}
    inputs = {
        name: unused_name(f"{named[name]}Input", {*named.values(), *taken})
        for name in two_sided(crossing.all, {**shared.objects, **own})
        if name in own and name in crossing.sent and name in crossing.received
    }
    return FileScope(
        objects={**shared.objects, **own},
        crossing=crossing,
        names={
            "sent": {**shared.names["sent"], **named, **inputs},
            "received": {**shared.names["received"], **named},
        },
        shared=shared.shared,
    )


def _own(toolset: Toolset) -> Objects:
    return {object_.name: object_ for object_ in toolset.objects}

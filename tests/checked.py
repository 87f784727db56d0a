"""Small designs and what `build` makes of them."""

from toolgen.contract.findings import Finding, render
from toolgen.dsl import (
    Attribute,
    Design,
    Method,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    build,
)
from toolgen.dsl.expr import tree
from toolgen.shapes.fields import (
    Field,
    ObjectType,
)

SESSION = Attribute("session_id", String, "Session.", required=True)
DEVICE = Type("Device", "A device.", Attribute("id", String, "Identifier.", required=True))


def built(*children: Service | Type) -> tree.Design:
    evaluation = build(Design("home", "A home.", *children))
    assert render(evaluation.diagnostics, "text", "/") == ""
    assert evaluation.design is not None
    return evaluation.design


def codes(*children: Service | Type) -> list[str]:
    """Return the codes of everything that is wrong with a design."""
    return [diagnostic.code for diagnostic in build(Design("home", "A home.", *children)).diagnostics]


def only(*children: Service | Type) -> Finding:
    """Return the one thing that is wrong with a design."""
    (diagnostic,) = build(Design("home", "A home.", *children)).diagnostics
    return diagnostic


def service(method: Method, tool: Tool) -> Service:
    return Service("Devices", "Devices.", method, Toolset("tools", "Tools.", tool))


def bound(method: Method, tool: Tool) -> tree.Tool:
    """Return the tool of a design in which it is bound to the method."""
    return built(service(method, tool)).services[0].toolsets[0].tools[0]


def names(object_: ObjectType) -> list[str]:
    return [field.name for field in object_.fields]


def filled(mapping: tree.ObjectMapping) -> dict[str, str | None]:
    """Return target name by source name, or what is computed."""
    return {one.target.name: one.source.name if one.source else one.computed for one in mapping.assignments}


def field_of(type_: ObjectType, name: str) -> Field:
    field = type_.field(name)
    assert field is not None
    return field

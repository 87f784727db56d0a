"""Classes and aliases for schemas, from the text that datamodel-code-generator writes.

It gets all normal forms as one schema, with a name for each class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from toolgen.contract.json_value import Json, compact
from toolgen.shapes.fields import Foreign
from toolgen.shapes.foreign.nodes import MEANINGS, Node, nodes_in, reference, target, targets
from toolgen.shapes.naming import field_name
from toolgen.shapes.patterns import to_rust

from .annotations import Annotations, read_field

Names = Mapping[str, str]

_NOTES: Final = frozenset(["title", "examples", "deprecated", "format", "discriminator", MEANINGS])
"""Keywords of the normal form that say nothing about a Python type."""


def _definition_names(index: int, foreign: Foreign, root: str) -> dict[str, str]:
    """Return the name of each class of a schema, and of its root, among the definitions of all schemas.

    datamodel-code-generator makes names for what has none by appending to these: no such name is one
    of these, and no name that a module has is like them.
    """
    names = dict.fromkeys([*foreign.classes, root])
    return {name: f"S{index}x{number}x" for number, name in enumerate(names)}


def combined(schemas: Sequence[tuple[str, Foreign]]) -> tuple[dict[str, Node], dict[str, str]]:
    """Return the definitions of all schemas, and the attribute of each property as `Class.key`."""
    definitions: dict[str, Node] = {}
    attributes: dict[str, str] = {}
    for index, (name, foreign) in enumerate(schemas):
        names = _definition_names(index, foreign, name)
        for class_name, schema in foreign.classes.items():
            definitions[names[class_name]] = _class(schema, names)
            for key, attribute in _attribute_names(schema).items():
                attributes[f"{names[class_name]}.{key}"] = attribute
        if name not in foreign.classes:
            definitions[names[name]] = _holder(_node(foreign.root, names))
    return definitions, attributes


def _holder(root: Node) -> Node:
    """Return a class with a root that is no class: datamodel-code-generator gives some roots a name twice."""
    return {"type": "object", "properties": {"root": root}, "required": ["root"]}


def _attribute_names(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the attribute of each property of a class; two that would be equal are numbered."""
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    names = {}
    for key in schema["properties"]:
        name = wanted = field_name(key)
        while name in taken:
            number = numbers[wanted] = numbers.get(wanted, 1) + 1
            name = f"{wanted.rstrip('_')}_{number}"
        taken.add(name)
        names[key] = name
    return names


def _class(schema: Node, names: Names) -> Node:
    required = schema["required"]
    must = set(required)
    return {
        "type": "object",
        "properties": {
            key: _property(node, names, key in must) for key, node in schema["properties"].items()
        },
        "required": required,
        "additionalProperties": schema["additionalProperties"],
    }


def _property(node: Node, names: Names, is_required: bool) -> Node:
    written = _node(node, names)
    if "description" in node:
        written["description"] = node["description"]
    if "default" in node and not is_required and _is_plain(node["default"]):
        written["default"] = _default(node)
    return written


def _is_plain(default: Json) -> bool:
    """Return whether a default can be written as it is, because calls cannot share and change it."""
    return default is not None and not isinstance(default, list | dict)


def _default(node: Node) -> Json:
    default: Json = node["default"]
    if isinstance(default, float) and default.is_integer() and node.get("type") != "number":
        return int(default)
    return default


def _node(node: Node, names: Names) -> Node:
    written: Node = {}
    for keyword, value in node.items():
        match keyword:
            case "$ref":
                written |= reference(names[target(node) or ""])
            case "anyOf":
                written[keyword] = [_node(branch, names) for branch in value]
            case "items" | "additionalProperties" | "propertyNames":
                written[keyword] = _node(value, names)
            case "pattern":
                written[keyword] = to_rust(value)
            case "enum" if isinstance(value[0], bool):
                written["const"] = value[0]
            case "description" | "default":
                pass
            case _ if keyword not in _NOTES:
                written[keyword] = value
            case _:
                pass
    return written


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignField:
    """One attribute of a class: its annotation, and what stands after `=`."""

    name: str
    annotation: ast.expr
    default: ast.expr | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignClass:
    name: str
    description: str
    is_open: bool
    fields: tuple[ForeignField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTypes:
    """What the types module of a schema has: its classes, and its root where that is none of them."""

    classes: tuple[ForeignClass, ...]
    alias: ast.expr | None


def foreign_types(schemas: Sequence[tuple[str, Foreign]]) -> dict[Foreign, ForeignTypes]:
    """Return the types of all schemas, each given with the name of its root, by one run.

    Equal schemas are in that run once, such as the addresses of an API, each of which is a `uri`.
    """
    if not schemas:
        return {}
    different: dict[str, tuple[str, Foreign]] = {}
    keys = [_content(name, foreign) for name, foreign in schemas]
    for key, schema in zip(keys, schemas, strict=True):
        different.setdefault(key, schema)
    places = {key: index for index, key in enumerate(different)}
    definitions, attributes = combined([*different.values()])
    module = ast.parse(_source(definitions, attributes))
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    aliases = {
        node.targets[0].id: node.value.args[1]
        for node in module.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
    }
    types = {
        key: _types(name, foreign, _definition_names(places[key], foreign, name), classes, aliases)
        for key, (name, foreign) in different.items()
    }
    return {foreign: types[key] for key, (_, foreign) in zip(keys, schemas, strict=True)}


def _content(name: str, foreign: Foreign) -> str:
    """Return the same text for schemas of the same types: the names of classes are among them."""
    content: Json = [name if name in foreign.classes else None, foreign.root, {**foreign.classes}]
    return compact(content)


def _types(
    name: str,
    foreign: Foreign,
    names: Mapping[str, str],
    classes: Mapping[str, ast.ClassDef],
    aliases: Mapping[str, ast.expr],
) -> ForeignTypes:
    own = {definition: class_name for class_name, definition in names.items()}
    annotations = Annotations(own, aliases, _tags(foreign))
    statements = []
    for class_name, schema in foreign.classes.items():
        keys = {attribute: key for key, attribute in _attribute_names(schema).items()}
        fields = []
        for node, attribute in _attributes(classes[names[class_name]]):
            annotation, default = read_field(node, keys[attribute], annotations)
            fields.append(ForeignField(name=attribute, annotation=annotation, default=default))
        description: Any = schema.get("description", "")
        is_open = schema["additionalProperties"] is True
        statements.append(
            ForeignClass(name=class_name, description=description, is_open=is_open, fields=tuple(fields))
        )
    if name in foreign.classes:
        return ForeignTypes(classes=tuple(statements), alias=None)
    ((held, _),) = _attributes(classes[names[name]])
    return ForeignTypes(classes=tuple(statements), alias=annotations.inner(held.annotation))


def _attributes(class_: ast.ClassDef) -> Iterator[tuple[ast.AnnAssign, str]]:
    """Yield the attributes of a class with their names."""
    for node in class_.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node, node.target.id


def _tags(foreign: Foreign) -> dict[frozenset[str], str]:
    """Return the attribute that tells the classes of a union apart, by those classes."""
    tags: dict[frozenset[str], str] = {}
    properties = (node for class_ in foreign.classes.values() for node in class_["properties"].values())
    for node in chain.from_iterable(map(nodes_in, (foreign.root, *properties))):
        if "discriminator" in node:
            branches = [name for name, _ in targets(node)]
            attributes = {_attribute_names(foreign.classes[name])[node["discriminator"]] for name in branches}
            if len(attributes) == 1 and len(branches) > 1:
                tags[frozenset(branches)] = attributes.pop()
    return tags


def _source(definitions: Mapping[str, Any], attributes: Mapping[str, str]) -> str:
    """Return the module of datamodel-code-generator, unformatted."""
    # Half a second of imports that only designs with a foreign schema pay for.
    from datamodel_code_generator import LiteralType, generate
    from datamodel_code_generator.enums import (
        DataModelType,
        InputFileType,
        NamingStrategy,
        TargetPydanticVersion,
    )
    from datamodel_code_generator.format import PythonVersion

    text = generate(
        {"$defs": dict(definitions)},
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        target_pydantic_version=TargetPydanticVersion.V2_12,
        enum_field_as_literal=LiteralType.All,
        naming_strategy=NamingStrategy.FullPath,
        model_name_map={reference(name)["$ref"]: name for name in definitions},
        aliases=dict(attributes),
        **_OPTIONS,
    )
    assert isinstance(text, str)
    return text


_OPTIONS: Final[Mapping[str, Any]] = {
    "formatters": [],
    "disable_timestamp": True,
    "skip_root_model": True,
    "use_annotated": True,
    "field_constraints": True,
    "use_single_value_enum_as_const": True,
    "keep_enum_member_values": True,
    "use_standard_collections": True,
    "use_union_operator": False,  # an operator is a level of the syntax tree
    "use_default_kwarg": True,
    "strict_nullable": True,
    "use_missing_sentinel": True,
    "use_type_alias": True,
    "use_single_dict_for_object_maps": True,
    "use_typed_nullable_map_values": True,
    "strict_refs": True,
    "allow_remote_refs": False,
}
"""Each keyword of the normal form in the field's annotation, and nothing that changes a name."""

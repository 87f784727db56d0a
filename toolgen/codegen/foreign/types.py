"""Classes and aliases for schemas, from the text that datamodel-code-generator writes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from toolgen.shapes.fields import Foreign
from toolgen.shapes.foreign.nodes import nodes_in, reference, targets

from .annotations import Annotations, read_field
from .schemas import attribute_names, combined, definition_names


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
    """Return the types of all schemas, each given with the name of its root, by one run."""
    if not schemas:
        return {}
    definitions, attributes = combined(schemas)
    module = ast.parse(_source(definitions, attributes))
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    aliases = {
        node.targets[0].id: node.value.args[1]
        for node in module.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
    }
    return {
        foreign: _types(name, foreign, definition_names(index, foreign, name), classes, aliases)
        for index, (name, foreign) in enumerate(schemas)
    }


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
        keys = {attribute: key for key, attribute in attribute_names(schema).items()}
        fields = []
        for node in classes[names[class_name]].body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                attribute = node.target.id
                annotation, default = read_field(node, keys[attribute], annotations)
                fields.append(ForeignField(name=attribute, annotation=annotation, default=default))
        description: Any = schema.get("description", "")
        is_open = schema["additionalProperties"] is True
        statements.append(
            ForeignClass(name=class_name, description=description, is_open=is_open, fields=tuple(fields))
        )
    alias = annotations.inner(aliases[names[name]]) if names[name] in aliases else None
    return ForeignTypes(classes=tuple(statements), alias=alias)


def _tags(foreign: Foreign) -> dict[frozenset[str], str]:
    """Return the attribute that tells the classes of a union apart, by those classes."""
    tags: dict[frozenset[str], str] = {}
    properties = (node for class_ in foreign.classes.values() for node in class_["properties"].values())
    for node in chain.from_iterable(map(nodes_in, (foreign.root, *properties))):
        if "discriminator" in node:
            branches = [name for name, _ in targets(node)]
            attributes = {attribute_names(foreign.classes[name])[node["discriminator"]] for name in branches}
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

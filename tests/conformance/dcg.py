"""datamodel-code-generator: pydantic types of JSON Schemas that know nothing of toolgen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from datamodel_code_generator import LiteralType, generate
from datamodel_code_generator.enums import (
    DataModelType,
    InputFileType,
    NamingStrategy,
    TargetPydanticVersion,
)
from datamodel_code_generator.format import PythonVersion

from tests.conformance.oracle import Schema


def root_name(index: int) -> str:
    """Return the class of the schema that stands there in the sequence."""
    return f"T{index}Root"


def source(schemas: Sequence[Schema]) -> str:
    """Return one module with the types of all schemas; the names of each have their own prefix."""
    definitions: dict[str, Any] = {}
    for index, schema in enumerate(schemas):
        named = {"Root": schema, **schema.get("$defs", {})}
        definitions |= {f"T{index}{name}": _renamed(of, f"T{index}") for name, of in named.items()}
    with warnings.catch_warnings():
        # The schema of an address has its form as a pattern too; dcg goes by the format.
        warnings.filterwarnings("ignore", message="Pydantic does not take pattern on IPv")
        text = generate(
            {"$defs": definitions},
            **_OPTIONS,
            model_name_map={f"#/$defs/{name}": name for name in definitions},
        )
    assert isinstance(text, str)
    return text


def _renamed(schema: Any, prefix: str) -> Any:
    """Return the schema without its `$defs`, referring to those that carry the prefix."""
    match schema:
        case list():
            return [_renamed(item, prefix) for item in schema]
        case {"$ref": str(target), **rest}:
            return {**rest, "$ref": target.replace("#/$defs/", f"#/$defs/{prefix}")}
        case dict():
            return {
                key: {name: _renamed(part, prefix) for name, part in value.items()}
                if key == "properties"
                else value
                if key in ("default", "examples", "enum", "const")
                else _renamed(value, prefix)
                for key, value in schema.items()
                if key != "$defs"
            }
        case _:
            return schema


_OPTIONS: Mapping[str, Any] = {
    "input_file_type": InputFileType.JsonSchema,
    "output_model_type": DataModelType.PydanticV2BaseModel,
    "target_python_version": PythonVersion.PY_311,
    "target_pydantic_version": TargetPydanticVersion.V2_14,
    "formatters": [],
    "disable_timestamp": True,
    "use_annotated": True,
    "field_constraints": True,
    "enum_field_as_literal": LiteralType.All,
    "use_single_value_enum_as_const": True,
    "read_const_beside_enum": True,
    "filter_literal_values": True,
    "use_standard_collections": True,
    "use_union_operator": True,
    "use_default_kwarg": True,
    "strict_nullable": True,
    "use_type_alias": True,
    "use_missing_sentinel": True,
    "intersect_allof_keywords": True,
    "keep_field_defaults_off_branch_roots": True,
    "keep_enum_member_values": True,
    "use_site_models_for_constrained_refs": True,
    "use_single_dict_for_object_maps": True,
    "read_unevaluated_properties": True,
    "use_typed_nullable_map_values": True,
    "naming_strategy": NamingStrategy.FullPath,
    "strict_refs": True,
    "allow_remote_refs": False,
    "strict_types": ["str", "int", "float", "bool"],
    # EmailStr wants one more package; the pattern beside the format stays.
    "type_mappings": ["string+email=string"],
}

"""The draft of JSON Schema that a schema is written in, and its upgrade to 2020-12."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import quote

from toolgen.contract.json_pointer import escaped, tokens_of
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .keywords import CONSTRAINTS, Schema
from .problems import SchemaProblem
from .schema_index import SchemaIndex, is_anchor, local_part

_AFTER_7: Final = frozenset(
    "prefixItems dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties minContains "
    "maxContains $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor contentSchema".split()
)
_AFTER_2019: Final = frozenset("prefixItems $dynamicRef $dynamicAnchor".split())
_NOT_FROM_2019: Final = ("$recursiveRef", "unevaluatedItems")
"""Keywords that have another meaning in 2020-12."""


@frozen_record
class SchemaDialect:
    """The differences of a draft from 2020-12 (its release notes, and draft-07 Core 8.3)."""

    metaschema: str
    ref_stands_alone: bool = False
    """Whether keywords beside `$ref` are ignored."""
    has_tuples: bool = True
    """Whether `items` can be a list, with `additionalItems` for the rest."""
    unknown: frozenset[str] = frozenset()
    """Keywords of 2020-12 that the draft does not define."""


_IN_FRAGMENT: Final = "%/?:@!$&'()*+,;=~"
"""Characters of a fragment besides letters, digits and `-._` (RFC 3986, 3.5); not `<` or `é`."""
_2020: Final = "https://json-schema.org/draft/2020-12/schema"
UNDECLARED: Final = SchemaDialect(metaschema=_2020)
"""2020-12, with the two forms of older drafts that schemas without `$schema` are seen to use."""
_OLD: Final = frozenset(("$schema", "$id", "items", "additionalItems", "dependencies"))
"""Keywords that the upgrade rewrites in a schema without a declared draft."""
_DIALECTS: Final = {
    "draft/2020-12": SchemaDialect(metaschema=_2020, has_tuples=False),
    "draft/2019-09": SchemaDialect(
        metaschema="https://json-schema.org/draft/2019-09/schema", unknown=_AFTER_2019
    ),
    "draft-07": SchemaDialect(
        metaschema="http://json-schema.org/draft-07/schema#", ref_stands_alone=True, unknown=_AFTER_7
    ),
    "draft-06": SchemaDialect(
        metaschema="http://json-schema.org/draft-06/schema#",
        ref_stands_alone=True,
        unknown=_AFTER_7 | {"if", "then", "else"},
    ),
}


_UNMOVED: Final = re.compile(r"#[A-Za-z0-9/_.$-]*")
"""References that stay what they are while nothing moves."""


def dialect_of(schema: Schema) -> SchemaDialect | SchemaProblem:
    """Return the dialect of `$schema`, 2020-12 if it is absent, or the reason why it cannot be read."""
    uri = schema.get("$schema")
    if uri is None:
        return UNDECLARED
    hint = "rewrite it in draft-07 or 2020-12, and name that in $schema"
    name = str(uri).rstrip("#").split("://")[-1].removeprefix("json-schema.org/").removesuffix("/schema")
    dialect = _DIALECTS.get(name) if isinstance(uri, str) else None
    if dialect is None:
        message = f"names the dialect {uri!r:.200}, which is not supported"
        return SchemaProblem(pointer="/$schema", message=message, hint=hint)
    return dialect


def unreadable(survey: SchemaIndex, dialect: SchemaDialect) -> list[SchemaProblem]:
    """Return the keywords of 2019-09 that have another meaning in 2020-12."""
    if dialect.unknown is not _AFTER_2019:
        return []
    hint = "rewrite it in 2020-12, and name that in $schema"
    return [
        SchemaProblem(pointer=f"{pointer}/{word}", message=f"uses {word!r} of draft 2019-09", hint=hint)
        for pointer, schema in survey.places.values()
        for word in _NOT_FROM_2019
        if word in schema
    ]


def upgrade(survey: SchemaIndex, dialect: SchemaDialect, *, base: str = "") -> bool:
    """Rewrite the schemas of the index in place to 2020-12, with the same meaning.

    References to moved schemas are updated. Annotations and unknown keywords stay. Returns whether any schema
    changed.
    """
    is_changed = False
    moves: dict[tuple[str, str], str] = {}
    for pointer, schema in survey.places.values():
        if dialect is UNDECLARED and _OLD.isdisjoint(schema):
            continue
        new = _upgraded(schema, dialect, is_root=not pointer)
        if not pointer and survey.has_resources and "$id" in schema:
            new["$id"] = schema["$id"]
        if "items" in schema and isinstance(schema["items"], list) and dialect.has_tuples:
            moves[pointer, "items"] = "prefixItems"
            moves[pointer, "additionalItems"] = "items"
        if "dependencies" in schema:
            moves[pointer, "dependencies"] = "dependentSchemas"
        if list(new) != list(schema) or new.get("items") is not schema.get("items"):
            schema.clear()
            schema.update(new)
            is_changed = True
    for _, schema in survey.places.values():
        ref = schema.get("$ref")
        if isinstance(ref, str) and not survey.is_embedded(schema):
            if not moves and _UNMOVED.fullmatch(ref):
                continue
            schema["$ref"] = moved = _moved(ref, moves, base)
            is_changed = is_changed or moved != ref
    return is_changed


def _upgraded(schema: Schema, dialect: SchemaDialect, *, is_root: bool) -> Schema:
    alone = dialect.ref_stands_alone and "$ref" in schema
    tuples = dialect.has_tuples and isinstance(schema.get("items"), list)
    new: dict[str, object] = {}
    for key, value in schema.items():
        if key in dialect.unknown or (alone and key != "$ref" and (key in CONSTRAINTS or key == "$id")):
            continue
        if dialect.ref_stands_alone and key in ("deprecated", "writeOnly") and not isinstance(value, bool):
            continue  # the draft does not define it, so it can have any value
        if key == "$schema" and (is_root or "$id" not in schema):
            continue
        if key == "$id" and isinstance(value, str) and (is_root or value.startswith("#")):
            # `"$id": "#name"` was an anchor until draft-07 (its Core 8.2.3).
            if is_anchor(value[1:]) and value[0] == "#" and dialect.ref_stands_alone:
                new["$anchor"] = value[1:]
            elif not is_root and not dialect.ref_stands_alone:
                new[key] = value
        elif key == "items" and tuples:
            new.update({"prefixItems": value} if value else {})
            new.update({"items": schema["additionalItems"]} if "additionalItems" in schema else {})
        elif key == "additionalItems" and dialect.has_tuples and (tuples or dialect is not UNDECLARED):
            continue
        elif key != "dependencies":
            new[key] = value
    if isinstance(schema.get("dependencies"), dict) and not alone:
        _split_dependencies(schema["dependencies"], new)
    return new


def _split_dependencies(value: dict[str, Json], new: dict[str, Any]) -> None:
    """Write `dependencies` as the two keywords that replaced it (Validation 2019-09, 6.5.7)."""
    for name, wanted in value.items():
        word = "dependentRequired" if isinstance(wanted, list) else "dependentSchemas"
        new[word] = {**new.get(word, {})}
        if name not in new[word]:
            new[word][name] = wanted
        elif isinstance(wanted, list):
            new[word][name] = [*wanted, *(other for other in new[word][name] if other not in wanted)]
        else:
            new[word][name] = {"allOf": [wanted, new[word][name]]}


def _moved(ref: str, moves: dict[tuple[str, str], str], base: str) -> str:
    """Return a reference as a fragment of this document that leads to the new location of its target."""
    local = local_part(ref, base)
    if local is None:
        return ref
    fragment = ref.partition("#")[2]
    if not moves or local[:1] != "/":
        return "#" + quote(fragment, safe=_IN_FRAGMENT)
    old = ""
    new = "#"
    for token in tokens_of(local):
        new += "/" + quote(escaped(moves.get((old, token), token)), safe="~$")
        old += f"/{escaped(token)}"
    return new

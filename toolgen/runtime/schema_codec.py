"""Codecs of JSON Schemas that are known only when the program runs, such as those of a server's tools."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from toolgen.calls.codec import Codec
from toolgen.calls.foreign_codec import SchemaCodec
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import compact
from toolgen.shapes.design.model import AnyJson
from toolgen.shapes.foreign.model import exact_adapter

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from toolgen.shapes.foreign.rules import Rules


class _JsonCodec(SchemaCodec[Any]):
    """Decodes into plain JSON values, and leaves all rules to the schema."""

    __slots__ = ()

    def __init__(self, name: str, schema_json: str, rules: Rules) -> None:
        super().__init__(None, "", name, {name: schema_json}, is_exact=False)
        adapter = _json_adapter()
        self._type = Any
        self._validate = adapter.validator.validate_json
        self._dump = self._dumping(adapter.serializer)
        self._check = adapter.validator.validate_python
        self._rules = rules


def json_schema_codec(
    schema: Mapping[str, Any] | bool, name: str, *, bounds_patterns: bool = False
) -> Codec[Any]:
    """Return the codec of plain JSON values that fit a schema: it accepts exactly what the schema accepts.

    The schema is read in the draft that its `$schema` names, 2020-12 where it names none (JSON Schema 2020-12
    Core 8.1.1); `format` is an annotation. `name` is told in errors.

    With `bounds_patterns`, for a schema that nobody has vetted, a pattern that may take long is an annotation
    too: one with look-around or back-references, one of very many states, and any in a document of much text.

    Raises:
        ToolgenError: it is no valid schema, or refers to another document; or the extra `jsonschema` is not
            installed.
    """
    try:
        from toolgen.shapes.foreign.rules import Rules
    except ModuleNotFoundError as error:
        if error.name != "jsonschema_rs":
            raise
        message = f"the JSON Schema of {name} needs a validator, and the package is missing"
        raise ToolgenError(message, hint="pip install 'toolgen[jsonschema]'") from error
    if isinstance(schema, bool):  # what they stand for, JSON Schema 2020-12 Core 4.3.2
        schema = {} if schema else {"not": {}}
    try:
        rules = Rules(schema, reads_dialect=True, bounds_patterns=bounds_patterns)
        return _JsonCodec(name, compact(dict(schema)), rules)
    except (ValueError, TypeError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise ToolgenError(f"the JSON Schema of {name} cannot be used: {reason}") from error


@cache
def _json_adapter() -> TypeAdapter[Any]:
    return exact_adapter(AnyJson)

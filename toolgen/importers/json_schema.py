"""`jsonschema`: one schema, or a list of tools in the formats of model providers.

Formats of a record: OpenAI `{"type": "function", "function": {name, description, parameters}}` or the same
keys without nesting, Anthropic `input_schema`, MCP `inputSchema` and `outputSchema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from toolgen.contract.findings import Finding

from .codes import NO_TOOL, finding_at
from .pointers import joined
from .records import Keys, a_kind, collected, read_record
from .text import SourceDocument
from .tool import ImportedTool, ReaderResult

_ARGUMENTS: Final = ("input_schema", "inputSchema", "parameters")
_RESULT: Final = ("output_schema", "outputSchema")
_KEYS: Final = Keys(arguments=_ARGUMENTS, result=_RESULT, may_have_none=False)
_FUNCTION: Final = Keys(arguments=_ARGUMENTS, result=_RESULT, may_have_none=True)
"""OpenAI, "Function calling": a function without `parameters` takes no arguments."""
_LISTS: Final = ("tools", "functions")


def read_schemas(document: SourceDocument) -> ReaderResult:
    """Return the tools in a JSON Schema document; records that are not tools become findings."""
    return collected(document.name, "", (*document.findings, *_tools(document)))


def _tools(document: SourceDocument) -> Iterator[ImportedTool | Finding]:
    value = document.value
    if isinstance(value, list):
        yield from _records(value, "")
        return
    if isinstance(value, dict):
        for key in _LISTS:
            if isinstance(value.get(key), list):
                yield from _records(value[key], joined("", key))
                return
        if _is_record(value):
            yield from _record(value, "")
            return
    yield _one_schema(value, document.name)


def _records(records: Iterable[object], pointer: str) -> Iterator[ImportedTool | Finding]:
    for index, record in enumerate(records):
        yield from _record(record, joined(pointer, index))


def _is_record(value: dict[str, object]) -> bool:
    """Return whether an object is a tool: none of these keys is a JSON Schema keyword."""
    return isinstance(value.get("function"), dict) or (
        isinstance(value.get("name"), str) and any(key in value for key in _ARGUMENTS)
    )


def _record(record: object, pointer: str) -> Iterator[ImportedTool | Finding]:
    if isinstance(record, dict) and isinstance(record.get("function"), dict):
        yield from read_record(record["function"], joined(pointer, "function"), _FUNCTION)
    elif isinstance(record, dict) and record.get("type") == "function":
        yield from read_record(record, pointer, _FUNCTION)
    else:
        yield from read_record(record, pointer, _KEYS)


def _one_schema(schema: object, name: str) -> ImportedTool | Finding:
    if not isinstance(schema, (dict, bool)):
        message = f"the document is {a_kind(schema)}, neither a schema nor a list of tools"
        return finding_at(NO_TOOL, "", message, hint="pass a JSON Schema file")
    title = schema.get("title") if isinstance(schema, dict) else None
    description = schema.get("description") if isinstance(schema, dict) else None
    return ImportedTool(
        name=title if isinstance(title, str) and title.strip() else name,
        description=description if isinstance(description, str) else "",
        arguments=schema,
    )

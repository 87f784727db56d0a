"""One record of a tool list, in any of the usual formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, get_args

from toolgen.contract.findings import Finding
from toolgen.contract.json_value import Json
from toolgen.contract.mcp_lock import NEEDS_TASK, needs_task
from toolgen.contract.names import IconTheme
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Icon, is_icon_size, is_icon_source, is_image_type

from . import codes
from .boundary import each
from .codes import finding_at
from .pointers import joined
from .tool import ImportedTool, ReaderResult

_HINTS: Final = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}
"""MCP 2026-07-28, "ToolAnnotations"; its `title` is a fallback for the tool's own."""


@frozen_record
class Keys:
    """Keys of the schemas in records of a source; the first existing key is used."""

    arguments: tuple[str, ...]
    result: tuple[str, ...]
    may_have_none: bool
    """Whether a record without an argument schema is a tool without arguments."""


def collected(name: str, description: str, results: Iterable[ImportedTool | Finding]) -> ReaderResult:
    """Return a source with the tools and findings; a second tool with the same name becomes a finding."""
    tools: dict[str, ImportedTool] = {}
    findings: list[Finding] = []
    for result in results:
        if isinstance(result, Finding):
            findings.append(result)
        elif (first := tools.setdefault(result.name, result)) is not result:
            message = f"a second tool with this name; the first one is at {first.pointer or '/'}"
            hint = "rename one of them"
            findings.append(
                finding_at(codes.DUPLICATE_TOOL, result.pointer, message, hint=hint, tool=result.name)
            )
    return ReaderResult(
        name=name, description=description, tools=tuple(tools.values()), findings=tuple(findings)
    )


def read_records(records: object, pointer: str, keys: Keys) -> Iterator[ImportedTool | Finding]:
    """Yield the tool of each record, or a finding for it."""
    if not isinstance(records, list):
        message = f"the list of tools is {a_kind(records)}"
        yield finding_at(codes.NO_TOOL, pointer, message, hint="make it a list of objects")
        return
    for index, record in enumerate(records):
        yield from read_record(record, joined(pointer, index), keys)


def read_record(record: object, pointer: str, keys: Keys) -> Iterator[ImportedTool | Finding]:
    """Yield the tool of a record after findings about ignored parts, or a finding instead of it."""
    yield from each(_record(record, pointer, keys), pointer)


def _record(record: object, pointer: str, keys: Keys) -> Iterator[ImportedTool | Finding]:
    if not isinstance(record, dict):
        message = f"the tool is {a_kind(record)}"
        yield finding_at(codes.NO_TOOL, pointer, message, hint="make it an object with a name")
        return
    name = record.get("name")
    if not isinstance(name, str) or not name.strip():
        message = f"the tool's name is {a_kind(name)}" if "name" in record else "the tool has no name"
        yield finding_at(codes.NO_TOOL, pointer, message, hint='add "name", a string')
        return
    if needs_task(record):
        yield finding_at(codes.TASK_ONLY, joined(pointer, "execution"), NEEDS_TASK, tool=name)
        return
    arguments = next((key for key in keys.arguments if record.get(key) is not None), "")
    result = next((key for key in keys.result if record.get(key) is not None), "")
    if not arguments and not keys.may_have_none:
        message = "has no schema for its arguments"
        hint = f"add {' or '.join(map(repr, keys.arguments))}"
        yield finding_at(codes.NO_SCHEMA, pointer, message, hint=hint, tool=name)
        return
    yield from _ignored_keys(record, name, pointer)
    icons = list(_icons(record, name, pointer))
    yield from (icon for icon in icons if isinstance(icon, Finding))
    yield ImportedTool(
        name=name,
        description=_text(record.get("description")),
        title=_text(record.get("title")) or _text(_mapping(record.get("annotations")).get("title")),
        arguments=record[arguments] if arguments else {"type": "object", "properties": {}},
        result=record[result] if result else None,
        annotations=dict(_annotations(record)),
        icons=tuple(icon for icon in icons if isinstance(icon, Icon)),
        pointer=pointer,
        arguments_pointer=joined(pointer, arguments) if arguments else pointer,
        result_pointer=joined(pointer, result) if result else "",
        examples=tuple(_examples(record.get("input_examples"))),
    )


def a_kind(value: object) -> str:
    """Return the kind of a JSON value, with an article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string" if value.strip() else "an empty string"
        case list():
            return "a list"
        case _:
            return "an object"


def _icons(record: Mapping[str, object], tool: str, pointer: str) -> Iterator[Icon | Finding]:
    """Yield the icons of a record (MCP 2025-11-25, `Icon`), each after findings about ignored parts."""
    listed = record.get("icons")
    if listed is None:
        return
    pointer = joined(pointer, "icons")
    if not isinstance(listed, list):
        yield finding_at(codes.LEFT_OUT, pointer, "icons is not a list; it is left out", tool=tool)
        return
    for index, icon in enumerate(listed):
        yield from _read_icon(icon, tool, joined(pointer, index))


def _read_icon(icon: object, tool: str, pointer: str) -> Iterator[Icon | Finding]:
    src = icon.get("src") if isinstance(icon, dict) else None
    if not isinstance(icon, dict) or not isinstance(src, str) or not is_icon_source(src):
        message = (
            "the src of the icon is neither an HTTP URL nor an image as a data URI; the icon is left out"
        )
        yield finding_at(codes.LEFT_OUT, pointer, message, tool=tool)
        return
    facts: dict[str, object] = {key: icon.get(key) for key in ("mimeType", "sizes", "theme")}
    sizes = facts["sizes"]
    valid = {
        "mimeType": isinstance(facts["mimeType"], str) and is_image_type(facts["mimeType"]),
        "sizes": isinstance(sizes, list)
        and all(isinstance(size, str) and is_icon_size(size) for size in sizes),
        "theme": facts["theme"] in get_args(IconTheme),
    }
    for key, is_valid in valid.items():
        if not is_valid and facts[key] is not None:
            message = f"{key} of the icon is not a value of MCP; it is left out"
            yield finding_at(codes.LEFT_OUT, joined(pointer, key), message, tool=tool)
    yield Icon(
        src=src,
        mime_type=str(facts["mimeType"]) if valid["mimeType"] else "",
        sizes=tuple(sizes) if valid["sizes"] and isinstance(sizes, list) else (),
        theme=icon["theme"] if valid["theme"] else None,
    )


def _annotations(record: Mapping[str, object]) -> Iterator[tuple[str, bool]]:
    for hint, value in _mapping(record.get("annotations")).items():
        if hint in _HINTS and isinstance(value, bool):
            yield _HINTS[hint], value


def _ignored_keys(record: Mapping[str, object], name: str, pointer: str) -> Iterator[Finding]:
    for key in ("description", "title"):
        if not isinstance(record.get(key), (str, type(None))):
            message = f"the {key} is {a_kind(record[key])}; it is left out"
            yield finding_at(codes.LEFT_OUT, joined(pointer, key), message, tool=name)
    for hint, value in _mapping(record.get("annotations")).items():
        if hint in _HINTS and not isinstance(value, (bool, type(None))):
            message = f"{hint} is {a_kind(value)}; it is left out"
            place = joined(pointer, "annotations", hint)
            yield finding_at(codes.LEFT_OUT, place, message, hint="true or false", tool=name)


def _examples(value: object) -> Iterator[dict[str, Json]]:
    """Yield the examples of Anthropic's tools: `input_examples`, a list of arguments."""
    for example in value if isinstance(value, list) else ():
        if isinstance(example, dict):
            yield example


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}

"""The file of a source, read into JSON values; whatever stands in it, this ends within seconds.

What would break a later stage is taken out here and becomes a finding: nesting that Python's stack does
not hold, numbers that are none, halves of characters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from toolgen.contract.errors import ToolgenError
from toolgen.contract.fields import Json

from .json_text import TOO_DEEP, read_json
from .pointers import is_within, joined
from .tool import Finding, Source
from .yaml_text import read_yaml

MOST_BYTES: Final = 20_000_000
_Path: TypeAlias = "tuple[_Path, str | int] | None"
"""The keys to a place, the last one first."""
_LINES: Final = frozenset([".jsonl", ".ndjson"])
_YAML: Final = frozenset([".yaml", ".yml"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A source file as JSON values; one of JSON Lines is a list."""

    name: str
    """The file's name without its suffix."""
    value: object
    findings: tuple[Finding, ...] = ()


def read_document(file: Path, *, yaml: bool = False) -> Document:
    """Return the document in a file: JSON, JSON Lines by its suffix and, where asked for, YAML by its suffix.

    Raises:
        ToolgenError: the file cannot be read, is too large, or is not what its suffix says.
    """
    text = _text(file)
    suffix = file.suffix.lower()
    if suffix in _LINES:
        return _lines(file, text)
    if yaml and suffix in _YAML:
        return _clean(Document(name=file.stem, value=read_yaml(text, str(file))))
    try:
        value, doubled = read_json(text)
    except ValueError as error:
        hint = "only openapi reads YAML; convert the file" if suffix in _YAML else "correct the file"
        raise ToolgenError(f"{file} is not JSON: {error}", hint=hint) from error
    return _clean(Document(name=file.stem, value=value, findings=tuple(_doubled(doubled))))


def attributed(source: Source, document: Document) -> Source:
    """Return the source with the findings of its document, each with the tool in which it stands.

    A tool that holds something which cannot be imported is left out.
    """
    found: list[Finding] = []
    for finding in document.findings:
        places = [tool for tool in source.tools if is_within(finding.pointer, tool.pointer)]
        found.append(replace(finding, tool=places[0].name) if places else finding)
    broken = {finding.tool for finding in found if finding.tool and not finding.is_warning}
    tools = tuple(tool for tool in source.tools if tool.name not in broken)
    return replace(source, tools=tools, findings=(*found, *source.findings))


def _text(file: Path) -> str:
    try:
        if not file.exists():
            is_address = re.match(r"https?:/", str(file))
            hint = "a source is a file: download it first" if is_address else "correct the path"
            raise ToolgenError(f"there is no file {file}", hint=hint)
        if not file.is_file():
            raise ToolgenError(f"{file} is not a file", hint="name the file that holds the tools")
        size_bytes = file.stat().st_size
        if size_bytes > MOST_BYTES:
            raise ToolgenError(
                f"{file} has {size_bytes:,} bytes; a source may have {MOST_BYTES:,}",
                hint="split it, and import the parts one by one",
            )
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ToolgenError(f"cannot read {file}: {error.strerror}", hint="correct the path") from error
    except UnicodeDecodeError as error:
        raise ToolgenError(
            f"{file} is not UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}",
            hint="save it as UTF-8",
        ) from error


def _lines(file: Path, text: str) -> Document:
    """Return the values of all lines; a line that is no JSON becomes a finding and leaves no value."""
    values: list[object] = []
    findings: list[Finding] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                value, doubled = read_json(line)
            except ValueError as error:
                message = f"line {number} is not JSON: {error}"
                findings.append(Finding(tool="", pointer="", message=message, hint="correct the line"))
                continue
            findings += _doubled([joined("", len(values)) + pointer for pointer in doubled])
            values.append(value)
    if findings and not values:
        raise ToolgenError(f"{file} is not JSON Lines: {findings[0].message}", hint="write one value a line")
    return _clean(Document(name=file.stem, value=values, findings=tuple(findings)))


def _doubled(pointers: list[str]) -> Iterator[Finding]:
    for pointer in pointers:
        yield Finding(
            tool="",
            pointer=pointer,
            message="the key stands twice in one object; the last one counts",
            hint="remove one of the two",
            is_warning=True,
        )


def _clean(document: Document) -> Document:
    """Return the document without what no later stage can hold, and with what that was."""
    findings: list[Finding] = list(document.findings)
    root = {"": document.value}
    waiting: list[tuple[object, _Path]] = [(root, None)]
    while waiting:
        container, path = waiting.pop()
        if isinstance(container, dict):
            _clean_keys(container, path, findings)
            entries: Iterable[tuple[str | int, object]] = container.items()
        elif isinstance(container, list):
            entries = enumerate(container)
        else:
            continue
        better: list[tuple[str | int, Json]] = []
        for key, value in entries:
            if isinstance(value, (dict, list)):
                waiting.append((value, (path, key)))
            elif not _is_held(value):
                better.append((key, _held(value, _pointer((path, key)), findings)))
        for key, value in better:
            container[key] = value  # type: ignore[index]  # a key of this container
    return replace(document, value=root[""], findings=tuple(findings))


def _pointer(path: _Path) -> str:
    """Return the pointer of a path, whose first token stands for the document."""
    tokens: list[str | int] = []
    while path is not None:
        path, token = path
        tokens.append(token)
    return joined("", *tokens[-2::-1]) if len(tokens) > 1 else ""


def _is_held(value: object) -> bool:
    if isinstance(value, str):
        return value != TOO_DEEP and _is_text(value)
    return not isinstance(value, float) or math.isfinite(value)


def _held(value: object, place: str, findings: list[Finding]) -> Json:
    """Return what stands in the place of a value that cannot be held."""
    if not isinstance(value, str):
        message = "the number is too large for a float"
        findings.append(Finding(tool="", pointer=place, message=message, hint="write a smaller one"))
        return None
    if value == TOO_DEEP:
        message = "what stands here is nested too deeply to be read"
        findings.append(Finding(tool="", pointer=place, message=message, hint="make it flatter"))
        return value
    findings.append(_half(place))
    return _whole(value)


def _clean_keys(container: dict[str, object], path: _Path, findings: list[Finding]) -> None:
    if all(map(_is_text, container)):
        return
    entries = list(container.items())
    container.clear()
    for key, value in entries:
        if not _is_text(key):
            findings.append(_half(_pointer(path)))
        container[_whole(key)] = value


def _is_text(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _whole(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def _half(place: str) -> Finding:
    return Finding(
        tool="",
        pointer=_whole(place),
        message="a text holds half of a character (a lone UTF-16 surrogate); it becomes U+FFFD",
        hint="correct the text",
        is_warning=True,
    )

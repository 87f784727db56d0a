"""Reads the file of a source into JSON values, within seconds for any content.

What would break a later stage is taken out here and becomes a finding: nesting that Python's stack does
not hold, numbers that are none, halves of characters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.findings import Finding
from toolgen.schema_reader.document import LONGEST_POINTER

from . import codes
from .codes import finding_at
from .json_text import TOO_DEEP, read_json
from .pointers import Place, below, joined
from .tool import Source
from .yaml_text import read_yaml

MOST_BYTES: Final = 20_000_000
MOST_FINDINGS: Final = 10_000
_TOO_DEEP: Final = "what stands here is nested too deeply to be read"
_LONG_KEYS: Final = f"stands under keys of more than {LONGEST_POINTER:,} characters"
_LINES: Final = frozenset([".jsonl", ".ndjson"])
_YAML: Final = frozenset([".yaml", ".yml"])
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
"""How a text in UTF-16 begins, and one in UTF-32 of the first order."""


@frozen_record
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
        return _drop_unsupported(Document(name=file.stem, value=read_yaml(text, str(file))))
    try:
        value, doubled = read_json(text)
    except ValueError as error:
        hint = "only openapi reads YAML; convert the file" if suffix in _YAML else "correct the file"
        raise ToolgenError(f"{file} is not JSON: {error}", hint=hint) from error
    return _drop_unsupported(
        Document(name=file.stem, value=value, findings=tuple(_duplicate_key_finding(doubled)))
    )


def read_relative(file: Path, path: str) -> Document:
    """Return the document at a path below the folder of a file, in JSON or YAML by its suffix.

    Raises:
        ToolgenError: it stands elsewhere, also by a link, or cannot be read.
    """
    folder = file.resolve().parent
    target = (folder / path).resolve()
    if not target.is_relative_to(folder):
        raise ToolgenError(f"{path} is outside of the folder of {file}", hint="put it below that folder")
    return read_document(target, yaml=True)


def attributed(source: Source, document: Document) -> Source:
    """Return the source with the findings of its document, each with the tool in which it stands.

    A tool that holds something which cannot be imported is left out.
    """
    names: dict[str, str] = {}
    for tool in source.tools:
        names.setdefault(tool.pointer, tool.name)
    owned = [
        replace(reported, tool=_owner(reported.place.pointer or "", names)) for reported in document.findings
    ]
    broken = {finding.tool for finding in owned if finding.tool and not finding.is_warning}
    tools = tuple(tool for tool in source.tools if tool.name not in broken)
    return replace(source, tools=tools, findings=(*_once_each(owned), *source.findings))


def _once_each(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; of a tool that is too deep in many places, only the first place."""
    seen: set[tuple[str, str]] = set()
    for finding in findings:
        key = (finding.tool, finding.message)
        if finding.message not in (_TOO_DEEP, _LONG_KEYS) or key not in seen:
            seen.add(key)
            yield finding


def _owner(pointer: str, names: Mapping[str, str]) -> str:
    """Return the name of the tool at or around the pointer; empty where there is none."""
    while pointer not in names and pointer:
        pointer = pointer.rpartition("/")[0]
    return names.get(pointer, "")


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
        data = file.read_bytes()
        if data.startswith(_UTF_16) or b"\0" in data[:4]:
            hint = f"save it as UTF-8: iconv -f UTF-16 -t UTF-8 {file.name} > {file.stem}-utf8{file.suffix}"
            raise ToolgenError(f"{file} is in UTF-16 or UTF-32, not in UTF-8", hint=hint)
        return data.decode("utf-8-sig")
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
                findings.append(finding_at(codes.BAD_VALUE, "", message, hint="correct the line"))
                continue
            findings += _duplicate_key_finding([joined("", len(values)) + pointer for pointer in doubled])
            values.append(value)
    if findings and not values:
        raise ToolgenError(f"{file} is not JSON Lines: {findings[0].message}", hint="write one value a line")
    return _drop_unsupported(Document(name=file.stem, value=values, findings=tuple(findings)))


def _duplicate_key_finding(pointers: list[str]) -> Iterator[Finding]:
    for pointer in pointers:
        message = "the key stands twice in one object; the last one counts"
        yield finding_at(codes.DUPLICATE_KEY, pointer, message, hint="remove one of the two")


def _drop_unsupported(document: Document) -> Document:
    """Return the document without values that no later stage supports, and those values."""
    findings: list[Finding] = list(document.findings)
    root = {"": document.value}
    waiting: list[tuple[object, Place]] = [(root, Place())]
    while waiting:
        container, place = waiting.pop()
        if isinstance(container, dict):
            _clean_keys(container, place, findings)
            entries: Iterable[tuple[str | int, object]] = container.items()
        elif isinstance(container, list):
            entries = enumerate(container)
        else:
            continue
        better: list[tuple[str | int, Json]] = []
        deeper: list[tuple[object, Place]] = []
        for key, value in entries:
            if not isinstance(value, (dict, list)) and _is_supported(value):
                continue
            inner = place if container is root else below(place, key)
            if isinstance(value, (dict, list)) and inner.length <= LONGEST_POINTER:
                deeper.append((value, inner))
            else:
                better.append((key, _supported_value(value, inner, findings)))
        waiting.extend(reversed(deeper))
        for key, value in better:
            container[key] = value  # type: ignore[index]  # a key of this container
        if len(findings) > MOST_FINDINGS:
            message = f"{document.name} has more than {MOST_FINDINGS:,} places to correct"
            raise ToolgenError(message, hint="correct the first ones, and import again to see the others")
    return replace(document, value=root[""], findings=tuple(findings))


def _is_supported(value: object) -> bool:
    """Return whether a later stage supports a value that holds no others."""
    if isinstance(value, str):
        return value != TOO_DEEP and _is_text(value)
    return not isinstance(value, float) or math.isfinite(value)


def _supported_value(value: object, place: Place, findings: list[Finding]) -> Json:
    """Return the replacement of a value that is not supported."""
    match value:
        case str() if value != TOO_DEEP:
            findings.append(_has_surrogate(place.pointer))
            return _whole(value)
        case str():
            message, hint = _TOO_DEEP, "make it flatter"
        case float():
            message, hint = "the number is too large", "write a smaller one"
        case _:
            message, hint = _LONG_KEYS, "shorten the keys"
    findings.append(finding_at(codes.BAD_VALUE, place.pointer, message, hint=hint))
    return TOO_DEEP if isinstance(value, str) else None


def _clean_keys(container: dict[str, object], place: Place, findings: list[Finding]) -> None:
    if all(map(_is_text, container)):
        return
    entries = list(container.items())
    container.clear()
    for key, value in entries:
        if not _is_text(key):
            findings.append(_has_surrogate(place.pointer))
        container[_whole(key)] = value


def _is_text(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _whole(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def _has_surrogate(place: str) -> Finding:
    message = "a string holds a lone surrogate; it becomes U+FFFD"
    return finding_at(codes.BAD_TEXT, _whole(place), message, hint="correct the text")

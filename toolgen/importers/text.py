"""Reads the file of a source into JSON values (RFC 8259) that all later stages support."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Finding
from toolgen.contract.json_value import HTML_HINT, is_html
from toolgen.contract.record import frozen_record
from toolgen.shapes.foreign.reader.document import DEEPEST

from . import codes
from .codes import finding_at
from .yaml_text import read_yaml

MOST_BYTES: Final = 20_000_000
_LINES: Final = frozenset([".jsonl", ".ndjson"])
_YAML: Final = frozenset([".yaml", ".yml"])
_HALF: Final = re.compile(r"\\u[dD]")
"""The beginning of half of a character, which JSON holds as an escape alone."""
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
"""First bytes of UTF-16 texts, and of little-endian UTF-32 texts."""


@frozen_record
class SourceDocument:
    """A source file as JSON values; a JSON Lines file becomes a list."""

    name: str
    """Name of the file without its suffix."""
    value: object
    findings: tuple[Finding, ...] = ()
    base: str = ""
    """URL that it was read from; "" for a file."""


def read_document(file: Path, *, yaml: bool = False) -> SourceDocument:
    """Return the document in a file: JSON, JSON Lines or, if `yaml` is set, YAML, depending on its suffix.

    Raises:
        ToolgenError: The file cannot be read, is too large, or does not match its suffix.
    """
    text = _text(file)
    return _lines(file, text) if file.suffix.lower() in _LINES else parsed(text, file, str(file), yaml=yaml)


def parsed(text: str, file: Path, source: str, *, yaml: bool) -> SourceDocument:
    """Return the document in a text, depending on the suffix of its file; messages name its source.

    Raises:
        ToolgenError: The text does not match the suffix.
    """
    suffix = file.suffix.lower()
    if yaml and suffix in _YAML:
        return _document(file, read_yaml(text, source), [])
    findings: list[Finding] = []
    try:
        value = _read_json(text, findings)
    except ValueError as error:
        hint = "only openapi reads YAML; convert the file" if suffix in _YAML else "correct the file"
        raise ToolgenError(f"{source} is not JSON: {error}", hint=hint) from error
    return _document(file, value, findings, is_whole=_HALF.search(text) is None)


def read_relative(file: Path, path: str) -> SourceDocument:
    """Return the JSON or YAML document at a path below the folder of a file.

    Raises:
        ToolgenError: The path leaves the folder, possibly by a link, or cannot be read.
    """
    folder = file.resolve().parent
    target = (folder / path).resolve()
    if not target.is_relative_to(folder):
        raise ToolgenError(f"{path} is outside the folder of {file}", hint="move it into that folder")
    return read_document(target, yaml=True)


def _text(file: Path) -> str:
    try:
        if not file.exists():
            raise ToolgenError(f"the file {file} does not exist", hint="correct the path")
        if not file.is_file():
            raise ToolgenError(f"{file} is not a file", hint="pass the file that contains the tools")
        size_bytes = file.stat().st_size
        if size_bytes > MOST_BYTES:
            raise ToolgenError(
                f"{file} has {size_bytes:,} bytes; at most {MOST_BYTES:,} are read",
                hint="split it, and import the parts one by one",
            )
        data = file.read_bytes()
    except OSError as error:
        raise ToolgenError(f"cannot read {file}: {error.strerror}", hint="correct the path") from error
    hint = f"save it as UTF-8: iconv -f UTF-16 -t UTF-8 {file.name} > {file.stem}-utf8{file.suffix}"
    return decoded(data, str(file), hint)


def decoded(data: bytes, source: str, hint: str = "save it as UTF-8") -> str:
    """Return the text of a source.

    Raises:
        ToolgenError: The source is not encoded in UTF-8, or is HTML.
    """
    if data.startswith(_UTF_16) or b"\0" in data[:4]:
        raise ToolgenError(f"{source} is encoded in UTF-16 or UTF-32, not in UTF-8", hint=hint)
    if is_html(data):
        raise ToolgenError(f"{source} is HTML, not JSON or YAML", hint=HTML_HINT)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolgenError(
            f"{source} is not UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}",
            hint="save it as UTF-8",
        ) from error


def _lines(file: Path, text: str) -> SourceDocument:
    """Return the values of all lines; a line that is not JSON becomes a finding without a value."""
    values: list[object] = []
    findings: list[Finding] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(_read_json(line, findings))
            except ValueError as error:
                message = f"line {number} is not JSON: {error}"
                findings.append(finding_at(codes.BAD_VALUE, "", message, hint="correct the line"))
    if findings and not values:
        raise ToolgenError(f"{file} is not JSON Lines: {findings[0].message}", hint="write one value a line")
    return _document(file, values, findings)


def _document(
    file: Path, value: object, findings: list[Finding], *, is_whole: bool = False
) -> SourceDocument:
    """Return the document with U+FFFD for lone surrogates, which UTF-8 cannot encode.

    With `is_whole`, the caller knows that the document has none.
    """
    value = value if is_whole else _whole(value, findings)
    return SourceDocument(name=file.stem, value=value, findings=tuple(findings))


def _read_json(text: str, findings: list[Finding]) -> object:
    """Return the value of a text, and add a finding for each key that is repeated in its object.

    Raises:
        ValueError: The text is not JSON, or has nesting or numbers that no later stage supports.
    """
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=partial(_object, findings),
            parse_constant=_refuse,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [part for each in level if isinstance(each, (dict, list)) for part in _parts(each)]
        if not level:
            return value
    raise ValueError(_TOO_DEEP)


_TOO_DEEP: Final = f"it is nested more than {DEEPEST} levels deep"


def _parts(value: dict[str, object] | list[object]) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value


def _object(findings: list[Finding], pairs: list[tuple[str, object]]) -> dict[str, object]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        message = f"the key {twice!r:.80} appears twice in one object; the last one counts"
        findings.append(finding_at(codes.DUPLICATE_KEY, "", message, hint="remove one of them"))
    return entries


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"the number {text:.80} is too large")
    return value


def _whole(value: Any, findings: list[Finding]) -> object:
    match value:
        case dict():
            return {_whole(key, findings): _whole(inner, findings) for key, inner in value.items()}
        case list():
            return [_whole(item, findings) for item in value]
        case str() if not value.isascii() and value != (well_formed := _replaced(value)):
            message = f"the text {well_formed!r:.80} contains a lone surrogate, which becomes U+FFFD"
            findings.append(finding_at(codes.BAD_TEXT, "", message, hint="correct the text"))
            return well_formed
        case _:
            return value


def _replaced(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

"""Sources of imports: files, Python functions, and documents at a URL, which are stored beside the lock."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path, PurePosixPath
from typing import Final, assert_never
from urllib.parse import urlsplit

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record
from toolgen.importers.catalog import read_catalog
from toolgen.importers.codes import NOT_IMPORTABLE, finding_at
from toolgen.importers.json_schema import read_schemas
from toolgen.importers.mcp import read_mcp
from toolgen.importers.python_functions import read_functions
from toolgen.importers.text import MOST_BYTES, SourceDocument, decoded, parsed, read_document, read_relative
from toolgen.importers.tool import Kind, ReaderResult

from .functions import find_functions
from .terminal import show_progress
from .trust import require_trusted

_SUFFIXES: Final = (".json", ".yaml")
_STORED: Final = ".source"
_GENERAL: Final = frozenset(["", "api-docs", "openapi", "spec", "swagger"])
"""Document names that do not identify the API."""


@frozen_record
class APISource:
    """A document of an API."""

    document: SourceDocument
    read: Callable[[str], object] | None = None
    """Function that reads another file in its folder; None for a document at a URL."""
    stored: Mapping[Path, str | None] = field(default_factory=dict)
    """Files to store beside the lock; None deletes a file of another format."""


def address_name(url: str) -> str:
    """Return a name for the document at an address: its file name, or its host if that is too general.

    Raises:
        ToolgenError: documents cannot be fetched from the address.
    """
    from toolgen.clients.fetching import document_address  # other sources need no HTTP

    parts = urlsplit(document_address(url))
    stem = PurePosixPath(parts.path).stem
    return (parts.hostname or "") if stem.lower() in _GENERAL else stem


def api_file(source: str) -> APISource:
    """Return the document in a file.

    Raises:
        ToolgenError: it cannot be read.
    """
    path = Path(source)
    document = read_document(path, yaml=True)
    return APISource(document=document, read=lambda relative: read_relative(path, relative).value)


def api_at(url: str, design: Path, *, is_check: bool) -> APISource:
    """Return the document at an address; for a check, the document that the last import stored.

    Raises:
        ToolgenError: it cannot be fetched or read, or the last import stored no document.
    """
    from toolgen.clients.fetching import document_address, fetched  # other sources need no HTTP

    url = document_address(url)
    files = [design.with_suffix(f"{_STORED}{suffix}") for suffix in _SUFFIXES]
    if is_check:
        if (file := next(filter(Path.exists, files), None)) is None:
            hint = "import it without --check first, and keep the document beside the lock"
            raise ToolgenError(f"{files[0]}, the document of the last import, is missing", hint=hint)
        return APISource(document=replace(read_document(file, yaml=True), base=url))
    show_progress(f"fetching {url}…")
    text = decoded(asyncio.run(fetched(url, MOST_BYTES)), url)
    suffix = _SUFFIXES[0] if text.lstrip()[:1] == "{" else _SUFFIXES[1]
    document = replace(parsed(text, Path(f"{address_name(url)}{suffix}"), url, yaml=True), base=url)
    stored = {file: text if file.suffix == suffix else None for file in files}
    return APISource(document=document, stored=stored)


def read_source(kind: Kind, source: str) -> ReaderResult:
    """Return the tools of a source that is not an API.

    Raises:
        ToolgenError: it cannot be read.
    """
    match kind:
        case "jsonschema":
            return read_schemas(read_document(Path(source)))
        case "mcp":
            return read_mcp(read_document(Path(source)))
        case "catalog":
            folder = Path(source).parent
            return read_catalog(read_document(Path(source)), lambda path: read_document(folder / path).value)
        case "python":
            require_trusted(Path("pyproject.toml").absolute())  # modules in this folder are found first
            named = find_functions(source)
            text = inspect.getdoc(named.described) or ""
            read = read_functions(named.name, text, named.functions, named.target(""))
            return read if named.is_importable else _elsewhere(read)
        case "openapi":
            raise AssertionError("an OpenAPI document is written as it is read")
        case _:
            assert_never(kind)


def _elsewhere(source: ReaderResult) -> ReaderResult:
    """Return the source with a finding that its module is not found by its name."""
    message = f"Python cannot import {source.module!r} from here, so calls to its functions fail"
    hint = f"put its file below {os.getcwd()}, or install its package"
    return replace(source, findings=(finding_at(NOT_IMPORTABLE, "", message, hint=hint), *source.findings))

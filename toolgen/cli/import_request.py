"""The options of `toolgen import`, the options that a lock stores, and the valid names."""

from __future__ import annotations

import keyword
import os
import shlex
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Format
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.importers.openapi import OpenAPIOptions
from toolgen.importers.openapi_operations import Selection
from toolgen.importers.openapi_servers import ServerOptions, is_server
from toolgen.importers.tool import Kind
from toolgen.shapes.naming import LONGEST_NAME, TOOL_NAME, snake


@frozen_record(kw_only=False)
class OpenAPIChoices:
    """The options of `toolgen import openapi`, as they were written."""

    tags: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    """Items of the form `id=name`."""
    is_read_only: bool = False
    server: str = ""
    is_accepted: bool = False
    accepted: tuple[str, ...] = ()
    """Addresses that an earlier import has accepted."""

    def options(self) -> OpenAPIOptions:
        """Return the options of the importer.

        Raises:
            ToolgenError: a new name is not a name, or the server is not a URL.
        """
        renamed = {old: new for old, _, new in (pair.rpartition("=") for pair in self.renamed)}
        for old, new in renamed.items():
            if not old or not is_name(new):
                written = f"{old}={new}" if old else new
                raise ToolgenError(f"--rename {written!r} is not ID=NEW", hint=f"--rename ID={name_of(new)}")
        if self.server and not is_server(self.server):
            message = f"--server {self.server!r} is not an absolute http or https URL"
            raise ToolgenError(message, hint="--server https://api.example.com")
        selection = Selection(
            tags=self.tags,
            only=self.only,
            exclude=self.exclude,
            renamed=renamed,
            is_read_only=self.is_read_only,
        )
        servers = ServerOptions(url=self.server, is_accepted=self.is_accepted or bool(self.accepted))
        return OpenAPIOptions(selection=selection, servers=servers)

    def stored(self) -> dict[str, Any]:
        """Return the options of the command, by name; accepted addresses belong to the design."""
        options = {option: getattr(self, name) for option, name in _STORED.items()}
        return {
            option: list(value) if isinstance(value, tuple) else value
            for option, value in options.items()
            if value
        }

    def remembered(self, options: Mapping[str, Any]) -> OpenAPIChoices:
        """Return these options, with stored values for options that are not set."""
        stored = {name: options[option] for option, name in _STORED.items() if option in options}
        lists = {name: tuple(value) for name, value in stored.items() if isinstance(value, list)}
        own = {name: value for name in stored if (value := getattr(self, name))}
        accepted = tuple(options.get("accept-server", ()))
        return replace(self, **{**stored, **lists, **own}, accepted=accepted)


_STORED: Final = {
    "tag": "tags",
    "only": "only",
    "exclude": "exclude",
    "rename": "renamed",
    "read-only": "is_read_only",
    "server": "server",
}
"""Attributes that a lock stores, by option."""


@frozen_record
class ImportRequest:
    """The options of the command; an empty name is derived from the name of the source."""

    kind: Kind
    source: str
    out: Path
    """The folder of the design module, or the module itself if it ends in `.py`."""
    name: str = ""
    service: str = ""
    is_strict: bool = False
    """Write nothing if a tool has an error."""
    may_lose: bool = False
    """Succeed even if parts of the source could not be imported."""
    is_forced: bool = False
    """Overwrite existing files."""
    is_check: bool = False
    """Write nothing, and report the changes since the last import."""
    resolved: tuple[str, ...] = ()
    """Places of open conflicts whose new targets the author accepts."""
    format: Format = "text"
    openapi: OpenAPIChoices = field(default_factory=OpenAPIChoices)

    def stored(self) -> dict[str, Any]:
        """Return the options that decide what is imported, by their names on the command line."""
        own = self.service if self.service != self.name else ""
        return {"name": self.name, **({"service": own} if own else {}), **self.openapi.stored()}

    def stored_source(self, folder: Path) -> str:
        """Return the source as stored in a lock: a path is relative to the folder of the lock."""
        if is_address(self.source):
            return self.source
        if self.kind != "python":
            return Path(os.path.relpath(self.source, folder)).as_posix()
        place = self.source.rpartition(":")[0]
        path = place if place.endswith(".py") else self.source
        if not path.endswith(".py"):
            return self.source
        return f"{Path(os.path.relpath(path, folder)).as_posix()}{self.source.removeprefix(path)}"

    def remembered(self, options: Mapping[str, Json]) -> ImportRequest:
        """Return the request, with values of the last import for options that are not set."""
        return replace(
            self,
            name=self.name or str(options.get("name", "")),
            service=self.service or str(options.get("service", "")),
            openapi=self.openapi.remembered(options),
        )


def is_address(source: str) -> bool:
    """Return whether a source is a URL."""
    return source.lower().startswith(("http://", "https://"))


def located_source(kind: Kind, stored: str, folder: Path) -> str:
    """Return the source that is stored in a lock, with a path relative to the working directory."""
    if is_address(stored):
        return stored
    is_path = kind != "python" or ".py" in Path(stored.partition(":")[0]).suffixes
    return os.path.relpath(folder / stored) if is_path else stored


def require_file(source: str, kind: str = "") -> None:
    """Check that a source is not a URL: only API documents are fetched.

    Raises:
        ToolgenError: it is a URL.
    """
    if is_address(source):
        name, url = shlex.quote(source.rstrip("/").rpartition("/")[2]), shlex.quote(source)
        is_mcp = kind == "mcp"
        hint = (
            f"to lock a live server: --url {url}"
            if is_mcp
            else f"download it first: curl --output {name} {url}"
        )
        raise ToolgenError(f"{source} is a URL, but only toolgen import openapi reads a URL", hint=hint)


def is_name(text: str) -> bool:
    """Return whether a text is a valid name of a toolset."""
    return bool(TOOL_NAME.fullmatch(text)) and len(text) <= LONGEST_NAME and not keyword.iskeyword(text)


def variable_of(name: str) -> str:
    """Return the variable for a toolset of this name in a design; it never hides an import of the DSL."""
    from toolgen.dsl.words import IMPORTS

    return f"{name}_tools" if name in IMPORTS else name


def name_of(text: str) -> str:
    """Return the name of a toolset derived from any text."""
    name = snake(text)[:LONGEST_NAME].strip("_")
    if is_name(name):
        return name
    near = f"tools_{name}"[:LONGEST_NAME].rstrip("_")
    return near if is_name(near) else "tools"

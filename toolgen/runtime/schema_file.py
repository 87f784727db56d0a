"""The JSON Schemas of generated types, read from the catalogue of their package at first use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Protocol

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import compact


class Schemas(Protocol):
    """The texts of JSON Schemas, by the names of their types."""

    def __getitem__(self, name: str, /) -> str: ...


class SchemaFile:
    """The schemas of one catalogue: the types of its tools and of its completions."""

    def __init__(self, package: str, file: str) -> None:
        self._package = package
        self._file = file
        self._texts: dict[str, str] | None = None
        self._is_there = False

    def __repr__(self) -> str:
        return f"{self._file} of {self._package}"

    def is_missing(self) -> bool:
        """Return whether the package came without the file."""
        self._is_there = self._is_there or files(self._package).joinpath(self._file).is_file()
        return not self._is_there

    def __getitem__(self, name: str, /) -> str:
        """Return the schema of a type, as text.

        Raises:
            ToolgenError: the file is missing, or it is not of the same run as the package's code.
        """
        if self._texts is None:
            self._texts = self._read()
        try:
            return self._texts[name]
        except KeyError:
            raise self._unfit(f"has no schema of {name}") from None

    def _read(self) -> dict[str, str]:
        try:
            text = files(self._package).joinpath(self._file).read_text("utf-8")
        except OSError as error:
            message = f"{self} cannot be read: {error}"
            raise ToolgenError(message, hint=f"ship {self._file} with the generated code") from error
        try:
            return {type_["name"]: compact(type_["schema"]) for type_ in _types(json.loads(text))}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise self._unfit("is no catalogue") from error

    def _unfit(self, fault: str) -> ToolgenError:
        return ToolgenError(f"{self} {fault}", hint="run `toolgen gen`")


def _types(catalog: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every type of a catalogue, format 1, with its name and its schema."""
    for tool in catalog["tools"]:
        if tool["kind"] == "native":
            continue
        yield tool["payload"]
        yield tool["result"]
        yield from tool.get("artifacts", ())
        yield from tool.get("long_running", {}).values()
        if "payload" in (confirmation := tool.get("confirmation", {})):
            yield confirmation["payload"]
    for completion in catalog.get("completions", ()):
        yield completion["result"]

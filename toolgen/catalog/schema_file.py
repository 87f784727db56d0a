"""The JSON Schemas of generated types, read from the catalog of their package at first use."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import NamedTuple, Protocol

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import compact

from .reader import CatalogError, parse_catalog


class Schemas(Protocol):
    """The texts of JSON Schemas, by the names of their types."""

    def __getitem__(self, name: str, /) -> str: ...


class _Type(NamedTuple):
    schema: str
    noted_formats: tuple[str, ...]


class SchemaFile:
    """The schemas of one catalog: the types of its tools and of its completions."""

    def __init__(self, package: str, file: str) -> None:
        self._package = package
        self._file = file
        self._types: dict[str, _Type] | None = None
        self._is_there = False

    def __repr__(self) -> str:
        return f"{self._file} of {self._package}"

    def is_missing(self) -> bool:
        """Return whether the package lacks the file."""
        self._is_there = self._is_there or files(self._package).joinpath(self._file).is_file()
        return not self._is_there

    def __getitem__(self, name: str, /) -> str:
        """Return the schema of a type, as text.

        Raises:
            ToolgenError: the file is missing, or it was not generated together with the package's code.
        """
        return self._of(name).schema

    def noted_formats(self, name: str) -> tuple[str, ...]:
        """Return JSON Pointers of each `format` in the schema of a type that its codec does not check.

        Raises:
            ToolgenError: as for the schema.
        """
        return self._of(name).noted_formats

    def _of(self, name: str) -> _Type:
        if self._types is None:
            self._types = self._read()
        try:
            return self._types[name]
        except KeyError:
            raise self._unfit(f"has no schema for {name}") from None

    def _read(self) -> dict[str, _Type]:
        try:
            data = files(self._package).joinpath(self._file).read_bytes()
        except OSError as error:
            message = f"{self} cannot be read: {error}"
            raise ToolgenError(message, hint=f"ship {self._file} with the generated code") from error
        try:
            types = {type_.name: type_ for type_ in parse_catalog(json.loads(data)).types()}
            return {name: _Type(compact(type_.schema), type_.noted_formats) for name, type_ in types.items()}
        except CatalogError as error:
            raise self._unfit(str(error)) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise self._unfit("is not a tool catalog") from error

    def _unfit(self, fault: str) -> ToolgenError:
        return ToolgenError(f"{self} {fault}", hint="run `toolgen gen`")

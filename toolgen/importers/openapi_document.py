"""The values of an OpenAPI document and of the files next to it, by address.

An address is a JSON Pointer (RFC 6901) into the document, or `path#pointer` for another file in its folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin

from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Finding
from toolgen.contract.json_pointer import ABSENT, resolved, tokens_of
from toolgen.contract.json_value import size_of

from .codes import BAD_OPERATION, finding_at
from .pointers import joined
from .records import a_kind

_MOST_REFERENCES: Final = 20
"""Maximum number of consecutive references."""


class UnreadableError(Exception):
    """A part of the document that cannot be read. The operation that uses it is left out."""

    def __init__(self, pointer: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer
        self.message = message
        self.hint = hint

    def finding(self, tool: str) -> Finding:
        return finding_at(BAD_OPERATION, self.pointer, self.message, hint=self.hint, tool=tool)


class API:
    """A document with the files that it refers to; `read` returns the content of another file."""

    def __init__(
        self, document: dict[str, object], read: Callable[[str], object] | None = None, base: str = ""
    ) -> None:
        """Store the document; `base` is the URL that it was read from, "" for a file."""
        self.document = document
        self.is_3_0 = str(document.get("openapi", "")).startswith("3.0")
        self.base = urljoin(base, text(document.get("$self")))
        """URL of the document, as read or as declared by it (OAS 3.2.0, 4.1.2.2); "" for none."""
        self.size = size_of(document)
        """Number of values in the document and in its files that have been read."""
        self.dangling: dict[str, UnreadableError] = {}
        """Dangling references of schemas, and values that are not schemas, by place."""
        self._read = read
        self._files: dict[str, object] = {}
        self._found: dict[str, object] = {}
        self._targets: dict[tuple[str, str], str] = {}
        """Addresses by reference and file."""
        self._own: dict[str, bool] = {}

    def address(self, reference: str, place: str) -> str:
        """Return the address for a reference at a place.

        Raises:
            UnreadableError: It refers to the network, leaves the document's folder, or is not a JSON Pointer.
        """
        url, _, fragment = reference.partition("#")
        pointer, file = unquote(fragment), file_of(place)
        if pointer and not pointer.startswith("/"):
            raise UnreadableError(place, f"the reference {reference!r} is not a JSON Pointer", "write '#/…'")
        if not url:
            return f"{file}#{pointer}" if file else pointer
        if self.base and urldefrag(urljoin(self.base, url))[0] == urldefrag(self.base)[0]:
            return pointer
        if "://" in self.base:
            url = url.removeprefix(urljoin(self.base, "."))
        if self._read is None or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", url):
            message = f"the reference {reference!r} points outside the document"
            hint = "save the referenced file next to the document, or bundle all files into one"
            raise UnreadableError(place, message, hint)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), unquote(url)))
        if path.startswith(("../", "/")) or path == ".." or "\0" in path:
            message = f"the reference {reference!r} points outside the document's folder"
            raise UnreadableError(place, message, "move the file into the folder of the document")
        return pointer if self._is_own(path) else f"{path}#{pointer}"

    def _is_own(self, file: str) -> bool:
        """Return whether a file contains this document itself."""
        if file not in self._own:
            with suppress(UnreadableError):
                self._own[file] = self._content(file, "") == self.document
        return self._own.get(file, False)

    def find(self, address: str, place: str = "") -> object:
        """Return the value at an address.

        Raises:
            UnreadableError: There is no value; the error's place is `place`.
        """
        if address not in self._found:
            file = file_of(address)
            pointer = address.partition("#")[2] if file else address
            value: object = resolved(self._content(file, place), pointer)
            if value is ABSENT:
                message = f"the reference {f'{file}#{pointer}'!r} points to nothing"
                raise UnreadableError(place or address, message, "correct it, or add its target")
            self._found[address] = value
        return self._found[address]

    def _content(self, file: str, place: str) -> object:
        if not file:
            return self.document
        if file not in self._files:
            try:
                self._files[file] = self._read(file) if self._read else None
            except ToolgenError as error:
                raise UnreadableError(
                    place, f"the reference points to {file!r}: {error}", error.hint
                ) from error
            self.size += size_of(self._files[file])
        return self._files[file]

    def target(self, reference: str, place: str) -> str | None:
        """Return the address of the schema that a `$ref` refers to.

        None for a dangling reference, which affects only the value that it represents; `dangling` records it.
        """
        key = reference, file_of(place)
        if key not in self._targets:
            try:
                address = self.address(reference, place)
                self.find(address, place)
            except UnreadableError as error:
                self.dangling.setdefault(place, error)
                return None
            self._targets[key] = address
        return self._targets[key]

    def schema(self, value: object, place: str) -> dict[str, object] | bool:
        """Return a schema; if the value is not a schema, accept anything and record it in `dangling`."""
        if isinstance(value, (dict, bool)):
            return value
        error = UnreadableError(place, f"expected a schema, not {a_kind(value)}", "write a schema")
        self.dangling.setdefault(place, error)
        return True

    def followed(self, value: object, address: str) -> tuple[dict[str, object], str]:
        """Return an object and its address, after following its `$ref`, if any.

        Raises:
            UnreadableError: The value is neither an object nor a reference to one.
        """
        for _ in range(_MOST_REFERENCES):
            if not isinstance(value, dict):
                raise UnreadableError(address, f"expected an object, not {a_kind(value)}")
            if not isinstance(reference := value.get("$ref"), str):
                return value, address
            place = joined(address, "$ref")
            address = self.address(reference, place)
            value = self.find(address, place)
        raise UnreadableError(address, "the reference is circular")


def file_of(address: str) -> str:
    """Return the file of an address; "" for the document itself."""
    return "" if address[:1] in ("", "/") else address.partition("#")[0]


def component_name(address: str) -> str:
    """Return the name of a schema: the last token of its address, or its file."""
    pointer = address.partition("#")[2] if file_of(address) else address
    tokens = tokens_of(pointer)
    if tokens[:2] == ["components", "schemas"]:
        return "_".join(tokens[2:])
    if not tokens:
        return posixpath.splitext(posixpath.basename(file_of(address)))[0] or "document"
    return tokens[-1] if len(tokens) == 1 or not tokens[-1].isdecimal() else "_".join(tokens[-2:])


def text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def schema_of(part: Mapping[str, object]) -> object:
    """Return the schema of a part; any value if it is missing or null, which some generators write."""
    schema = part.get("schema")
    return {} if schema is None else schema


def listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []

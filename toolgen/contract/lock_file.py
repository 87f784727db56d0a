"""The format of lock files: the content of a source when it was read, so that it need not be read again.

A lock is JSON with the number of the format, the kind of its source, and keys for the reader of that kind:
`mcp_lock.py` for a live MCP server, `importers/reimport/lock.py` for an import.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .json_value import Json, indented

LOCK_FORMAT: Final = 1
_MOST_LEVELS: Final = 300


class LockError(ValueError):
    """A text is not a lock, or was edited. The message continues a sentence that starts with its file."""


def lock_file_text(kind: str, facts: Mapping[str, Json]) -> str:
    """Return the text of a lock; keys keep their order."""
    document = {"lock": LOCK_FORMAT, "kind": kind, **facts}
    return indented(document) + "\n"


def read_lock_file(text: str | bytes, command: str) -> Any:
    """Return the JSON of a lock of any kind; `command` is the command that writes such a lock again.

    Raises:
        LockError: it is not JSON that toolgen reads, or has another format.
    """
    document = _document(text)
    match document:
        case {"lock": format} if type(format) is not int or format != LOCK_FORMAT:
            raise LockError(
                f"has lock format {format!r}, and this toolgen reads lock format {LOCK_FORMAT}: "
                f"write it again with {command}"
            )
        case {"lock": _} if "kind" in document:
            return document
        case {"lock": _} | {"format": "toolgen-import-4"}:
            raise LockError(f"is a lock file of an earlier toolgen: write it again with {command}")
    return None


def _document(text: str | bytes) -> Any:
    """Return the JSON value of a text.

    Raises:
        LockError: it is not JSON.
    """
    try:
        document: Any = json.loads(text, parse_constant=_refuse)
        json.dumps(document, ensure_ascii=False).encode()  # raises for lone surrogates
    except UnicodeEncodeError:
        raise LockError("is not JSON: it contains a lone surrogate") from None
    except (ValueError, RecursionError) as error:
        raise LockError(f"is not JSON: {error}") from None
    level = [document]
    for _ in range(_MOST_LEVELS):
        level = [inner for outer in level for inner in _members(outer)]
    if level:
        raise LockError(f"is nested more than {_MOST_LEVELS} levels deep")
    return document


def _members(value: Any) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")

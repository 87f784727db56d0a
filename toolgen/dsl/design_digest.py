"""The digest of a design: `generate` creates the same code for two designs with the same digest.

The digest depends on the value, independent of the code that built it. Clauses, and plain values of Python's
own classes, are completely known. A design with any other object, for example of the author's class, has no
digest, because its text might differ the next time.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any, Final
from uuid import UUID, SafeUUID

from toolgen import dsl
from toolgen.shapes.fields import Missing

from . import http
from .clause import Clause
from .composites import JSONSchema
from .structure import MCPToolset

_LISTED: Final = [*vars(dsl).values(), *(vars(http)[name] for name in http.__all__)]
CLAUSES: Final = frozenset(
    kind for each in _LISTED if issubclass(kind := each if isinstance(each, type) else type(each), Clause)
)
"""Every class from which an author creates clauses."""
_VALUES: Final = (
    *(date, datetime, timedelta, timezone, Decimal, UUID, SafeUUID, Missing),
    *(PurePath, PurePosixPath, PureWindowsPath, type(Path())),
)
"""Classes whose objects pickle identifies by their content, in addition to the classes built into pickle."""
_NAMED: Final = frozenset(map(id, [str, *_VALUES]))
"""Identities of the classes that are pickled by their names."""
_CLAUSE_KINDS: Final = frozenset(map(id, CLAUSES))
_VALUE_KINDS: Final = frozenset(map(id, _VALUES))
"""Identities, because an author's class can have its own hash."""
_FORGOTTEN: Final = frozenset(["source", "__orig_class__"])
"""Attributes of a clause that are not arguments: its place in the source, and the type for checkers."""


def design_digest(design: object) -> str:
    """Return the digest of a design, or of several values; "" if the content is not completely known.

    Files that clauses refer to are read: schemas, and locks of MCP servers.
    """
    content = BytesIO()
    try:
        _Pickler(content, pickle.HIGHEST_PROTOCOL).dump(design)
    except (pickle.PicklingError, RecursionError):
        return ""
    return sha256(content.getbuffer()).hexdigest()


class _Pickler(pickle.Pickler):
    """Pickles clauses without their places, and rejects content that is not completely known.

    An object that occurs twice is written once, so that one clause used twice differs from two equal clauses.
    """

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if id(kind) in _CLAUSE_KINDS:
            arguments: Mapping[str, object] = vars(value)
            written = {name: arguments[name] for name in arguments if name not in _FORGOTTEN}
            if kind is JSONSchema or kind is MCPToolset:
                written["\0"] = _content(value)
            return str, (kind.__name__,), written
        if id(kind) in _VALUE_KINDS or id(value) in _NAMED:
            return NotImplemented
        raise pickle.PicklingError


def _content(clause: Clause) -> str:
    """Return the digest of the file that a clause refers to; "" if there is none, or it cannot be read."""
    match clause:
        case MCPToolset(lock=str() as path) | JSONSchema(schema=str() | PurePath() as path):
            pass
        case _:
            return ""
    try:
        file = Path(clause.source.file).parent / path
        return sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    except (OSError, ValueError):
        return ""

"""The digest of a design: what `generate` makes of two designs of one digest is the same.

It is that of the value, whatever code has made it. Clauses, and the plain values that Python's own classes
have, are known as a whole. A design that holds anything else, such as an object of the author's class, has no
digest: nobody knows what a text of it will be the next time.
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
"""Every class of which an author makes clauses."""
_VALUES: Final = (
    *(date, datetime, timedelta, timezone, Decimal, UUID, SafeUUID, Missing),
    *(PurePath, PurePosixPath, PureWindowsPath, type(Path())),
)
"""Classes whose objects are known by what they are pickled as, beside those that pickle knows by itself."""
_NAMED: Final = frozenset(map(id, [str, *_VALUES]))
"""Identities of the classes that are pickled by their names."""
_CLAUSE_KINDS: Final = frozenset(map(id, CLAUSES))
_VALUE_KINDS: Final = frozenset(map(id, _VALUES))
"""Identities, as a class of the author's may have a hash of its own."""
_FORGOTTEN: Final = frozenset(["source", "__orig_class__"])
"""Attributes of a clause that are not its arguments: its place in the source, and the type for type
checkers."""


def design_digest(design: object) -> str:
    """Return the digest of a design, or of several values; "" where one holds what is not known as a whole.

    Files that clauses name are read: schemas, and locks of MCP servers.
    """
    content = BytesIO()
    try:
        _Pickler(content, pickle.HIGHEST_PROTOCOL).dump(design)
    except (pickle.PicklingError, RecursionError):
        return ""
    return sha256(content.getbuffer()).hexdigest()


class _Pickler(pickle.Pickler):
    """Pickles clauses without their places, and refuses what is not known as a whole.

    What is the same object stands once, so that one clause that is used twice is told from two equal ones.
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
    """Return the digest of the file that a clause names; "" where it names none, or none can be read."""
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

"""Names of parameters as servers read them: one name can have several spellings."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import Final
from urllib.parse import unquote_plus

_STEP: Final = re.compile(r"[\[\].]")
"""Start of a member's name: `filter[role]` in PHP, Rails and Node, `filter.role` in .NET and Spring; or its
end, after which PHP ignores the rest.
"""
_UNDERSCORES: Final = str.maketrans("[. ", "___")
"""Characters that PHP reads as an underscore."""


class TakenNames:
    """Names in a request, in all spellings that a server might accept for them.

    Servers ignore case, spaces around a name and everything after a null character, and read `filter[role]`
    as a member of `filter`.
    """

    def __init__(self, names: Iterable[str], free: Container[str] = ()) -> None:
        """Store the names, and exceptions that other parameters may have, exactly as spelled."""
        self._free = free
        plain = {_plain(name) for name in names}
        self._names = frozenset(plain | {name.removesuffix("[]") for name in plain}) - {""}
        self._beginnings = frozenset(part for name in self._names for part in _beginnings(name))
        """All prefixes of the names, for example `page`, which makes PHP drop `page[size]`."""

    def __contains__(self, name: str) -> bool:
        plain = _plain(name)
        return name not in self._free and (
            plain in self._beginnings
            or plain.translate(_UNDERSCORES) in self._names
            or not self._names.isdisjoint(_beginnings(plain))
        )


def name_of_part(part: str) -> str:
    """Return the name in a `name=value` part of a query."""
    return unquote_plus(part.partition("=")[0])


def _plain(name: str) -> str:
    return name.partition("\0")[0].strip().casefold()


def _beginnings(name: str) -> Iterator[str]:
    """Yield a name, and the names of which it is a member."""
    yield name
    for step in _STEP.finditer(name):
        yield name[: step.start()]

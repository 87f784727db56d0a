"""The base of every word of a design."""

from __future__ import annotations

from typing import Final

from toolgen.expr.source import Source


class Word:
    """Something an author wrote. It records what and where, checks nothing and never raises."""

    source: Final[Source]

    def __init__(self) -> None:
        self.source = Source.of_caller()

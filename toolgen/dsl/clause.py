"""The base class of all clauses."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from .expr.source import Source

Sentence: TypeAlias = Annotated[str, "with more in it than spaces"]
Span: TypeAlias = Annotated[str, "an amount of time, such as 30s"]


class Clause:
    """An element of a design. It records its arguments and its source, checks nothing and never raises."""

    source: Source

    def __init__(self) -> None:
        self.__post_init__()

    def __post_init__(self) -> None:
        """Record the place of the call; clauses that are dataclasses have their own `__init__`."""
        vars(self)["source"] = Source.of_caller()

    def __repr__(self) -> str:
        """Return the clause with its name but without its address, because messages show it."""
        arguments = vars(self)
        name = arguments.get("name", arguments.get("kind"))
        kind = type(self).__name__.removesuffix("Clause")
        return f"{kind}({name!r})" if isinstance(name, str) else f"{kind}(…)"


class Names(Clause):
    """A clause that is a list of names."""

    names: Final[tuple[str, ...]]

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

"""Checks the Python types of all arguments of clauses, before any other code reads them.

The result has the shape that the clauses' annotations promise: wrong children are omitted and wrong arguments
are replaced, after each was reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from operator import is_
from typing import Any as Anything
from typing import Final, TypeVar

from ...attributes import Attribute
from ...clause import Clause
from ...composites import MapOf
from ...datatypes import DataType, ScalarClause
from ...expr import codes
from ...expr.source import Source
from ...security import Security
from ...services import Design
from ...structure import MCPToolset
from ..mcp import locked_toolset
from ..report import Report, source_text
from ..types.spelling import clause_text
from .argument_types import (
    FLAG_WANTED,
    NAMES_WANTED,
    ClauseArguments,
    arguments_of,
    class_name,
    clause_class,
    is_text,
    shareable_clauses,
)
from .hints import argument_hint, place_hint, type_hint

BROKEN: Final = ScalarClause[Anything, Anything]("any")
"""Replaces a type that was reported; everything fits it, so that one cause gives one diagnostic."""

_DEEPEST: Final = 100
_MOST_CLAUSES: Final = 10
"""Maximum number of clauses that one message lists."""
_W = TypeVar("_W", bound=Clause)


def well_typed(design: Design, report: Report) -> Design:
    """Return the design without arguments of wrong Python types; report each of them."""
    return _Check(report).clause(design, design.source) or Design("?", "?")


def record_uses(design: Design, report: Report) -> None:
    """Record the uses of clauses; for a large design this takes much memory, and only findings show it."""
    _Check(Report(), uses=report).clause(design, design.source)


class _Check:
    def __init__(self, report: Report, uses: Report | None = None) -> None:
        self._report = report
        self._uses = uses
        self._done: dict[int, tuple[Clause, Clause | None]] = {}
        self._open: dict[int, Clause] = {}

    def clause(self, clause: _W, place: Source) -> _W | None:
        """Return the clause with its arguments and children checked; None if it cannot be used."""
        key = id(clause)
        if key not in self._done:
            source = getattr(clause, "source", place)
            if key in self._open or len(self._open) >= _DEEPEST:
                self._report.add(
                    codes.NESTED_TOO_DEEP,
                    source,
                    what=clause_label(clause),
                    fault=f"contains itself, or is nested deeper than {_DEEPEST}",
                    hint="name the inner type, and refer to it in quotes",
                )
                return None
            self._open[key] = clause
            self._done[key] = (clause, self._checked(clause, source))
            del self._open[key]
        checked: Anything = self._done[key][1]
        return checked  # type: ignore[no-any-return]  # a copy has the class of its original

    def _checked(self, clause: Clause, source: Source) -> Clause | None:
        kind = clause_class(clause)
        if kind is None:
            self._report.add(
                codes.WRONG_ARGUMENT,
                source,
                argument="a child",
                clause="the design",
                value=source_text(clause),
                wanted="a clause of toolgen.dsl",
                hint="import the clauses from toolgen.dsl",
            )
            return None
        facts = dict(vars(clause), source=source)
        arguments = arguments_of(kind)
        usable = self._arguments(clause, arguments, facts, source)
        for name, is_optional in arguments.types.items():
            value = facts.get(name)
            if isinstance(value, DataType):
                facts[name] = self.clause(value, source) or BROKEN
            elif value is not None or not is_optional:
                label = partial(_type_label, clause, kind, name, is_optional)
                facts[name] = self._type(value, label, source)
        for name in arguments.type_maps:
            branches = facts.get(name)
            written = branches if isinstance(branches, dict) else {}
            checked = {
                key: self._type(value, partial("branch {!r} of {}".format, key, kind.__name__), source)
                for key, value in written.items()
            }
            facts[name] = written if _are_same(checked.values(), written.values()) else checked
        if arguments.has_names:
            facts["names"] = self._names(facts.get("names"), clause, source)
        for name in arguments.clauses:
            usable = self._clause_argument(clause, kind, name, facts, source) and usable
        if arguments.children is not None:
            facts["children"] = self._children(facts.get("children"), clause, kind, source)
        if not usable:
            return None
        if not _are_same(facts.values(), vars(clause).values()):
            copy = object.__new__(type(clause))
            copy.__dict__.update(facts)
            clause = copy
        return locked_toolset(clause, self._report) if isinstance(clause, MCPToolset) else clause

    def _arguments(
        self, clause: Clause, arguments: ClauseArguments, facts: dict[str, object], source: Source
    ) -> bool:
        """Replace every wrong argument; return whether the clause can be used."""
        usable = True
        type_, text = facts.get("type"), facts.get("description")
        if isinstance(clause, Attribute) and isinstance(type_, str) and isinstance(text, DataType):
            usage = f"Attribute({source_text(clause.name)}, {clause_text(text)}, …)"
            self._wrong("description", clause, text, "a string", source, f"write the type first: {usage}")
            facts["type"], facts["description"] = text, type_
        for name, argument in arguments.values.items():
            value = facts.get(name)
            if not argument.accepts(value):
                facts[name] = argument.instead
                usable = usable and not argument.vital
                self._wrong(name, clause, value, argument.wanted, source)
        return usable

    def _clause_argument(
        self, holder: Clause, kind: type[Clause], name: str, facts: dict[str, object], source: Source
    ) -> bool:
        """Check a clause that is an argument; return whether the outer clause can be used."""
        allowed, is_optional = arguments_of(kind).clauses[name]
        value = facts.get(name)
        if value is None and is_optional:
            return True
        if isinstance(confirm := facts.get("confirm"), Mapping):
            facts["confirm"] = {
                tool: checked for tool in confirm if (checked := self.clause(confirm[tool], source))
            }
        if isinstance(value, Clause) and isinstance(value, allowed):
            facts[name] = self.clause(value, source)
            return facts[name] is not None or is_optional
        wanted = " or ".join(f"{_article(class_.__name__)} {class_.__name__}" for class_ in allowed)
        hint = ""
        if isinstance(value, (Clause, str)):
            label = clause_label(value) if isinstance(value, Clause) else ""
            hint = argument_hint(value, kind, label) or f"write {wanted}"
        self._wrong(name, holder, value, wanted, source, hint)
        facts[name] = None
        return is_optional

    def _wrong(
        self, argument: str, clause: Clause, value: object, wanted: str, source: Source, hint: str = ""
    ) -> None:
        self._report.add(
            codes.WRONG_ARGUMENT,
            source,
            argument=argument,
            clause=clause_label(clause),
            value=describe_value(value),
            wanted=wanted,
            hint=hint or _argument_hint(argument, value, wanted),
        )

    def _type(self, value: object, label: Callable[[], str], source: Source) -> object:
        """Return a checked type; the label of the argument is only for messages."""
        if isinstance(value, DataType):
            return self.clause(value, source) or BROKEN
        if is_text(value):
            return value
        argument, _, holder = label().partition(" of ")
        self._report.add(
            codes.WRONG_ARGUMENT,
            source,
            argument=argument,
            clause=holder,
            value=describe_value(value),
            wanted="a type",
            hint=type_hint(value),
        )
        return BROKEN

    def _names(self, names: object, clause: Clause, source: Source) -> tuple[object, ...]:
        written = names if isinstance(names, tuple) else (names,)
        for name in written:
            if not is_text(name):
                self._wrong("a name", clause, name, "a string", source, _star_hint(name))
        good = tuple(name for name in written if isinstance(name, str) and is_text(name))
        return written if _are_same(good, written) else good

    def _children(
        self, children: object, parent: Clause, kind: type[Clause], source: Source
    ) -> tuple[object, ...]:
        written = children if isinstance(children, tuple) else (children,)
        checked = (self._child(child, parent, kind, source) for child in written)
        good = tuple(child for child in checked if child is not None)
        return written if _are_same(good, written) else good

    def _child(self, child: object, parent: Clause, kind: type[Clause], source: Source) -> object:
        if isinstance(child, str) and DataType in _allowed_classes(kind):
            return child
        if not isinstance(child, Clause):
            self._wrong("a child", parent, child, _allowed_children(kind), source, _child_hint(child, kind))
            return None
        allowed_classes = _allowed_classes(kind)
        if not isinstance(child, allowed_classes):
            self._report.add(
                codes.MISPLACED_CLAUSE,
                _placed(child, source),
                child=clause_label(child),
                parent=clause_label(parent),
                hint=place_hint(child, kind, allowed_classes),
            )
            return None
        if self._uses and isinstance(child, shareable_clauses()):
            self._uses.record_use(getattr(child, "source", source), self._owner(), source)
        return self.clause(child, source)

    def _owner(self) -> str:
        """Return the innermost named clause among those being checked."""
        return next(
            clause_label(clause) for clause in reversed(self._open.values()) if hasattr(clause, "description")
        )


def _are_same(checked: Collection[object], written: Collection[object]) -> bool:
    """Return whether a check changed nothing, so that a large design is not copied."""
    return len(checked) == len(written) and all(map(is_, checked, written))


def _placed(child: Clause, holder: Source) -> Source:
    """Return the source of a child if it is inside its parent, otherwise the parent's source."""
    source: Source = getattr(child, "source", holder)
    return source if holder.encloses(source) else holder


def clause_label(clause: Clause) -> str:
    """Return a clause with its name, for messages: `Tool 'search'`."""
    name = getattr(clause, "name", getattr(clause, "kind", None))
    return f"{class_name(type(clause))} {source_text(name)}" if isinstance(name, str) else clause_text(clause)


def describe_value(value: object) -> str:
    """Return any value as the author might have written it, for messages."""
    if isinstance(value, Clause):
        return clause_label(value)
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return source_text(value)


def _argument_hint(argument: str, value: object, wanted: str) -> str:
    if argument == "description" and isinstance(value, Clause):
        return f"write a description before {clause_label(value)}"
    if argument == "tag":
        return 'the tag comes first, then a name for each branch: OneOf("kind", stop=…, wait=…)'
    if isinstance(name := getattr(value, "name", None), str) and isinstance(value, Clause):
        return f"write its name, {source_text(name)}"
    if isinstance(value, str) and wanted == NAMES_WANTED:
        return f"write {argument}=({source_text(value)},)"
    return f"write {argument}=True, or remove it" if wanted == FLAG_WANTED else f"write {wanted}"


def _star_hint(value: object) -> str:
    is_several = isinstance(value, (tuple, list, set, frozenset, Iterator))
    return "unpack it: write *items, so that each item is a separate argument" if is_several else ""


def _allowed_children(kind: type[Clause]) -> str:
    """Return the names of a clause's possible children; if they are many, only the first ones."""
    *names, last = (class_name(allowed) for allowed in _allowed_classes(kind))
    if len(names) > _MOST_CLAUSES:
        names, last = names[:_MOST_CLAUSES], "another clause"
    return f"{', '.join(names)} or {last}"


def _child_hint(child: object, kind: type[Clause]) -> str:
    if isinstance(child, type) and issubclass(child, Clause):
        return f"write {child.__name__}(…)"
    if child is None:
        return "remove it; for an optional clause write *([clause] if condition else [])"
    if isinstance(child, str) and "description" in arguments_of(kind).values:
        return "remove it: only the name and the description are strings"
    if isinstance(child, str) and kind is Security:
        return f"write a scheme, such as BearerSecurity({source_text(child)}, …) or APIKeySecurity(…)"
    return _star_hint(child) or "remove it"


def _allowed_classes(kind: type[Clause]) -> tuple[type[Clause], ...]:
    return arguments_of(kind).children or ()


def _type_label(clause: Clause, kind: type[Clause], name: str, is_optional: bool) -> str:
    """Return the name of an argument that is a type, for messages."""
    if kind is MapOf:
        return f"the {name.removesuffix('s')} type of MapOf"
    return f"{name if is_optional else 'the type'} of {clause_label(clause)}"


def _article(name: str) -> str:
    return "an" if name.startswith(("A", "E", "I", "O", "MCP")) else "a"

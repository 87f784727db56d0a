"""Adds and removes guards in a merged design: clauses and keywords that make a tool more careful."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from toolgen.dsl.words import spelling

from .matching import Key
from .source_text import SourceText
from .statement_edits import StatementEdits
from .targets import (
    FLOWS,
    OWNERS,
    address_of,
    addresses_in,
    attributes_of,
    clause_of,
    clauses_in,
    is_accepted,
    name_in,
)

Owners: TypeAlias = dict[Key, ast.Call]
"""Tools, methods and types of a module by clause and name."""

ACCEPTED: Final = "accepted"
SENSITIVE: Final = "sensitive"
_GUARDS: Final = ("Confirm", "Needs", "Sequential", "Timeout")
"""Clauses that make a tool more careful, in addition to `Inject`."""
_LOOSE_HINTS: Final = {"read_only": True, "idempotent": True, "destructive": False, "open_world": False}
"""Hints in `Annotations` that make a tool less careful."""


@dataclass(slots=True)
class Needed:
    """Guards that an owner in the merged design needs."""

    clauses: dict[str, str] = field(default_factory=dict[str, str])
    """Texts of guards by clause."""
    injected: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, dict[str, str]] = field(default_factory=dict)
    """Keywords and their values by the path of an attribute."""


class MergedDesign:
    """The tools, methods and types of a merged design, and the edits of its statements."""

    def __init__(self, edits: list[StatementEdits]) -> None:
        self.trees = [each for edit in edits for each in edit.source.tree.body]
        self._edits = {
            id(node): edit
            for edit in edits
            for node in clauses_in([edit.source.tree], *OWNERS, "Server", *FLOWS)
        }
        self.owners = owners_in(ast.Module([*self.trees], []))

    def guards(self, key: Key) -> dict[str, str]:
        """Return the guards of a tool by clause."""
        tool = self.owners[key]
        edit = self._edits[id(tool)]
        return {clause_of(each): without_condition(each, edit.source) for each in guards_in(tool)}

    def guard(self, key: Key, need: Needed) -> None:
        """Add the missing guards to an owner."""
        owner = self.owners[key]
        edit = self._edits[id(owner)]
        existing_clauses = self.guards(key) if key[0] == "Tool" else need.clauses
        if missing := [text for clause, text in need.clauses.items() if clause not in existing_clauses]:
            edit.append(owner, missing)
        names = [json.dumps(each) for each in need.injected if each not in injected_in(owner)]
        clauses = [each for each in owner.args if isinstance(each, ast.Call) and clause_of(each) == "Inject"]
        if names and clauses:
            edit.append(clauses[-1], names)
        elif names:
            edit.append(owner, [f"{spelling('Inject')}({', '.join(names)})"])
        attributes = {path_of(place): node for place, node in attributes_of(owner).items()}
        for path, keywords in need.keywords.items():
            if path not in attributes:
                continue
            node = attributes[path]
            values = {each.arg: each.value for each in node.keywords}
            for word, text in keywords.items():
                if word not in values or (word == SENSITIVE and is_false(values[word])):
                    edit.set_keyword(node, word, text)

    def tighten(self, key: Key, imported_tool: ast.Call) -> None:
        """Remove settings that loosen a tool beyond its source, and restore those of the source."""
        tool = self.owners[key]
        edit = self._edits[id(tool)]
        source = {clause_of(each): each for each in imported_tool.args if clause_of(each)}
        own_clauses = {clause_of(each): each for each in tool.args if isinstance(each, ast.Call)}
        if "Bookkeeping" in own_clauses and "Bookkeeping" not in source:
            edit.remove(tool, own_clauses["Bookkeeping"])
        for word in _GUARDS:
            if word in source and word not in own_clauses:
                edit.append(tool, [ast.unparse(source[word])])
        confirm = own_clauses.get("Confirm")
        when = _keyword(confirm, "when")
        if confirm is not None and when is not None and not _keyword(source.get("Confirm"), "when"):
            edit.remove(confirm, when)
        hints = own_clauses.get("Annotations")
        if not isinstance(hints, ast.Call):
            if imported := source.get("Annotations"):
                edit.append(tool, [ast.unparse(imported)])
            return
        for word, is_loose in _LOOSE_HINTS.items():
            imported, own = _keyword(source.get("Annotations"), word), _keyword(hints, word)
            if imported is not None and (own is None or (_is(own, is_loose) and not _is(imported, is_loose))):
                edit.set_keyword(hints, word, ast.unparse(imported))
            elif own is not None and imported is None and not _is(own, not is_loose):
                edit.remove(hints, own)

    def refuse(self, may_accept: Callable[[str, str], bool]) -> None:
        """Mark addresses as not accepted unless `may_accept` allows them for their owner."""
        for owner, node in addresses_in(self.trees):
            if is_accepted(node) and not may_accept(owner, address_of(node)):
                self._edits[id(node)].set_keyword(node, "accepted", "False")


def owners_in(tree: ast.Module) -> Owners:
    """Return the tools, methods and types of a module; repeated names are numbered."""
    owners: Owners = {}
    for node in clauses_in([tree], *OWNERS):
        key: Key = clause_of(node), repr(name_in(node))
        number = 1
        while key in owners:
            number += 1
            key = (*key[:2], str(number))
        owners[key] = node
    return owners


def path_of(place: str) -> str:
    """Return a place without its owner: `argument:card.number` for `argument:pay.card.number`."""
    side, _, rest = place.partition(":")
    return f"{side}:{rest.partition('.')[2]}"


def sensitive_in(author: ast.Call) -> dict[str, dict[str, str]]:
    """Return the sensitive attributes of an owner without an import, by their paths."""
    return {
        path_of(place): {SENSITIVE: "True"}
        for place, attribute in attributes_of(author).items()
        if any(each.arg == SENSITIVE and not is_false(each.value) for each in attribute.keywords)
    }


def paths_of(owner: ast.Call) -> dict[str, str]:
    """Return the places of attributes by side and path, for example `argument:card.number`."""
    return {path_of(place): place for place in attributes_of(owner)}


def named(key: Key) -> str:
    return str(ast.literal_eval(key[1]))


def renamed(place: str, key: Key) -> str:
    """Return the place of an attribute under an owner with another name."""
    side, _, path = path_of(place).partition(":")
    return f"{side}:{named(key)}.{path}"


def injected_in(tool: ast.Call) -> Iterator[str]:
    """Yield the names of the arguments that a tool injects."""
    for clause in tool.args:
        if isinstance(clause, ast.Call) and clause_of(clause) == "Inject":
            yield from (str(each.value) for each in clause.args if isinstance(each, ast.Constant))


def guards_in(tool: ast.Call) -> Iterator[ast.Call]:
    """Yield the clauses that make a tool more careful; none for other owners."""
    for clause in tool.args if clause_of(tool) == "Tool" else ():
        if isinstance(clause, ast.Call) and clause_of(clause) in _GUARDS:
            yield clause


def without_condition(clause: ast.Call, source: SourceText) -> str:
    """Return the text of a guard without its condition, so that it applies to all calls."""
    arguments = [source.text_of(each) for each in clause.args]
    arguments += [
        f"{each.arg}={source.text_of(each.value)}" for each in clause.keywords if each.arg != "when"
    ]
    return f"{source.text_of(clause.func)}({', '.join(arguments)})"


def for_another_tool(clause: ast.Call, text: str) -> str:
    """Return a guard for another tool, without references to arguments that it might lack."""
    match clause_of(clause):
        case "Confirm":
            hints = [*clause.args[:1], *filter(None, [_keyword(clause, "hint")])]
            plain = [each for each in hints if isinstance(each, ast.Constant) and "{" not in str(each.value)]
            hint = json.dumps(plain[0].value, ensure_ascii=False) if plain else ""
            return f"{spelling('Confirm')}({hint})"
        case "Sequential":
            by = _keyword(clause, "by")
            return (
                text
                if by is None or (isinstance(by, ast.Constant) and by.value == "session")
                else f"{spelling('Sequential')}()"
            )
    return text


def _keyword(node: ast.AST | None, name: str) -> ast.expr | None:
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return next((each.value for each in keywords if each.arg == name), None)


def _is(node: ast.expr, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def is_false(node: ast.expr) -> bool:
    return _is(node, False)

"""Protocols with one implementer are seams, few and named: `python -m tests.test_protocols` lists all.

A protocol is for what hosts implement, or for what is there twice. Where the import table keeps a class away,
pass the functions that are called, or move the class.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from tests.sources import trees

ROOT: Final = Path(__file__).parents[1]
HOSTS: Final = ("docs", "examples", "tests")
"""Folders with code of hosts."""
MOST: Final = 10
SEAMS: Final = {
    "Suspender": "calls that wait for an answer",
    "LoopOwner": "agents of a runtime, for the runs of calls",
    "CallService": "calls of a snapshot of tools",
    "SuspensionService": "answers to the calls of a snapshot",
    "CallSpans": "spans of calls",
    "CallMetrics": "metrics of calls",
    "Artifacts": "artifacts at the context of an executor",
    "ArtifactKeeper": "artifacts of results",
    "TokenSource": "tokens of OAuth 2",
    "QueueEngine": "queues of an engine with many workers",
}
"""Other protocols that toolgen implements once, with their purpose.

Their callers must not import the class that implements them, or a host can replace it.
"""
STORES: Final = {"CredentialStore", "PayloadStore", "SessionStore"}
"""Protocols that documents tell hosts to implement, and that toolgen implements once."""

Members: TypeAlias = Mapping[str, frozenset[str] | None]
"""The names of the parameters of each method; None for an attribute."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Class:
    """A class, by its syntax tree."""

    place: str
    name: str
    bases: tuple[str, ...]
    members: Members
    """Without what it inherits."""

    @property
    def is_protocol(self) -> bool:
        return "Protocol" in self.bases


def test_a_protocol_with_one_implementer_is_listed_with_its_purpose() -> None:
    single = {protocol.name for protocol, own in implementers().items() if len(own) == 1}
    assert single == {*SEAMS, *STORES}
    assert len(SEAMS) <= MOST


def implementers() -> dict[Class, list[Class]]:
    """Return the implementers of each protocol of toolgen.

    A class implements a protocol if it inherits from it, or has all of its members with all parameters. One
    that inherits from another implementer does not count. Protocols with `__call__` alone are left out, for
    functions implement them, and so are those that only describe classes of other packages.
    """
    classes = list(classes_in("toolgen"))
    words = {name for each in classes if each.is_protocol for name in (each.name, *each.members)}
    for folder in HOSTS:
        classes += classes_in(folder, re.compile(rf"\b(?:{'|'.join(words)})\b"))
    by_name: dict[str, list[Class]] = {}
    for each in classes:
        by_name.setdefault(each.name, []).append(each)
    lines = {each: line_of(each, by_name) for each in classes}
    members = {each: all_members(line) for each, line in lines.items()}
    found: dict[Class, list[Class]] = {}
    for protocol in classes:
        required = members[protocol]
        if (
            not protocol.is_protocol
            or not protocol.place.startswith("toolgen/")
            or [*required] == ["__call__"]
        ):
            continue
        fitting = {
            each
            for each in classes
            if not each.is_protocol and (protocol in lines[each] or fits(members[each], required))
        }
        found[protocol] = [each for each in fitting if fitting.isdisjoint(lines[each][1:])]
    return found


def fits(own: Members, required: Members) -> bool:
    for name, parameters in required.items():
        if name not in own or (parameters is None) != (own[name] is None):
            return False
        if not (parameters or frozenset()) <= (own[name] or frozenset()):
            return False
    return True


def line_of(each: Class, by_name: Mapping[str, list[Class]]) -> list[Class]:
    """Return a class and what it inherits from; a name that several classes have means all of them."""
    line = [each]
    for ancestor in line:
        line += [base for name in ancestor.bases for base in by_name.get(name, ()) if base not in line]
    return line


def all_members(line: list[Class]) -> Members:
    return {name: own for ancestor in reversed(line) for name, own in ancestor.members.items()}


def classes_in(folder: str, words: re.Pattern[str] | None = None) -> Iterator[Class]:
    """Yield the classes of a folder and of the blocks of its documents, of files with one of the words."""
    for file in sorted((ROOT / folder).rglob("*.*")):
        if file.suffix not in (".py", ".md") or {"cases", "gen"} & {*file.parts}:
            continue
        text = file.read_text("utf-8")
        blocks = [text] if file.suffix == ".py" else re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        for block in blocks:
            if "class " in block and (words is None or words.search(block)):
                yield from classes_of(block, file.relative_to(ROOT).as_posix())


def classes_of(text: str, place: str) -> Iterator[Class]:
    try:
        tree = trees().get(place.removeprefix("toolgen/")) or ast.parse(text)
    except SyntaxError:  # a design that is broken on purpose
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
            names = tuple(base.id for base in bases if isinstance(base, ast.Name))
            yield Class(place=place, name=node.name, bases=names, members=members_of(node))


def members_of(of: ast.ClassDef) -> Members:
    members: dict[str, frozenset[str] | None] = {
        node.attr: None
        for node in ast.walk(of)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    for node in of.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name != "__init__":
                is_attribute = any("property" in ast.unparse(each) for each in node.decorator_list)
                parameters = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                members[node.name] = None if is_attribute else frozenset(each.arg for each in parameters)
            case ast.AnnAssign(target=ast.Name(id=name)):
                members[name] = None
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Name(id=other)
            ):  # another name of a method
                members[name] = members.get(other)
            case ast.Assign(targets=[ast.Name(id=name)]) if name != "__slots__":
                members[name] = None
            case _:
                pass
    return members


if __name__ == "__main__":
    for protocol, own in sorted(implementers().items(), key=lambda item: (len(item[1]), item[0].name)):
        print(
            len(own),
            f"{protocol.place}:{protocol.name}",
            *sorted(f"{each.place}:{each.name}" for each in own),
        )

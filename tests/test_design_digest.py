"""Two designs of one digest have the same code: what changes of a clause changes the digest or no byte."""

from __future__ import annotations

import datetime as dt
import gc
import os
from collections.abc import Iterator, Mapping
from copy import deepcopy
from decimal import Decimal
from enum import IntEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from tests.conftest import in_a_process
from tests.golden import NAMES, module
from toolgen import dsl
from toolgen.codegen import generate
from toolgen.dsl import http
from toolgen.dsl.clause import Clause
from toolgen.dsl.design_digest import CLAUSES, design_digest
from toolgen.dsl.expr.source import Source

ADDRESS = "https://example.org/token"
MORE = dsl.Design(
    "more",
    "What no other design here has.",
    dsl.Service(
        "web",
        "A service.",
        http.Server("https://example.org"),
        http.Security(http.OAuth2Security("office", "Sign in.", http.ClientCredentialsFlow(token=ADDRESS))),
        dsl.Method(
            "look", "Look.", http.HTTP(http.HEAD("/a"), http.Accept("text/plain"), http.Response(200))
        ),
        dsl.Method("ask", "Ask.", http.HTTP(http.OPTIONS("/a"), http.Response(204))),
        dsl.Toolset(
            "tools",
            "Some tools.",
            dsl.Tool(
                "find",
                "Find it.",
                dsl.Args(dsl.Attribute("id", dsl.String, "Its id."), dsl.Required("id")),
                dsl.Return(dsl.Attribute("text", dsl.String, "The text.")),
                dsl.Breaks("Nobody sends it.", "argument-removed"),
                dsl.Suppress("many-arguments", "They are few."),
            ),
        ),
        dsl.Agent("clerk", "A clerk.", dsl.Budget(tools_tokens=9_000)),
    ),
)


@cache
def designs() -> Mapping[str, dsl.Design]:
    return {"more": MORE} | {case: import_module(module(case)).design for case in NAMES}


def clauses(value: object) -> Iterator[Clause]:
    """Yield every clause in a value, however it is held."""
    waiting, seen = [value], set[int]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Clause():
                yield value
                waiting += vars(value).values()
            case tuple() | list():
                waiting += value
            case dict():
                waiting += value.values()


@cache
def smallest() -> Mapping[type[Clause], str]:
    """Return a design that has a clause, by the class of it."""
    sizes = {name: len(list(clauses(design))) for name, design in designs().items()}
    found: dict[type[Clause], str] = {}
    for name in sorted(sizes, key=sizes.__getitem__):
        for clause in clauses(designs()[name]):
            found.setdefault(type(clause), name)
    return found


class Text(str):
    """A text that may say something else each time."""


class Number(IntEnum):
    ONE = 1


def others(value: Any) -> Iterator[object]:
    """Yield values in the place of one: of other classes, equal ones, and ones that differ deep inside."""
    yield from (None, True, False, 0, 1, 1.0, -0.0, "", "1", b"1", (), [], {}, "changed", ("changed",))
    yield from (Decimal("1.0"), Decimal("1.00"), dt.timedelta(1), UUID(int=1), Path("a"))
    yield from (object(), object, len, Text(value), Number.ONE, {1, 2}, range(2), frozenset("ab"))
    match value:
        case str():
            yield from (f"{value} ", value.swapcase(), "".join(list(value)))
        case bool() | int():
            yield from (value + 1, float(value), str(value))
        case tuple() | list():
            yield from (list(value), tuple(value), [*value, *value], value[::-1], value[1:])
            yield from (
                [*value[:at], each, *value[at + 1 :]] for at in range(len(value)) for each in ("x", None)
            )
        case dict():
            yield from (dict(reversed(value.items())), MappingProxyType(value), {**value, "x": 1})
            yield from ({**value, key: other} for key in value for other in ("x", None, [value[key]]))
        case Clause():
            yield from (deepcopy(value), type(value).__name__, [value], dsl.String, dsl.Int)


def written(design: dsl.Design) -> object:
    """Return what is generated, or what is wrong with a design."""
    evaluation = dsl.build(design)
    if evaluation.design is None:
        return [(finding.code, finding.message) for finding in evaluation.diagnostics]
    return generate(evaluation.design, module="d")


def test_every_clause_stands_in_a_design_here() -> None:
    assert smallest().keys() == CLAUSES


def test_an_unchanged_design_has_one_digest() -> None:
    for name, design in designs().items():
        assert (digest := design_digest(design)), name
        assert design_digest(deepcopy(design)) == digest, name


@pytest.mark.parametrize("kind", sorted(CLAUSES, key=str), ids=lambda kind: str(kind).split("'")[1])
def test_what_changes_of_a_clause_changes_the_digest_or_no_byte(kind: type[Clause]) -> None:
    design = deepcopy(designs()[smallest()[kind]])
    clause = next(each for each in clauses(design) if type(each) is kind)
    arguments, before, texts = dict(vars(clause)), design_digest(clause), written(design)
    whole = design_digest(design)
    for name in arguments.keys() - {"source"}:
        for other in others(arguments[name]):
            vars(clause)[name] = other
            if design_digest(clause) == before and design_digest(design) == whole:
                assert written(design) == texts, (name, other)
        vars(clause).pop(name)
        assert design_digest(clause) != before or name == "__orig_class__", name
        vars(clause).clear()
        vars(clause).update(arguments)
    assert design_digest(clause) == before
    vars(clause)["more"] = 1
    assert design_digest(clause) != before


def here() -> Source:
    return vars(dsl.Terminal())["source"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["more", *NAMES])
def test_places_change_neither_the_digest_nor_a_byte(name: str) -> None:
    design = deepcopy(designs()[name])
    before, texts = design_digest(design), written(design)
    for clause in clauses(design):
        if not isinstance(clause, dsl.JSONSchema | dsl.MCPToolset):  # they are read from beside their file
            vars(clause)["source"] = here()
    assert (design_digest(design), written(design)) == (before, texts)


def test_one_clause_that_is_used_twice_is_told_from_two() -> None:
    """One name can only mean one of them."""
    place = dsl.Type("Place", "A place.", dsl.Attribute("name", dsl.String, "Its name."))

    def of(first: dsl.Type, second: dsl.Type) -> dsl.Design:
        return dsl.Design("a", "A.", first, second)

    assert design_digest(of(place, place)) != design_digest(of(place, deepcopy(place)))


@pytest.mark.parametrize(
    "value",
    [
        Text("a"),
        Number.ONE,
        object(),
        Text,
        len,
        lambda: 1,
        iter("ab"),
        dt.datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/Berlin")),
        MappingProxyType({}),
        type("Own", (dsl.Tool,), {})("own", "Own."),
        type("Meta", (type,), {"__hash__": lambda _: 1 / 0})("Odd", (), {})(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_may_be_another_value_the_next_time_has_no_digest(value: object) -> None:
    assert design_digest(dsl.Example({"a": value})) == ""
    assert design_digest(dsl.Example({"a": 1})) != ""


def test_a_value_that_holds_itself_or_is_deep_ends() -> None:
    itself: list[object] = []
    itself.append(itself)
    design_digest(dsl.Example({"a": itself}))
    deep: object = None
    for _ in range(100_000):
        deep = [deep]
    assert design_digest(dsl.Example({"a": deep})) == ""
    while isinstance(deep, list):  # so that it is not freed at once, which Python does by recursion
        deep = deep.pop()
    gc.collect()


def test_the_file_that_a_clause_names_counts(tmp_path: Path) -> None:
    code = compile("from toolgen.dsl import JSONSchema, MCPToolset\n", str(tmp_path / "design.py"), "exec")
    source = Source(code, 0)
    for clause in (
        dsl.JSONSchema("a.json"),
        dsl.JSONSchema(Path("a.json")),
        dsl.MCPToolset("a", lock="a.json"),
    ):
        vars(clause)["source"] = source
        digests = [design_digest(clause)]
        for text in ("{}", "[]"):
            (tmp_path / "a.json").write_text(text)
            digests.append(design_digest(clause))
        (tmp_path / "a.json").unlink()
        os.mkfifo(tmp_path / "a.json")
        assert design_digest(clause) == digests[0]
        (tmp_path / "a.json").unlink()
        assert len(set(digests)) == 3


@pytest.mark.exhaustive
def test_processes_agree(tmp_path: Path) -> None:
    program = (
        "from tests.cases.unions.design import design\n"
        "from toolgen.dsl.design_digest import design_digest\n"
        "print(design_digest(design))"
    )
    said = {in_a_process(tmp_path, "-c", program, PYTHONHASHSEED=seed).stdout for seed in "12"}
    assert len(said) == 1
    assert len(said.pop()) == 65

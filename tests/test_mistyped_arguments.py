"""`build` survives any tree of words, however wrong."""

import datetime as dt
import inspect
import random
from typing import Any as Anything
from typing import get_args

import pytest

import toolgen.dsl
from tests.checked import DEVICE, codes
from tests.selection import first
from toolgen.contract.findings import Format, render
from toolgen.dsl import (
    Agent,
    Args,
    ArrayOf,
    Attribute,
    BindTo,
    BoundedResult,
    Completion,
    Design,
    Export,
    Float,
    History,
    Method,
    Payload,
    Result,
    Return,
    RunPolicy,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    Use,
    build,
)
from toolgen.dsl.clause import Clause


class Hostile:
    """A value that can be neither shown nor compared."""

    __hash__ = None  # type: ignore[assignment]  # as for a list

    def __repr__(self) -> str:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


FORMATS: tuple[Format, ...] = get_args(Format)
LOOP: list[object] = []
LOOP.append(LOOP)
GARBAGE = [
    None, True, -1, 1.5, float("nan"), 10**5000, -(10**5000), "", "a b", "kind", "Device",
    "\ud800", "日本", b"x", "[", (), [], {}, ["a", 1], {"a": "b"}, {1: 2}, LOOP, {"x": LOOP},
    Hostile(), object(), str, list[int], Attribute, BoundedResult, String, Float, range(3), {1}, 2**70,
    dt.timedelta(1), dt.datetime(2026, 1, 31),  # noqa: DTZ001
]  # fmt: skip
WORDS = [
    word for word in vars(toolgen.dsl).values() if inspect.isclass(word) and word.__name__ != "Evaluation"
]


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(4, 10))]


def garbage(chance: random.Random, depth: int) -> object:
    """Return a word with anything in it, or anything else."""
    if depth == 0 or chance.random() < 0.4:
        return chance.choice(GARBAGE)
    word = chance.choice(WORDS)
    positional: list[object] = []
    named: dict[str, object] = {}
    for parameter in list(inspect.signature(word.__init__).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += [garbage(chance, depth - 1) for _ in range(chance.randrange(4))]
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= {name: garbage(chance, depth - 1) for name in chance.sample(["a", "kind", "x y"], 2)}
        elif parameter.default is parameter.empty:
            usable = chance.random() < 0.7 and parameter.name in ("name", "description", "kind", "tag")
            value = chance.choice(["aa", "Device"]) if usable else garbage(chance, depth - 1)
            if parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                positional.append(value)
        elif parameter.kind is parameter.KEYWORD_ONLY and chance.random() < 0.3:
            named[parameter.name] = garbage(chance, depth - 1)
    return word(*positional, **named)


@pytest.mark.parametrize("seed", first(SEEDS))
def test_nothing_that_is_wrong_raises(seed: int) -> None:
    """Every tree of words gives a design or diagnostics, and each can be shown."""
    chance = random.Random(seed)
    for _ in range(20):
        wrong = [garbage(chance, 4) for _ in range(6)]
        tool = Tool("t", "T.", *wrong[:2], Args(*wrong[2:4]), Return(*wrong[1:3]), BindTo("m"))  # type: ignore[arg-type]
        method = Method("m", "M.", Payload(*wrong[3:5]), Result(*wrong[1:2]))  # type: ignore[arg-type]
        toolset = Toolset("t", "T.", tool, *wrong[4:])  # type: ignore[arg-type]
        design = Design("home", "A home.", DEVICE, Service("S", "S.", method, toolset), *wrong)  # type: ignore[arg-type]
        evaluation = build(design)
        assert (evaluation.design is None) == bool(evaluation.diagnostics)
        assert all(
            render(evaluation.diagnostics, format, "/") for format in FORMATS if evaluation.diagnostics
        )


@pytest.mark.parametrize("seed", first(SEEDS))
def test_nothing_that_is_wrong_with_agents_raises(seed: int) -> None:
    """As above, for what agents and completions take."""
    chance = random.Random(seed)
    for _ in range(20):
        wrong: list[Anything] = [garbage(chance, 3) for _ in range(10)]
        tools = Toolset("t", "T.", Tool("t", "T.", Args(Attribute("a", String, "A.")), Return(*wrong[:1])))
        use = Use(tools, only=wrong[1], exclude=wrong[2], prefix=wrong[3], confirm=wrong[4])
        limits = {
            name: wrong[chance.randrange(10)]
            for name in ("max_tool_calls", "time_budget", "tool_timeout", "on_missing_fields")
        }
        policy = RunPolicy(**limits, history=History(wrong[5], summarize_after=wrong[6]))
        first = Agent("x", "X.", use, Use(wrong[7]), policy, *wrong[8:])
        second = Agent("y", "Y.", Export(tools, prompts=wrong[chance.randrange(10)]), *wrong[:2])
        services = [
            Service("S", "S.", first, Completion("c", "C.", *wrong[:2])),
            Service("R", "R.", second, first, *wrong[2:4]),
        ]
        evaluation = build(Design("home", "A home.", *services))
        assert (evaluation.design is None) == bool(evaluation.diagnostics)
        assert all(
            render(evaluation.diagnostics, format, "/") for format in FORMATS if evaluation.diagnostics
        )


def test_words_that_hold_themselves_are_reported() -> None:
    """Nothing but a change of a finished word can do this, and it is a diagnostic all the same."""
    array = ArrayOf(String)
    vars(array)["items"] = array
    assert codes(Type("T", "T.", Attribute("a", array, "A."))) == ["nested-too-deep"]


def test_a_class_of_the_author_is_checked_as_the_clause_that_it_derives_from() -> None:
    """Even where its constructor sets nothing: every argument is reported, and nothing raises."""

    class Bare(Tool):
        def __init__(self, *children: Anything) -> None:
            Clause.__init__(self)
            vars(self)["children"] = children

    required = Attribute("a", String, "A.")
    found = codes(Service("S", "S.", Toolset("t", "T.", Bare(required, Args(required)))))
    assert sorted(set(found)) == ["empty-toolset", "misplaced-clause", "wrong-argument"]

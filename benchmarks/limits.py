"""How the cost of a document grows, of whatever a model sends: processor time, memory, bytes of the reply.

Run: `python -m benchmarks.limits`. Each document is taken twice, once for its processor time and once for the
most memory that Python holds meanwhile. A document that exceeds a limit costs no more than one within it, and
a union no more than its budget, however deep.
"""

from __future__ import annotations

import asyncio
import json
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from tests.shapes.test_steps import ATTACKS, FAULTS
from toolgen.runtime import Runtime, ToolError, ToolValidationError
from toolgen.runtime.functions import Codec, SchemaCodec, func_tool, function_toolset
from toolgen.runtime.generated import SchemaModel
from toolgen.shapes.foreign.rules import Rules
from toolgen.shapes.steps import MOST_STEPS, document_steps

COUNTS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
DEPTHS = (4, 8, 12, 16, 32, 60)


# What a tool takes, and what comes of too much of it.


class Room(TypedDict):
    """An item of a list."""

    id: int
    name: str
    floor: int


class Nested(BaseModel):
    """What may stand inside itself."""

    inside: Nested | None = None
    numbers: list[int] = []


async def store(rooms: list[Room], note: str = "", nested: Nested | None = None) -> int:
    """Store rooms."""
    raise ToolError(note) if note else ToolError("nothing is stored")


FLOODS: dict[str, Callable[[int], str]] = {
    "unknown keys": lambda n: json.dumps({f"key_{number}": 1 for number in range(n)}),
    "items of a wrong type": lambda n: json.dumps({"rooms": ["hall"] * n}),
    "items without their keys": lambda n: json.dumps({"rooms": [{}] * n}),
    "wrong items, 50 levels down": lambda n: _inside(50, {"numbers": ["one"] * n}),
    "levels": lambda n: '{"rooms":[],"nested":%s}' % ('{"inside":' * n + "{}" + "}" * n),
    "brackets": lambda n: "[" * n,
    "bytes of one key": lambda n: json.dumps({"k" * n: 1}),
    "bytes that the tool says again": lambda n: json.dumps({"rooms": [], "note": "n" * n}),
}


def _inside(depth: int, document: Any) -> str:
    for _ in range(depth):
        document = {"inside": document}
    return json.dumps({"rooms": [], "nested": document})


# Unions whose branches lead to the same union again.


class Lamp(SchemaModel):
    model_config = ConfigDict(extra="forbid")

    watts: int
    next: Lamp | Lock | None = None


class Lock(SchemaModel):
    model_config = ConfigDict(extra="forbid")

    code: str
    next: Lamp | Lock | None = None


class Sum(SchemaModel):
    op: Literal["add"] | None = None
    next: Sum | Product | None = None


class Product(SchemaModel):
    op: Literal["mul"] | None = None
    next: Sum | Product | None = None


class Text(SchemaModel):
    value: str
    next: Text | Number | None = None


class Number(SchemaModel):
    value: float
    next: Text | Number | None = None


class Left(SchemaModel):
    left: int | None = None
    next: Left | Right | None = None


class Right(SchemaModel):
    right: int | None = None
    next: Left | Right | None = None


class One(BaseModel):
    one: int
    next: One | Other | None = None


class Other(BaseModel):
    other: int
    next: One | Other | None = None


ByKeys: TypeAlias = Lamp | Lock
ByTags: TypeAlias = Sum | Product
ByTypes: TypeAlias = Text | Number
ByNothing: TypeAlias = Left | Right


async def functions(value: One | Other) -> int:
    """Take a model of either class."""
    return 1


def either(one: Mapping[str, Any], other: Mapping[str, Any], **facts: Any) -> dict[str, Any]:
    """Return the schema of two objects with these properties, each of which may hold either."""
    objects = {
        name: {
            "type": "object",
            "properties": {**properties, "next": {"$ref": "#"}},
            "required": [*properties],
            **facts,
        }
        for name, properties in (("One", one), ("Other", other))
    }
    return {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in objects], "$defs": objects}


def foreign(name: str, schema: dict[str, Any], *, is_exact: bool = True) -> Codec[Any]:
    return SchemaCodec(None, __name__, name, {name: json.dumps(schema)}, is_exact=is_exact)


KEYS = either({"watts": {"type": "integer"}}, {"code": {"type": "string"}}, additionalProperties=False)
TAGS = either({"op": {"const": "add"}}, {"op": {"const": "mul"}}, required=[])
TYPES = either({"value": {"type": "string"}}, {"value": {"type": "number"}})
NOTHING = either({"left": {"type": "integer"}}, {"right": {"type": "integer"}}, required=[])
UNIONS: list[tuple[str, Codec[Any], dict[str, Any], dict[str, Any]]] = [
    ("by required keys", foreign("ByKeys", KEYS), {"watts": 5}, {"volts": 5}),
    ("by required keys, with rules", foreign("ByKeys", KEYS, is_exact=False), {"watts": 5}, {"volts": 5}),
    ("by an optional constant", foreign("ByTags", TAGS), {"op": "add"}, {"op": "sub"}),
    ("by the type of a member", foreign("ByTypes", TYPES), {"value": "five"}, {"value": None}),
    ("models of a function", func_tool(functions).spec.payload, {"one": 1}, {"two": 1}),
    ("by nothing", foreign("ByNothing", NOTHING), {"left": 1, "right": 1}, {"left": "x", "right": "x"}),
    (
        "by nothing, with rules",
        foreign("ByNothing", NOTHING, is_exact=False),
        {"left": 1, "right": 1},
        {"left": "x", "right": "x"},
    ),
]


def chain(level: dict[str, Any], end: dict[str, Any], depth: int) -> dict[str, Any]:
    """Return objects inside one another."""
    document = end
    for _ in range(depth):
        document = {**level, "next": document}
    return document


def outcome(codec: Codec[Any], document: str) -> str:
    try:
        codec.decode(document)
    except ToolValidationError as error:
        is_refused = "too complex" in error.issues[0].message
        return "refused" if is_refused else f"{len(error.issues)} issues"
    return "ok"


# Measures.


def measured(once: Callable[[], object]) -> tuple[float, float]:
    """Return the milliseconds of processor time that something takes, and the megabytes that it holds."""
    start = time.process_time()
    once()
    taken_ms = (time.process_time() - start) * 1e3
    tracemalloc.start()
    try:
        once()
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return taken_ms, peak_bytes / 1e6


def floods(runtime: Runtime) -> None:
    print(f"{'':32} {'number':>9} {'sent':>12} {'processor':>12} {'memory':>10} {'reply':>11}  first issue")
    for name, make in FLOODS.items():
        for number in COUNTS:
            document = make(number)

            def call(document: str = document) -> Any:
                return asyncio.run(runtime.call("store", document))

            call()
            taken_ms, held_mb = measured(call)
            told = json.loads(reply := call().json)
            first = told["issues"][0]["message"] if "issues" in told else told["error"]
            print(
                f"{name:32} {number:9,} {len(document):10,} B {taken_ms:9.1f} ms {held_mb:7.1f} MB "
                f"{len(reply):9,} B  {first[:60]}"
            )


def unions() -> None:
    print(f"\n{'':32} {'':8}" + "".join(f"{depth:>8} deep" for depth in DEPTHS))
    for name, codec, good, bad in UNIONS:
        for kind, end in (("fits", good), ("does not", bad)):
            level = good if "x" not in bad.values() else {}
            shown, came = [], ""
            for depth in DEPTHS:
                inner = chain(level, end, depth)
                document = json.dumps({"value": inner} if name.startswith("models") else inner)
                outcome(codec, document)
                start = time.process_time()
                came = outcome(codec, document)
                shown.append(f"{(time.process_time() - start) * 1e3:10.2f} ms")
            print(f"{name:32} {kind:8}{''.join(shown)}  {came}")


def attacks() -> None:
    print(f"\n{'':32} {'sent':>12} {'processor':>12} {'steps':>11}  first issue")
    for name, (schema, document) in (ATTACKS | FAULTS).items():
        rules = Rules(schema)
        rules.findings([] if isinstance(document, list) else {}, 20)  # a schema is compiled at its first use
        with document_steps() as steps:
            start = time.process_time()
            (issue, *_) = rules.findings(document, 20).issues
            taken_ms = (time.process_time() - start) * 1e3
        spent = MOST_STEPS - steps.left
        sent = len(json.dumps(document))
        print(f"{name:32} {sent:10,} B {taken_ms:9.1f} ms {spent:11,}  {issue.message[:60]}")


def main() -> None:
    runtime = Runtime()
    runtime.tools.register(function_toolset("benchmarks.limits", [store]))
    floods(runtime)
    unions()
    attacks()


if __name__ == "__main__":
    main()

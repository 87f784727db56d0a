"""What converters of tool schemas make of real tools: how many fit a strict mode, which arguments survive.

Run: `python -m benchmarks.providers [FOLDER]` with a folder of `tools_*.jsonl` files (default: the corpora
beside the repository); `openai-agents`, `anthropic` and `pydantic-ai` must be installed. A tool fits where
the converter returns a schema that the documented rules of the provider allow; annotations, and values of an
enum without a type, are passed over for the others. Known-good arguments survive where that schema takes them
and the tool gets them as they were; converters without a codec send them unchanged.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
from agents.strict_schema import ensure_strict_json_schema
from anthropic import transform_schema
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

from tests.conformance.agreement import is_same
from tests.conformance.provider_rules import broken
from toolgen.catalog.providers import Projection, project

FOLDER = Path(__file__).parents[2] / "shared" / "corpora"
ANNOTATIONS = frozenset("title default examples example $schema $comment deprecated discriminator".split())
Schema = dict[str, Any]


def pydantic_ai(schema: Schema) -> Schema:
    return OpenAIJsonSchemaTransformer(schema, strict=True).walk()


OTHERS: dict[str, tuple[str, Callable[[Schema], Schema]]] = {
    "openai-agents": ("openai-strict", ensure_strict_json_schema),
    "pydantic-ai, strict=True": ("openai-strict", pydantic_ai),
    "anthropic transform_schema": ("anthropic-strict", transform_schema),
}


def converted(convert: Callable[[Schema], Schema], schema: Schema) -> Schema | None:
    """Return what a converter makes of a schema; None where it raises, whatever it raises."""
    try:
        return convert(copy.deepcopy(schema))
    except Exception:
        return None


def lenient(schema: Any) -> Any:
    """Return a schema without annotations, and with a type where an enum says which."""
    if isinstance(schema, list):
        return [lenient(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            made[key] = {name: lenient(part) for name, part in value.items()}
        elif key not in ANNOTATIONS and not key.startswith("x-"):
            made[key] = value if key in ("enum", "const") else lenient(value)
    if {"enum", "const"} & made.keys():
        made.setdefault("type", "string")
    return made


def by_other(name: str, tools: list[Schema]) -> tuple[int, int]:
    """Return how many tools fit, and how many known-good arguments survive."""
    dialect, convert = OTHERS[name]
    fits = survive = 0
    for tool in tools:
        schema = converted(convert, tool["input_schema"])
        if schema is None or broken({"properties": {}, **lenient(schema)}, dialect):
            continue
        fits += 1
        judge = jsonschema.Draft202012Validator(schema)
        survive += sum(judge.is_valid(document) for document in tool.get("valid_args", ()))
    return fits, survive


def by_toolgen(dialect: str, tools: list[Schema]) -> tuple[int, int]:
    """Return how many tools are strict and fit, and how many known-good arguments of them survive."""
    fits = survive = 0
    for tool in tools:
        one = project(tool["name"], "", tool["input_schema"], dialect)
        if not one.is_strict or broken(dict(one.schema), dialect):
            continue
        fits += 1
        judge = jsonschema.Draft202012Validator(one.schema)
        survive += sum(comes_back(one, document, judge) for document in tool.get("valid_args", ()))
    return fits, survive


def comes_back(one: Projection, document: Any, judge: Any) -> bool:
    try:
        sent = one.encode(json.dumps(document))
    except ValueError:
        return False
    return judge.is_valid(json.loads(sent)) and is_same(json.loads(one.decode(sent)), document)


def main(folder: Path) -> None:
    """Print the table."""
    lines = [line for file in sorted(folder.glob("tools_*.jsonl")) for line in file.open(encoding="utf-8")]
    tools = [json.loads(line) for line in lines]
    arguments = sum(len(tool.get("valid_args", ())) for tool in tools)
    print(f"| converter | dialect | fits, of {len(tools)} tools | survive, of {arguments} arguments |")
    print("|---|---|---|---|")
    rows = [(name, dialect, by_other(name, tools)) for name, (dialect, _) in OTHERS.items()]
    rows += [
        ("toolgen", dialect, by_toolgen(dialect, tools)) for dialect in ("openai-strict", "anthropic-strict")
    ]
    for name, dialect, (fits, survive) in rows:
        share = f"{100 * fits / len(tools):.1f} %", f"{100 * survive / arguments:.1f} %"
        print(f"| {name} | {dialect} | {fits} ({share[0]}) | {survive} ({share[1]}) |")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)

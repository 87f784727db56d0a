"""`events.ts`: the events of a runtime as TypeScript, of their JSON Schema and of what their records say."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import toolgen
from toolgen.codegen.typescript.spelling import TypeScriptSpeller
from toolgen.codegen.typescript.text import comment, property_name, union
from toolgen.events import records
from toolgen.events.document import FORMAT, event_schema
from toolgen.shapes.foreign.nodes import target

FILE = Path(toolgen.__file__).parent / "templates/typescript/events.ts"
_HEAD = "EventHead"
_NAMES = {
    "ArtifactDocument": "Artifact",
    "BoundsDocument": "Bounds",
    "CitationDocument": "Citation",
    "ErrorDocument": "AnyError",
    "IssueDocument": "Issue",
    "ProviderDocument": "Provider",
    "RetryDocument": "Retry",
    "RunLinkDocument": "RunLink",
    "TelemetryDocument": "Telemetry",
}
"""Types of `records.ts`: a result has the same parts in events and on the surface."""


def event_types() -> str:
    """Return the text of the file."""
    definitions = _open(event_schema()["$defs"])
    names = [each.__name__ for each in get_args(records.Event)]
    found = {name for each in definitions.values() for name in _references(each)}
    head = list(definitions[names[0]]["properties"])[: len(definitions["RunStreamEnd"]["properties"]) - 1]
    ends = {each for name in ("AssistantReply", "ToolEnd") for each in _references(definitions[name])}
    shared = {"Json", *(_NAMES[name] for name in ends)}
    docs = _docs()
    parts = [
        comment(
            f"The events of a toolgen runtime, format {FORMAT}, as their streams have them.\n\n"
            "Within a format events and fields are added, never changed or removed."
        ),
        f'import type {{ {", ".join(sorted(shared))} }} from "./records.js";',
        comment("An event, told apart by its `type`."),
    ]
    parts[-1] += f"\nexport type RuntimeEvent ={union(names, indent=0, taken=99)};"
    first = {"properties": {key: definitions[names[0]]["properties"][key] for key in head}}
    parts.append(_interface(_HEAD, first, docs, _HEAD))
    for name in names:
        own = {key: each for key, each in definitions[name]["properties"].items() if key not in head}
        parts.append(
            _interface(f"{name} extends {_HEAD}", {**definitions[name], "properties": own}, docs, name)
        )
    parts += [
        _interface(_name(name), {"properties": definitions[name]["properties"]}, docs, name)
        for name in sorted(found - _NAMES.keys())
    ]
    return "\n\n".join(parts) + "\n"


def _open(schema: Any) -> Any:
    """Return the schema with `{}` for maps of any values, as the normal form has it."""
    if isinstance(schema, dict):
        return {key: {} if key == "additionalProperties" else _open(inner) for key, inner in schema.items()}
    return [_open(inner) for inner in schema] if isinstance(schema, list) else schema


def _name(name: str) -> str:
    return _NAMES.get(name, name)


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if (name := target(node)) is not None:
            yield name
        for inner in node.values():
            yield from _references(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _references(inner)


def _interface(head: str, schema: dict[str, Any], docs: dict[tuple[str, str], str], of: str) -> str:
    speller = TypeScriptSpeller(_name, str)
    lines = [comment(docs[of, ""]), f"export interface {head} {{"]
    required = schema.get("required", schema["properties"])
    for key, node in schema["properties"].items():
        text = comment(docs.get((of, key), ""), indent=2)
        lines += [f"  {text}"] if text else []
        name = f"{property_name(key)}{'' if key in required else '?'}:"
        lines.append(f"  {name}{union(speller.foreign(node), indent=2, taken=len(name) + 1)};")
    return "\n".join([*filter(None, lines), "}"])


def _docs() -> dict[tuple[str, str], str]:
    """Return what the records and their attributes say of themselves, by class and attribute."""
    docs: dict[tuple[str, str], str] = {}
    for name, class_ in inspect.getmembers(records, inspect.isclass):
        docs[name, ""] = inspect.getdoc(class_) or ""
        if not class_.__module__.startswith("toolgen."):
            continue
        (node,) = ast.parse(inspect.getsource(class_)).body
        assert isinstance(node, ast.ClassDef)
        for before, after in zip(node.body, node.body[1:], strict=False):
            if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name):
                match after:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        docs[name, before.target.id] = re.sub(r"\bNone\b", "null", inspect.cleandoc(text))
                    case _:
                        pass
    return docs

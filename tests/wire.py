"""The words on the wire, read from their sources: schemas, tables, routes, options, codes and documents.

A document that code writes by hand is read from the syntax tree of its module: the keys of its dictionaries,
the fields of its records and typed dictionaries, and the members of its literals.
"""

from __future__ import annotations

import ast
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from typer.main import get_command

import toolgen
from tests.sources import trees
from toolgen.adapters.http.problems import PROBLEMS
from toolgen.catalog.reader import format_schema as catalog_schema
from toolgen.cli import mcp_settings
from toolgen.cli.app import app
from toolgen.cli.config import EXAMPLES
from toolgen.cli.explain import TEXTS
from toolgen.contract.findings import format_schema as finding_schema
from toolgen.dsl.expr import RULES
from toolgen.events.document import event_schema

PACKAGE = Path(toolgen.__file__).parent
KEPT = Path(__file__).with_name("wire.txt")
_WORD = re.compile(r"[A-Za-z_$][\w./$-]*")
_DOCUMENTS = re.compile(
    r"(adapters|agents(?!/demo|/llm)|calls|capabilities|catalog(?!/providers)|cli|codegen/[\w]+\.py|contract|engines|events"
    r"|importers/reimport|runtime|stores|waiting)"
)
"""Packages that write documents of ours."""
_NAMES = re.compile(r"(toolgen|gen_ai|dev\.toolgen)[./][\w./-]*|Toolgen[A-Z]\w+")
_STORED = re.compile(r"TypedDict|^(FrozenCall|CallMeta|Question|TokenClaims)\b")
"""Classes whose fields are the keys of a document."""
_TABLE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?[a-z_]+ *\(.*\)", re.DOTALL)


def wire() -> str:
    """Return the text of the kept list."""
    parts: dict[str, Iterable[str]] = {
        "formats": _formats(),
        "tables": _tables(),
        "HTTP paths": _paths(),
        "HTTP records": (
            line for line in _definitions(_openapi()["components"]["schemas"]) if ", =1, " not in line
        ),
        "HTTP problems": (f"{name} {status}" for name, (status, _) in PROBLEMS.items()),
        "events": _definitions(event_schema()["$defs"]),
        "catalog": _schema_lines("catalog", catalog_schema()),
        "findings": _schema_lines("finding", finding_schema()),
        "codes": sorted({*RULES, *TEXTS}),
        "settings": [*EXAMPLES, *(f"mcp.NAME.{key}" for key in mcp_settings._KEYS)],
        "commands": _commands(get_command(app), "toolgen"),
        "summaries": _summaries(),
        "names of OpenTelemetry, Temporal, MCP and URIs": _names(),
        "documents": _documents(),
    }
    return "".join("\n    ".join([name, *lines]) + "\n" for name, lines in parts.items())


@cache
def _openapi() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((PACKAGE / "adapters/http/openapi-1.json").read_text("utf-8"))
    return document


def _formats() -> Iterator[str]:
    """Yield the constants that number a format."""
    for path, tree in trees().items():
        for node in tree.body:
            match node:
                case ast.AnnAssign(
                    target=ast.Name(id=name), value=ast.Constant(value=int() | str() as value)
                ):
                    if re.fullmatch(r"_?(\w+_)?(FORMAT|VERSION|FORM)", name):
                        yield f"{path} {name} {value}"


def _tables() -> Iterator[str]:
    """Yield the tables that SQL creates, with their columns."""
    for text in sorted({match[0] for text in _texts() if (match := _TABLE.search(text))}):
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute(text.replace("toolgen.", ""))
            table = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchone()[0]
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            yield f"{table}: {', '.join(columns)}"


def _paths() -> Iterator[str]:
    for path, methods in _openapi()["paths"].items():
        for method, operation in methods.items():
            named = [f"{one['in']} {one['name']}" for one in operation.get("parameters", ())]
            content = operation.get("requestBody", {}).get("content", {}).values()
            body = [f"body {key}" for media in content for key in media["schema"]["properties"]]
            words = [operation["operationId"], *named, *body, *operation["responses"]]
            yield f"{method.upper()} {path}: {', '.join(words)}"


def _definitions(schemas: dict[str, Any]) -> Iterator[str]:
    for name, schema in sorted(schemas.items()):
        yield from _schema_lines(name, schema)


def _schema_lines(name: str, schema: dict[str, Any]) -> Iterator[str]:
    words = dict.fromkeys(_schema_words({key: schema[key] for key in schema if key != "$defs"}))
    yield f"{name}: {', '.join(words)}"
    yield from _definitions(schema.get("$defs", {}))


def _schema_words(schema: Any) -> Iterator[str]:
    """Yield the properties and values of a schema and of the schemas in it."""
    match schema:
        case dict():
            for key, value in schema.items():
                if key == "properties":
                    yield from value
                    yield from (word for each in value.values() for word in _schema_words(each))
                elif key in ("enum", "const"):
                    yield from (f"={json.dumps(one)}" for one in (value if key == "enum" else [value]))
                elif key not in ("examples", "default"):
                    yield from _schema_words(value)
        case list():
            yield from (word for each in schema for word in _schema_words(each))


def _commands(command: Any, path: str) -> Iterator[str]:
    words = [" ".join([*one.opts, *one.secondary_opts, *_choices(one)]) for one in command.params]
    yield f"{path}: {', '.join(words)}"
    for name, each in sorted(getattr(command, "commands", {}).items()):
        yield from _commands(each, f"{path} {name}")


def _choices(option: Any) -> list[str]:
    return re.findall(r"'([\w-]+)'", str(option.type_descriptor.annotation))


def _summaries() -> Iterator[str]:
    """Yield the last lines of commands, with `…` for what is filled in."""
    for path, tree in trees().items():
        for node in ast.walk(tree) if path.startswith("cli/") else ():
            match node:
                case (
                    ast.keyword(arg="summary", value=value)
                    | ast.Assign(targets=[ast.Name(id="summary")], value=value)
                ):
                    if isinstance(value, ast.Constant | ast.JoinedStr):
                        yield f"{path} {_text(value)}"


def _text(node: ast.expr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)


@cache
def _texts() -> set[str]:
    """Return the constant texts of the package."""
    nodes = [node for tree in trees().values() for node in ast.walk(tree)]
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _names() -> list[str]:
    modules = {"toolgen." + re.sub(r"(/__init__)?\.py$", "", path).replace("/", ".") for path in trees()}
    return sorted({text for text in _texts() if _NAMES.fullmatch(text)} - modules)


def _documents() -> Iterator[str]:
    for path, tree in trees().items():
        if not _DOCUMENTS.match(path):
            continue
        words = {word for node in ast.walk(tree) for word in _keys(node) if _WORD.fullmatch(word)}
        if words:
            yield f"{path}: {', '.join(sorted(words))}"


def _keys(node: ast.AST) -> Iterator[str]:
    nodes: list[Any]
    match node:
        case ast.Dict(keys=nodes) | ast.MatchMapping(keys=nodes):
            pass
        case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=nodes)):
            pass
        case ast.Subscript(slice=key) | ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[key, *_]):
            nodes = [key]
        case ast.ClassDef(name=name, body=body) if _STORED.search(
            " ".join([name, *map(ast.unparse, node.bases)])
        ):
            fields = [one.target for one in body if isinstance(one, ast.AnnAssign)]
            nodes = [ast.Constant(one.id) for one in fields if isinstance(one, ast.Name)]
        case _:
            nodes = []
    yield from (one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str))

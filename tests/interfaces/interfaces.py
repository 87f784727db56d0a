"""The interfaces of toolgen, read from its sources: commands, routes, handlers, adapters, stores."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

from typer.main import get_command

import toolgen
from toolgen.cli.app import app
from toolgen.cli.init_design import From
from toolgen.contract.names import Language

PACKAGE: Final = Path(toolgen.__file__).parent
_KINDS: Final = {"Store": "store", "Engine": "engine", "Sink": "sink", "Planner": "planner"}
"""Ends of the names of classes that keep, tell or plan something, and what each is."""
_OF_A_KIND: Final = rf"\w+(?:{'|'.join(_KINDS)})"


def interfaces(package: Path = PACKAGE) -> list[str]:
    """Return the name of each interface, such as `command runs show`, in a fixed order."""
    mcp = package / "adapters/mcp"
    found = [
        *(f"command {path}" for path in _commands(get_command(app), "")),
        *(f"init --from {kind}" for kind in get_args(From)),
        *(f"importer {kind}" for kind in _import_kinds()),
        *(f"code in {language}" for language in ("python", *get_args(Language))),
        *(f"route {path}" for path in _routes(package / "adapters/http")),
        *(f"server {name}" for name in _servers(package)),
        *(f"MCP server: {name}" for name in _handlers(mcp / "serving/mcp_server.py", r"on_\w+")),
        *(
            f"MCP client: {name}"
            for name in _handlers(mcp / "client/connection.py", r"\w+_(callback|handler)")
        ),
        *(f"MCP client of a {node.name}" for node in _classes(mcp / "client/servers.py", r"\w+Server")),
        *(f"adapter {name}" for name in _modules(package / "adapters") if name != "ports"),
        *(
            f"client {node.name}"
            for path in (package / "clients").glob("*.py")
            for node in _classes(path, r"\w+Client")
        ),
        *_kept(package),
    ]
    return sorted(set(found))


def _commands(command: Any, path: str) -> Iterator[str]:
    below = getattr(command, "commands", {})
    if not below:
        yield path
    for name, each in below.items():
        yield from _commands(each, f"{path} {name}".strip())


def _import_kinds() -> list[str]:
    command: Any = get_command(app)
    kind = next(one for one in command.commands["import"].params if one.name == "kind")
    return re.findall(r"'([\w-]+)'", str(kind.type_descriptor.annotation))


def _calls(path: Path) -> Iterator[ast.Call]:
    yield from _calls_of(path.read_text("utf-8"))


@cache
def _calls_of(text: str) -> list[ast.Call]:
    return [node for node in ast.walk(_parsed(text)) if isinstance(node, ast.Call)]


@cache
def _parsed(text: str) -> ast.Module:
    """Return the tree of a text, which is that of a file and of its copies."""
    return ast.parse(text)


def _classes(path: Path, name: str) -> Iterator[ast.ClassDef]:
    text = path.read_text("utf-8")
    if re.search(rf"^class {name}\b", text, re.M):
        for node in _parsed(text).body:
            if isinstance(node, ast.ClassDef) and re.fullmatch(name, node.name):
                yield node


def _routes(folder: Path) -> Iterator[str]:
    for call in (call for path in folder.glob("*.py") for call in _calls(path)):
        match call:
            case ast.Call(
                func=ast.Attribute(attr="_reading" | "_writing" as name),
                args=[ast.Constant(value=str(at)), *_],
            ):
                yield f"{'GET' if name == '_reading' else 'POST'} {at}"
            case ast.Call(func=ast.Name(id="Route"), args=[ast.Constant(value=str(at)), *_]):
                yield f"page {at}"


def _servers(package: Path) -> Iterator[str]:
    """Yield the functions that listen, but those of the package that all of them use."""
    for path in package.rglob("*.py"):
        if path.parent.name != "ports":
            yield from re.findall(r"^async def serve_(\w+)", path.read_text("utf-8"), re.M)


def _handlers(path: Path, name: str) -> Iterator[str]:
    """Yield the handlers that the server or the client of the SDK is made with."""
    for call in _calls(path):
        if ast.unparse(call.func).partition("[")[0] in ("Server", "Client"):
            yield from (one.arg for one in call.keywords if one.arg and re.fullmatch(name, one.arg))


def _modules(folder: Path) -> Iterator[str]:
    for path in folder.iterdir():
        is_module = path.suffix == ".py" or (path / "__init__.py").exists()
        if is_module and path.stem != "__init__":
            yield path.stem


def _kept(package: Path) -> Iterator[str]:
    """Yield the classes of a kind; protocols, and what others extend, are none."""
    found: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        for node in _classes(path, _OF_A_KIND):
            bases = {ast.unparse(base).partition("[")[0] for base in node.bases}
            found[node.name] = found.get(node.name, set()) | bases
    extended = set[str]().union(*found.values())
    for name, bases in found.items():
        if "Protocol" not in bases and name not in extended:
            kind = next(word for end, word in _KINDS.items() if name.endswith(end))
            yield f"{kind} {name}"

"""Creates the design of a new project from another source, and adds an agent to it."""

from __future__ import annotations

import ast
import json
import runpy
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from toolgen.codegen.write.staging import formatted
from toolgen.contract.errors import ToolgenError
from toolgen.contract.mcp_lock import read_lock
from toolgen.contract.record import frozen_record
from toolgen.dsl import build
from toolgen.dsl.expr.tree import Design
from toolgen.importers.tool import Kind
from toolgen.shapes.naming import snake

from .import_changes import sent_credentials
from .import_request import ImportRequest, name_of, require_file, variable_of
from .importing import import_tools
from .outcome import print_outcome
from .project_place import ProjectPlace
from .python_errors import user_code_errors
from .server_lock import LockRequest, lock_server

From: TypeAlias = Literal["openapi", "mcp", "functions"]
AGENT: Final = "clerk"
"""Name of the agent of a new project."""
_KINDS: Final[Mapping[From, Kind]] = {"openapi": "openapi", "mcp": "mcp", "functions": "python"}
_URLS: Final = ("http://", "https://")

_MCP_DESIGN: Final = '''"""The design: the tools of an MCP server."""

from toolgen import dsl as d

{variable} = d.MCPToolset({name!r}, lock={lock!r})

design = d.Design(
    {project!r}, "Tools of an MCP server.", d.Service("tools", "Tools for the model.", {variable})
)
'''


@frozen_record
class MadeDesign:
    """A design that was written, with further facts for its app."""

    server: str = ""
    """Expression of the MCP server; "" for none."""
    copied: Path | None = None
    """A module that was copied into the project."""


def write_design(kind: From, source: str, place: ProjectPlace, *, is_new: bool) -> MadeDesign:
    """Write `design.py` of a source into the package of a project.

    If the project `is_new`, a file of functions is copied into it, so that calls find the functions.

    Raises:
        ToolgenError: the source cannot be read, or no tool of it can be imported.
    """
    file = place.folder.absolute() / place.path / "design.py"
    copied = None
    if kind == "mcp" and not Path(source).exists():
        return _server(source, place, file)
    require_file(source)
    if kind == "mcp":
        _refuse_lock(Path(source))
    if kind == "functions" and is_new and source.partition(":")[0].endswith(".py"):
        path, colon, name = source.partition(":")
        copied = place.folder / Path(path).name
        copied.write_bytes(_read(Path(path)))
        source = f"{copied.name}{colon}{name}"
    if kind == "functions":
        sys.path.insert(0, str(place.root))
    else:
        source = str(Path(source).absolute())
    request = ImportRequest(kind=_KINDS[kind], source=source, out=file, may_lose=True)
    with chdir(place.folder):
        outcome = import_tools(request)
    if outcome.code:
        print_outcome(outcome)
        raise ToolgenError(
            f"no tool of {source} could be imported", hint="correct the source, and run the command again"
        )
    for note in outcome.notes:
        if "warning:" in note or "error:" in note:
            print_outcome(replace(outcome, notes=(note,)))  # init prints its own next steps
            break
    for line in sent_credentials(ast.parse(file.read_text("utf-8"))):
        print(line, file=sys.stderr)
    return MadeDesign(copied=copied)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ToolgenError(
            f"cannot read {path}: {error.strerror}", hint="name a file of functions"
        ) from error


def _refuse_lock(file: Path) -> None:
    """Raise if a file is a server's lock, of any format: it does not contain the command or URL."""
    try:
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return
    if not (isinstance(document, dict) and "lock" in document):
        return
    raise ToolgenError(
        f"{file} is the lock of a server, which does not contain its command or URL",
        hint="pass the command or the URL of the server: --from mcp 'python -m mcp_server_git'",
    )


def _server(source: str, place: ProjectPlace, file: Path) -> MadeDesign:
    """Request the tools of a server, and write their lock and a design."""
    is_url = source.startswith(_URLS)
    if not is_url and source.endswith((".json", ".yaml")):
        raise ToolgenError(
            f"the file {source} does not exist", hint="pass a list of tools, or the command of a server"
        )
    command, *arguments = shlex.split(source) or [""]
    expression = f"HttpServer({source!r})" if is_url else f"StdioServer({command!r}, {tuple(arguments)!r})"
    lock = file.with_name("server.mcp.json")
    request = LockRequest(
        stdio="" if is_url else source,
        url=source if is_url else "",
        is_insecure=False,
        out=lock,
        is_check=False,
        is_forced=False,
    )
    with chdir(place.folder):
        outcome = lock_server(request)
    if outcome.code:
        raise ToolgenError(outcome.summary, hint="see that the server answers")
    name = name_of(snake(read_lock(lock.read_text("utf-8")).server) or "server")
    project = place.package.replace(".", "_")
    text = _MCP_DESIGN.format(name=name, variable=variable_of(name), lock=lock.name, project=project)
    file.write_text(formatted([text])[0], "utf-8")
    return MadeDesign(server=expression)


def checked_design(file: Path) -> Design:
    """Return the checked design of a module, which is run but not imported, because it can change later.

    Raises:
        ToolgenError: it does not run, or has errors.
    """
    with user_code_errors(f"{file} does not run"):
        made = runpy.run_path(str(file))
    evaluation = build(made["design"])
    if evaluation.design is None:
        first = next(iter(evaluation.diagnostics), None)
        message = f": {first.message}" if first else ""
        raise ToolgenError(f"the design {file} has errors{message}", hint="run: toolgen gen")
    return evaluation.design


def add_agent(file: Path) -> None:
    """Add an agent that uses all toolsets of a design; tools that are not read-only need approval."""
    text = file.read_text("utf-8")
    tools_to_approve = {
        toolset.name: [tool.name for tool in toolset.tools if not tool.facts.annotations.get("read_only")]
        for service in checked_design(file).services
        for toolset in service.toolsets
    }
    file.write_text(formatted([with_agent(text, tools_to_approve)])[0], "utf-8")


def with_agent(text: str, tools_to_approve: Mapping[str, list[str]]) -> str:
    """Return a design module with an agent; `tools_to_approve` has tool names by toolset."""
    tree = ast.parse(text)
    design = next(
        node
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "design"
    )
    assert isinstance(design.value, ast.Call), "an import writes it so"
    uses = []
    for variable, name in _toolsets(tree):
        confirm = f", confirm={tools_to_approve[name]!r}" if tools_to_approve.get(name) else ""
        uses.append(f"d.Use({variable}{confirm})")
    agent = (
        f'{AGENT} = d.Agent("{AGENT}", "Helps people with the tools.", '
        'd.Instructions("You help people with your tools. If the tools cannot help, say so."), '
        f"{', '.join(uses)})\n\n"
    )
    lines = text.splitlines(keepends=True)
    last = design.value.args[-1]
    assert last.end_lineno is not None
    line = lines[last.end_lineno - 1].encode()
    service = f', d.Service("desk", "Talks with people.", {AGENT})'
    lines[last.end_lineno - 1] = (
        line[: last.end_col_offset] + service.encode() + line[last.end_col_offset :]
    ).decode()
    lines.insert(design.lineno - 1, agent)
    return "".join(lines)


def _toolsets(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the variables of toolsets, with the names of the toolsets."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=variable)],
                value=ast.Call(
                    func=ast.Attribute(attr="Toolset" | "MCPToolset"), args=[ast.Constant(str(name)), *_]
                ),
            ):
                yield variable, name

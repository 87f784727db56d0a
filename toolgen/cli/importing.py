"""`toolgen import`: writes a design module of tools that somebody else described."""

from __future__ import annotations

import inspect
import keyword
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never

from toolgen.contract.errors import ToolgenError
from toolgen.findings import Finding, Format
from toolgen.importers.catalog import read_catalog
from toolgen.importers.codes import NOT_IMPORTABLE, finding_at, is_loss
from toolgen.importers.design import DesignFiles, design_files
from toolgen.importers.json_schema import read_schemas
from toolgen.importers.mcp import read_mcp
from toolgen.importers.openapi import OpenAPIOptions, openapi_files
from toolgen.importers.openapi_operations import Selection
from toolgen.importers.openapi_servers import ServerOptions, is_server
from toolgen.importers.python_functions import read_functions
from toolgen.importers.text import read_document, read_relative
from toolgen.importers.tool import Kind, Source
from toolgen.shapes.naming import LONGEST_NAME, TOOL_NAME, snake

from .atomic_write import write_files_atomically
from .functions import find_functions
from .outcome import Outcome, reported


@dataclass(frozen=True, slots=True)
class Chosen:
    """The options of `toolgen import openapi`, as they were written."""

    tags: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    """`id=name` each."""
    is_read_only: bool = False
    server: str = ""
    is_accepted: bool = False

    def options(self) -> OpenAPIOptions:
        """Return the options of the importer.

        Raises:
            ToolgenError: a new name is none, or the server is no address.
        """
        renamed = {old: new for old, _, new in (pair.rpartition("=") for pair in self.renamed)}
        for old, new in renamed.items():
            if not old or not _is_name(new):
                written = f"{old}={new}" if old else new
                raise ToolgenError(f"--rename {written!r} is no ID=NEW", hint=f"--rename ID={_name(new)}")
        if self.server and not is_server(self.server):
            message = f"--server {self.server!r} is no absolute address of http or https"
            raise ToolgenError(message, hint="--server https://api.example.com")
        selection = Selection(
            tags=self.tags,
            only=self.only,
            exclude=self.exclude,
            renamed=renamed,
            is_read_only=self.is_read_only,
        )
        servers = ServerOptions(url=self.server, is_accepted=self.is_accepted)
        return OpenAPIOptions(selection=selection, servers=servers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """The options of the command; an empty name is derived from that of the source."""

    kind: Kind
    source: str
    out: Path
    """The folder of the design module, or the module itself where it ends in `.py`."""
    name: str = ""
    service: str = ""
    is_strict: bool = False
    """Write nothing when a tool has an error."""
    may_lose: bool = False
    """Succeed although the design lacks something of the source."""
    is_forced: bool = False
    """Write over what stands there."""
    format: Format = "text"
    openapi: Chosen = field(default_factory=Chosen)


def import_tools(request: ImportRequest) -> Outcome:
    """Write the design module and the schemas beside it, or report why not.

    The code is 1 when no tool could be imported, and when the design lacks something of the source unless
    `may_lose` is set. With `is_strict`, nothing is written then where a tool is missing.

    Raises:
        ToolgenError: the source cannot be read, a name does not fit, or a file stands in the way.
    """
    for option, text in (("--name", request.name), ("--service", request.service)):
        if text and not _is_name(text):
            raise ToolgenError(
                f"{option} {text!r} is not a small letter, then small letters, digits and '_', "
                f"at most {LONGEST_NAME}, and no keyword of Python",
                hint=f"{option} {_name(text)}",
            )
    name, design = _designed(request)
    findings = [_in_file(finding, request.source) for finding in design.findings]
    errors = [finding for finding in findings if not finding.is_warning]
    counted = _counted(errors, findings)
    if not design.imported or (errors and request.is_strict):
        reason = "--strict" if design.imported else "no tool could be imported"
        summary = f"{reason}: {counted or 'the source has none'}; nothing was written"
        return reported(findings, request.format, code=1, summary=summary)
    folder, module = _place(request.out, name)
    written, *schemas = design.files
    files = {f"{module}.py": design.files[written]} | {path: design.files[path] for path in schemas}
    write_files_atomically(folder, files, is_forced=request.is_forced)
    is_failed = any(map(is_loss, findings)) and not request.may_lose
    parts = [f"imported {_number(design.imported, 'tool')}", *([counted] if counted else ())]
    parts += ["the design lacks something of the source (--allow-losses exits 0)"] if is_failed else []
    return reported(
        findings,
        request.format,
        code=1 if is_failed else 0,
        notes=_next_steps(folder, module, schemas),
        summary="; ".join(parts),
    )


def _in_file(finding: Finding, source: str) -> Finding:
    return replace(finding, place=replace(finding.place, file=source))


def _designed(request: ImportRequest) -> tuple[str, DesignFiles]:
    """Return the name of the source and its design."""
    if request.kind == "openapi":
        file = Path(request.source)
        document = read_document(file, yaml=True)
        name = request.name or _name(document.name)
        return name, openapi_files(
            document,
            lambda path: read_relative(file, path).value,
            name=name,
            service=request.service or name,
            options=request.openapi.options(),
        )
    source = _read(request.kind, request.source)
    name = request.name or _name(source.name)
    design = design_files(source, name=name, service=request.service or name)
    return name, replace(design, findings=(*source.findings, *design.findings))


def _read(kind: Kind, source: str) -> Source:
    match kind:
        case "jsonschema":
            return read_schemas(read_document(Path(source)))
        case "mcp":
            return read_mcp(read_document(Path(source)))
        case "catalog":
            folder = Path(source).parent
            return read_catalog(read_document(Path(source)), lambda path: read_document(folder / path).value)
        case "python":
            named = find_functions(source)
            text = inspect.getdoc(named.described) or ""
            read = read_functions(named.name, text, named.functions, named.target(""))
            return read if named.is_importable else _elsewhere(read)
        case "openapi":
            raise AssertionError("an OpenAPI document is written as it is read")
        case _:
            assert_never(kind)


def _elsewhere(source: Source) -> Source:
    """Return the source with a finding that its module is not found by its name."""
    message = f"Python finds no module {source.module!r} from here, so that calls of its functions fail"
    hint = f"put its file below {os.getcwd()}, or install its package"
    return replace(source, findings=(finding_at(NOT_IMPORTABLE, "", message, hint=hint), *source.findings))


def _place(out: Path, name: str) -> tuple[Path, str]:
    """Return the folder of the design module, and its name.

    Raises:
        ToolgenError: `out` is a file that Python cannot import.
    """
    if out.suffix != ".py":
        return out, f"{name}_design"
    if not out.stem.isidentifier() or keyword.iskeyword(out.stem):
        hint = f"--out {out.with_name(f'{snake(out.stem) or name}_design.py')}"
        raise ToolgenError(f"--out {str(out)!r} is no module that Python imports by its name", hint=hint)
    return out.parent, out.stem


def _is_name(text: str) -> bool:
    return bool(TOOL_NAME.fullmatch(text)) and len(text) <= LONGEST_NAME and not keyword.iskeyword(text)


def _name(text: str) -> str:
    """Return the name of a toolset derived from any text."""
    name = snake(text)[:LONGEST_NAME].strip("_")
    if _is_name(name):
        return name
    near = f"tools_{name}"[:LONGEST_NAME].rstrip("_")
    return near if _is_name(near) else "tools"


def _next_steps(out: Path, module: str, schemas: list[str]) -> tuple[str, ...]:
    lines = [f"{_shown(out / f'{module}.py')}: the design module; edit it freely, it is not generated again"]
    if schemas:
        count = _number(len(schemas), "schema")
        lines.append(f"{_shown((out / schemas[0]).parent)}: {count} that clauses cannot express")
    dotted = [part for part in Path(_shown(out)).parts if part not in (os.curdir, os.sep)]
    inside = all(part.isidentifier() for part in dotted)
    name = ".".join([*dotted, module]) if inside else module
    lines.append(f'next: set design = "{name}" in [tool.toolgen] of pyproject.toml, then run: toolgen gen')
    return tuple(lines)


def _shown(path: Path) -> str:
    """Return the path relative to the working directory, where it is below it."""
    shown = os.path.relpath(path)
    return str(path) if shown.startswith(os.pardir) else shown


def _counted(errors: list[Finding], findings: list[Finding]) -> str:
    warnings = len(findings) - len(errors)
    parts = [_number(len(errors), "error")] if errors else []
    parts += [_number(warnings, "warning")] if warnings else []
    return ", ".join(parts)


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

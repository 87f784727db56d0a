"""The other side of a comparison: a catalog in a file, a folder or a git revision, or an MCP server.

Nothing of the other side is executed: its catalog, or its lock, is read as data.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import jsonschema_rs as rs

from toolgen.catalog.reader import MOST_BYTES, Catalog, CatalogError, parse_catalog
from toolgen.checks.compatibility import Contract, contract_of, contract_of_server
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.mcp_lock import LockError, read_lock
from toolgen.contract.names import CATALOG
from toolgen.contract.printable import printable
from toolgen.contract.record import frozen_record
from toolgen.contract.regular_file import read_regular

from .config import Project, read_project

_GIT_S: Final = 30
_SERVER: Final = "mcp:"
_LOCK: Final = ".mcp.json"
_DEFAULT_OUT: Final = "gen"
_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
_PART: Final = {"type": "object", "properties": {"sensitive": _TEXTS, "noted_formats": _TEXTS}}
_WHEN: Final = {"type": "object", "additionalProperties": {"type": "array"}}


def _named(key: str) -> dict[str, object]:
    item = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    return {"type": "array", "items": item}


_ENTRY: Final = rs.Draft202012Validator(
    {
        "properties": {
            **dict.fromkeys(
                ("payload", "result", "annotations", "long_running", "deprecated", "policy"), _PART
            ),
            "confirmation": {**_PART, "properties": {"when": _WHEN}},
            "inject": _TEXTS,
            "artifacts": _named("kind"),
            "errors": _named("name"),
            "tools": _named("id"),
            "exports": _named("toolset"),
        }
    }
)
"""Schema of the parts of an entry that are compared."""


@frozen_record
class Side:
    """A contract with its name for people."""

    contract: Contract
    name: str
    """A file, or a file in a revision, for example `main:gen/tool_schemas.json`."""
    path: str = ""
    """Path of the file, without a revision; "" if there is none."""
    is_server: bool = False
    """Whether the tools come from an MCP server, which lists names and no ids."""


def read_side(reference: str, project: Project) -> Side:
    """Return the side of a reference: `mcp:…`, an existing file or folder, or otherwise a git revision.

    Raises:
        ToolgenError: the reference does not exist, or has no tools.
    """
    if reference.startswith(_SERVER):
        return _server(reference.removeprefix(_SERVER), project)
    path = Path(reference)
    is_folder = is_there = False
    with suppress(OSError):  # for example, the name is too long for a file
        is_folder, is_there = path.is_dir(), path.exists()
    if is_folder:
        return _read(catalog_in(path))
    if is_there:
        return _read(path)
    return _revision(reference, project)


def catalog_in(folder: Path) -> Path:
    """Return the catalog in a folder: its own, or the catalog of the project there.

    Raises:
        ToolgenError: there is none.
    """
    if (folder / CATALOG).is_file():
        return folder / CATALOG
    settings = folder / "pyproject.toml"
    file = read_project(settings).catalog if settings.is_file() else folder / _DEFAULT_OUT / CATALOG
    if not file.is_file():
        raise ToolgenError(
            f"{folder} has no catalog: {file} does not exist",
            hint=f"run toolgen gen there, or pass a {CATALOG}",
        )
    return file


def _read(file: Path) -> Side:
    try:
        text = read_regular(file, MOST_BYTES).decode()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ToolgenError(f"cannot read {file}: {why}", hint=f"pass a {CATALOG} or a lock") from error
    return side_of(text, str(file), file.parent)


def side_of(text: str, name: str, folder: Path | None = None) -> Side:
    """Return the contract in the text of a catalog or of a lock.

    `folder` contains the root catalog of an agent's catalog.

    Raises:
        ToolgenError: the text is not a catalog or a lock.
    """
    try:
        document = json.loads(text)
        if isinstance(document, dict) and "catalog" not in document and "lock" in document:
            lock = read_lock(text)
            return Side(contract=contract_of_server(lock.tools, lock.version), name=name, is_server=True)

        def root(path: str) -> Any:
            if folder is None:
                raise CatalogError("is the catalog of an agent; pass that of the design")
            return json.loads(read_regular(folder / path, MOST_BYTES).decode())

        catalog = parse_catalog(document, root)
        _require_parts(catalog)
        return Side(contract=contract_of(catalog), name=name)
    except (CatalogError, LockError) as error:
        raise ToolgenError(f"{name} {error}", hint=f"pass a {CATALOG} or a lock of an MCP server") from error
    except (ValueError, OSError, RecursionError) as error:
        raise ToolgenError(f"{name} is not JSON: {error}", hint=f"pass a {CATALOG}") from error


def _require_parts(catalog: Catalog) -> None:
    """Check that the parts of entries have the types of the format.

    Raises:
        CatalogError: a part has another type; the text names its entry.
    """
    kinds = (("tool", catalog.tools), ("agent", catalog.agents), ("completion", catalog.completions))
    for kind, entries in kinds:
        for entry in entries:
            if key := _wrong_part(entry, kind):
                name = printable(str(entry.get("id") or entry.get("name"))[:100])
                raise CatalogError(
                    f"is not a tool catalog: {key!r} of the {kind} {name!r} has the wrong type; "
                    "correct it, or generate the file again"
                )
    if catalog.has_head:
        list(catalog.types())


def _wrong_part(entry: Mapping[str, Json], kind: str) -> str:
    """Return the key of a part with a wrong type; "" if there is none."""
    if kind == "completion" and "result" not in entry:
        return "result"
    error = next(_ENTRY.iter_errors(entry), None)
    return "" if error is None else str(error.instance_path[0])


def _server(name: str, project: Project) -> Side:
    """Return the tools of a server: request them from a URL, or read the lock with this name."""
    if name.startswith(("http://", "https://")):
        from toolgen.adapters.mcp import HttpServer, lock_of

        lock = lock_of(name, HttpServer(name))
        return Side(contract=contract_of_server(lock.tools, lock.version), name=name, is_server=True)
    files = [folder / f"{name}{_LOCK}" for folder in (Path(), project.directory)]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise ToolgenError(
            f"no lock {name}{_LOCK} in the working directory or in {project.directory}",
            hint="write one with toolgen import mcp, or pass the URL of the server: mcp:https://…",
        )
    return _read(file)


def _revision(revision: str, project: Project) -> Side:
    """Return the catalog that is committed in a revision of the project's repository."""
    shown = printable(revision[:100])
    commit = _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise ToolgenError(
            f"{shown!r} is not a file, a folder, or a git revision in {project.directory}",
            hint=f"pass a {CATALOG}, a folder, a revision such as main (fetch it first in CI), or mcp:NAME",
        )
    commit = commit.strip()
    for out in (project.out, _out_in(project, commit)):
        path = f"{out}/{CATALOG}"
        text = _blob(project, commit, path)
        if text is not None:
            side = side_of(text, f"{shown}:{path}")
            return replace(side, path=str(project.directory.absolute() / path))
    raise ToolgenError(
        f"the revision {shown!r} has no {project.out}/{CATALOG}",
        hint="commit the generated code, or store the catalog of a release and pass that file",
    )


def _out_in(project: Project, commit: str) -> str:
    """Return the folder of the generated code by the settings in a revision."""
    text = _blob(project, commit, project.file.name)
    try:
        settings = tomllib.loads(text or "").get("tool", {}).get("toolgen", {})
        out = settings.get("out", _DEFAULT_OUT)
    except (ValueError, AttributeError):
        return _DEFAULT_OUT
    return out if isinstance(out, str) else _DEFAULT_OUT


def _blob(project: Project, commit: str, path: str) -> str | None:
    """Return the text of a file in a revision; None if it is not there.

    Raises:
        ToolgenError: it has too many bytes.
    """
    name = f"{commit}:./{path}"
    size = _git(project, "cat-file", "-s", name)
    if size is not None and int(size) > MOST_BYTES:
        raise ToolgenError(
            f"{path} of that revision has more than {MOST_BYTES:,} bytes", hint="pass a catalog file"
        )
    return None if size is None else _git(project, "cat-file", "blob", name)


def _git(project: Project, *arguments: str) -> str | None:
    """Return the output of git in the folder of the project; None if it fails.

    Raises:
        ToolgenError: git is not installed, or does not end in time.
    """
    command = ["git", "-C", str(project.directory), "--no-optional-locks", *arguments]
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            timeout=_GIT_S,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise ToolgenError("git is not installed", hint="install it, or pass a catalog file") from error
    except subprocess.TimeoutExpired as error:
        raise ToolgenError(
            f"git did not answer within {_GIT_S} seconds", hint="pass a catalog file"
        ) from error
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None

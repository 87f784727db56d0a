"""Reads and checks `[tool.toolgen]` of a pyproject.toml, and the addresses in options."""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Any, Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.names import Language
from toolgen.contract.printable import printable
from toolgen.contract.record import frozen_record

from .mcp_settings import ServerSettings, SettingsError, read_servers
from .trust import VARIABLE, require_trusted

EXAMPLES: Final = {
    "design": 'design = "home.design"',
    "out": 'out = "gen"',
    "package": 'package = "home.gen"',
    "stubs": 'stubs = "executors"',
    "typescript": 'typescript = "web/toolgen"',
    "runtime": 'runtime = "home.app:runtime"',
    "test_runtime": 'test_runtime = "home.app:runtime_for_tests"',
    "runs": 'runs = "runs.db"',
    "functions": 'functions = ["home.rooms"]',
    "agents": 'agents = { clerk = "openai:gpt-5" }',
    "mcp": 'mcp = { git = { command = ["python", "-m", "mcp_server_git"] } }',
    "lint": 'lint = { many-arguments = 20, missing-annotations = "error" }',
}
"""Example line of each setting, by its key."""
_LIVE: Final = "is also the function of 'runtime', so tests would run on live data"


@frozen_record
class Project:
    """The settings of a project: a design with its folders, or functions without a design."""

    file: Path
    """The pyproject.toml."""
    design: str = ""
    """Dotted name of the design module; "" for a project with only functions."""
    out: str = "gen"
    """Folder of the generated code, relative to the project folder."""
    package: str
    """Import path of `out`."""
    stubs: str = "executors"
    """Folder of the executor stubs, relative to the project folder."""
    typescript: str = ""
    """Folder of the TypeScript types and client, relative to the project folder; "" for none."""
    runtime: str = ""
    """`module:callable` that returns a configured `Runtime`; empty when not set."""
    test_runtime: str = ""
    """`module:callable` that returns a new `Runtime` for each example, with its own data."""
    runs: str = ""
    """File of the runs of a project without `runtime`, relative to the project folder; "" to store none."""
    functions: tuple[str, ...] = ()
    """Modules of functions that are tools without a design; `module:name` is one function, or an object."""
    agents: Mapping[str, str] = field(default_factory=dict)
    """Names of planners by the name of an agent: `demo`, or a model such as `openai:gpt-5`."""
    mcp: Mapping[str, ServerSettings] = field(default_factory=dict)
    """Servers by the names of the locked toolsets that they execute, for a project without `runtime`."""
    lint: Mapping[str, object] = field(default_factory=dict)
    """Levels and limits of the linter's rules, by code; `toolgen lint` checks them."""

    @property
    def directory(self) -> Path:
        return self.file.parent

    @property
    def source_root(self) -> str:
        """The folder from which `package` is imported, relative to the project folder: "src", or "".

        It is the part of `out` before the path of the package.
        """
        out, package = PurePosixPath(self.out).parts, tuple(self.package.split("."))
        return "/".join(out[: -len(package)]) if out[-len(package) :] == package else ""

    @property
    def languages(self) -> Mapping[Language, str]:
        """The folders of trees in languages other than Python, relative to the project folder."""
        return {"typescript": self.typescript} if self.typescript else {}

    @property
    def catalog(self) -> Path:
        """The generated catalog of the whole design."""
        return self.directory / self.out / "tool_schemas.json"

    def display_path(self, folder: str | PurePosixPath) -> Path:
        """Return a folder relative to the working directory, for messages."""
        return Path(os.path.relpath(self.directory / folder))


def find_project(file: Path | None) -> Project:
    """Return the project of a pyproject.toml whose code is allowed to run.

    The file is `file`, otherwise the file in `TOOLGEN_CONFIG`, otherwise the nearest one from the working
    directory up.
    Its path is printed to stderr unless it is in the working directory.

    Raises:
        ToolgenError: there is none, its `[tool.toolgen]` is incomplete, or it belongs to another user and
            is not named by its absolute path.
    """
    here = Path.cwd()
    if file is None and (named := os.environ.get(VARIABLE)):
        file = Path(named)
    is_named = file is not None and file.is_absolute()
    if file is None:
        file = next((f for d in (here, *here.parents) if (f := d / "pyproject.toml").is_file()), None)
        if file is None:
            raise ToolgenError(
                f"no pyproject.toml in {here} or above it",
                hint="run toolgen in a project, pass --config FILE, or start a project: toolgen init NAME",
            )
    project = read_project(file.absolute())
    if not is_named:
        require_trusted(project.file, is_project=True)
    if project.directory.resolve() != here:
        print(printable(f"project: {project.file}"), file=sys.stderr)
    return project


def read_project(file: Path) -> Project:
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise ToolgenError(f"cannot read {file}: {error.strerror}", hint="pass --config FILE") from error
    except UnicodeDecodeError as error:
        raise ToolgenError(f"{file} is not TOML: {error}", hint="correct the file") from error
    return project_of(file, text)


def project_of(file: Path, text: str) -> Project:
    """Return the project that a pyproject.toml with this text describes.

    Raises:
        ToolgenError: its `[tool.toolgen]` is incomplete or wrong.
    """
    try:
        document = tomllib.loads(text)
    except ValueError as error:
        raise ToolgenError(f"{file} is not TOML: {error}", hint="correct the file") from error
    tools = document.get("tool", {})
    table = tools.get("toolgen") if isinstance(tools, dict) else None
    if not isinstance(table, dict):
        raise ToolgenError(
            f"{file} has no table [tool.toolgen]", hint=f"add [tool.toolgen] with {EXAMPLES['design']}"
        )
    return _project(file, table)


def _project(file: Path, table: dict[str, object]) -> Project:
    values: dict[str, str] = {}
    others: dict[str, Any] = {}
    for key, value in table.items():
        if key not in EXAMPLES:
            raise _unknown_key(file, key)
        if key in _READERS:
            others[key] = _READERS[key](file, value)
        elif isinstance(value, str) and value:
            values[key] = value
        else:
            raise _setting_error(file, key, value, "is not a non-empty string")
    if "design" not in values and "functions" not in others:
        hint = f"add {EXAMPLES['design']}, or {EXAMPLES['functions']}"
        raise ToolgenError(f"{file}: [tool.toolgen] has no design", hint=hint)
    for key in ("out", "stubs", "typescript"):
        if key in values and not _is_folder(values[key]):
            raise _setting_error(file, key, values[key], "is not a folder inside the project")
    out = PurePosixPath(values.get("out", "gen"))
    _require_apart(file, values)
    if "package" not in values and not _is_dotted(".".join(out.parts)):
        raise ToolgenError(
            f"{file}: [tool.toolgen] out {str(out)!r} has no import path",
            hint=f"set its import path: {EXAMPLES['package']}",
        )
    values.setdefault("package", ".".join(out.parts))
    _require_free_name(file, values, out)
    for key in ("design", "package"):
        if key in values and not _is_dotted(values[key]):
            module = ".".join(PurePosixPath(values[key].removesuffix(".py")).parts)
            hint = f'write {key} = "{module}": a module, not a file' if _is_dotted(module) else ""
            raise _setting_error(file, key, values[key], "is not a dotted module name", hint)
    for key in ("runtime", "test_runtime"):
        if key in values and not _is_reference(values[key]):
            raise _setting_error(file, key, values[key], "is not module:callable")
    if "test_runtime" in values and values["test_runtime"] == values.get("runtime"):
        raise _setting_error(file, "test_runtime", values["test_runtime"], _LIVE)
    if "runtime" in values:
        _require_without_runtime(file, values, others)
    return Project(file=file, **{**values, **others})


def _require_free_name(file: Path, values: Mapping[str, str], out: PurePosixPath) -> None:
    """Check that the generated code hides no standard module.

    Raises:
        ToolgenError: the first part of `package` is the name of a standard module.
    """
    if (top := values["package"].partition(".")[0]) in sys.stdlib_module_names:
        key = "out" if top == out.parts[0] else "package"
        problem, hint = f"hides Python's own module {top!r}", f"choose another name, such as my_{top}"
        raise _setting_error(file, key, values[key], problem, hint)


def with_typescript(project: Project, folder: Path) -> Project:
    """Return the project with this folder for TypeScript, which can be outside of it.

    Raises:
        ToolgenError: the folder overlaps the folder of the generated Python or of the stubs.
    """
    relative = os.path.relpath(folder.absolute(), project.directory)
    folders = {"out": project.out, "stubs": project.stubs, "typescript": relative}
    _require_apart(project.file, folders)
    return replace(project, typescript=relative)


def _require_apart(file: Path, values: Mapping[str, str]) -> None:
    """Check that no folder contains another one.

    Raises:
        ToolgenError: two folders are equal, or one contains the other.
    """
    folders = {"out": "gen", "stubs": "executors", **values}
    names = [name for name in ("out", "stubs", "typescript") if name in folders]
    for name, other in combinations(names, 2):
        first, second = PurePosixPath(folders[name]), PurePosixPath(folders[other])
        if first.is_relative_to(second) or second.is_relative_to(first):
            yours = "one is toolgen's, the other yours" if "stubs" in (name, other) else "both are toolgen's"
            raise ToolgenError(
                f"{file}: [tool.toolgen] {name!r} ({first}) and {other!r} ({second}) overlap",
                hint=f"give each its own folder: {yours}",
            )


def _require_without_runtime(file: Path, values: Mapping[str, str], tables: Mapping[str, Any]) -> None:
    hints = {
        "runs": f"and give your runtime the engine: InProcessEngine({values.get('runs')!r})",
        "functions": "and let your runtime register function_toolset(…) of them",
        "mcp": "and let your runtime open an MCPToolset for each",
    }
    for key, hint in hints.items():
        if key in values or key in tables:
            value = values[key] if key in values else list(tables[key])
            problem = "is for projects without 'runtime'"
            raise _setting_error(file, key, value, problem, f"remove it, {hint}")


def _servers(file: Path, value: object) -> Mapping[str, ServerSettings]:
    try:
        return read_servers(value)
    except SettingsError as error:
        raise ToolgenError(f"{file}: [tool.toolgen.mcp] {error}", hint="correct the settings") from error


def _functions(file: Path, value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    names = tuple(
        name for name in listed if isinstance(name, str) and (_is_dotted(name) or _is_reference(name))
    )
    if not names or len(names) < len(listed):
        problem = "is not a list of modules, module:function or module:object"
        raise _setting_error(file, "functions", value, problem)
    if len(set(names)) < len(names):
        raise _setting_error(file, "functions", value, "lists one of them twice", "remove one")
    return names


def _agents(file: Path, value: object) -> Mapping[str, str]:
    """Return the names of planners by agent; both `clerk` and `"desk.clerk"` can name an agent.

    Raises:
        ToolgenError: the value is not a table of strings.
    """
    table = value if isinstance(value, dict) else None
    if table is not None and all(isinstance(model, str) and model for model in table.values()):
        return table
    if table is not None and any(isinstance(model, dict) for model in table.values()):
        hint = 'write an id with its dot in quotes: "desk.clerk" = "openai:gpt-5"'
    else:
        hint = 'write clerk = "openai:gpt-5" below [tool.toolgen.agents]'
    raise _setting_error(file, "agents", value, "is not a table of models by agent", hint)


def _lint(file: Path, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _setting_error(file, "lint", value, "is not a table of levels by rule")
    return value


_READERS: Final[Mapping[str, Callable[[Path, object], object]]] = {
    "agents": _agents,
    "functions": _functions,
    "lint": _lint,
    "mcp": _servers,
}
"""Functions that read the values that are not strings, by key."""


def _unknown_key(file: Path, key: str) -> ToolgenError:
    near = difflib.get_close_matches(key, EXAMPLES, n=1)
    hint = f"the keys are {', '.join(EXAMPLES)}"
    return ToolgenError(
        f"{file}: [tool.toolgen] has no key {key!r}",
        hint=f"did you mean {near[0]!r}? {hint}" if near else f"remove it; {hint}",
    )


def _setting_error(file: Path, key: str, value: object, problem: str, hint: str = "") -> ToolgenError:
    hint = hint or f"write {EXAMPLES[key]}"
    return ToolgenError(f"{file}: [tool.toolgen] {key} {value!r} {problem}", hint=hint)


def _is_folder(text: str) -> bool:
    path = PurePosixPath(text)
    return "\\" not in text and not path.is_absolute() and bool(path.parts) and ".." not in path.parts


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _is_reference(text: str) -> bool:
    module, colon, name = text.partition(":")
    return bool(colon) and _is_dotted(module) and _is_dotted(name)


def host_and_port(option: str, text: str) -> tuple[str, int]:
    """Return the address and the port of `HOST:PORT`; with only a port, the address is 127.0.0.1.

    Raises:
        ToolgenError: it is neither.
    """
    host, colon, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 0xFFFF or (colon and not host):
        raise ToolgenError(f"{option} {text!r} is not HOST:PORT", hint=f"write {option} 127.0.0.1:8000")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)

"""`toolgen init`: creates a project with its tests, or adds tools to an existing project."""

from __future__ import annotations

import json
import keyword
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import distribution, packages_distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from toolgen.codegen.plan import app
from toolgen.codegen.rendering import fill
from toolgen.codegen.views.app import AppPlace
from toolgen.codegen.write import Edit
from toolgen.codegen.write.output import replacing
from toolgen.codegen.write.staging import formatted
from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Design
from toolgen.importers.reimport.lock import lock_path
from toolgen.shapes.naming import TOOL_NAME, module_name

from .config import Project, read_project
from .gen import generate_output
from .init_app import add_app
from .init_design import AGENT, From, MadeDesign, add_agent, checked_design, write_design
from .outcome import print_outcome
from .project_place import ProjectPlace, find_place, install_command, settings_of, with_settings
from .stubs import toolsets
from .trust import require_trusted

_NOTES: Final = (
    # Path in the package, template, description.
    ("design.py", "design.py", "the design: three tools; start here"),
    ("executors/notebook/notes.py", "executor.py", "the code of the tools"),
    ("app.py", "app.py", "the database and the runtime that serves the tools"),
    ("__init__.py", "package.py", "makes it a package"),
)
_NEW: Final = (
    # Files outside of the package of a new project.
    ("pyproject.toml", "pyproject.toml", "tells toolgen where the design is and where code goes"),
    ("requirements.txt", "requirements", "the toolgen version of this project"),
    ("Makefile", "Makefile", "make demo, make test"),
    ("README.md", "README.md", "describes the files and the commands"),
    (".gitignore", "gitignore", "keeps databases and caches out of git"),
)
_IGNORED: Final = "runs.db* and *.db"


@frozen_record
class InitRequest:
    """The options of the command."""

    name: str
    """Name of the project; with `adds`, name of the package for the tools."""
    has_agent: bool = False
    source: tuple[From, str] | None = None
    """Kind and source of the tools; None for the example with notes."""
    adds: bool = False
    """Whether to add the tools to the project in the working directory."""


@frozen_record
class ProjectView:
    """The values that the templates of a project use."""

    name: str
    package: str
    path: str
    levels: int
    setting: str
    """The environment variable that names the database."""
    requirement: str
    """Requirement for pip."""
    extras: str
    distribution: str = ""
    """Distribution name of a new project; "" if tools are added to an existing one."""
    agent: str = ""
    """Name of the agent; "" without one."""
    source: str = ""
    """Source of the design; "" for the example with notes."""
    service: str = ""
    """Package of the agent's service."""
    tool: str = ""
    """Wire name of a tool."""
    server_name: str = ""
    """Name of the toolset of an MCP server; "" without one."""
    has_test_runtime: bool = True
    has_stubs: bool = True


def start_project(request: InitRequest) -> int:
    """Write a project into a new or empty folder, or tools into the one here; generate, and list the files.

    Return the exit code.

    Raises:
        ToolgenError: the name is not valid for a package, the folder cannot be used, a file already exists,
            the source has no tools, or the project or its folder belongs to another user.
    """
    require_trusted(Path("" if request.adds else request.name, "pyproject.toml").absolute())
    if request.adds and (settings := settings_of(Path.cwd())) is not None:
        return add_app(_project_without_runtime(request, settings))
    name = request.name or ("tools" if request.adds else "")
    _check_name(name, is_top=not request.adds)
    folder = Path() if request.adds else Path(name)
    place = (
        find_place(folder.absolute(), name)
        if request.adds
        else ProjectPlace(folder=folder, package=name, path=name)
    )
    place = replace(place, folder=folder)
    try:
        _require_room(place, request)
        with ExitStack() as undo:
            folder = place.folder / place.path if request.adds else place.folder
            undo.callback(_empty, folder, was_there=folder.exists())
            code = _start(request, place, name)
            if code == 0:
                undo.pop_all()
            return code
    except OSError as error:
        raise ToolgenError(
            f"cannot write {error.filename}: {error.strerror}",
            hint="choose another name, or a writable folder",
        ) from error


def _empty(folder: Path, *, was_there: bool) -> None:
    """Remove the contents of a folder, and the folder itself unless it existed before."""
    for path in folder.iterdir() if folder.is_dir() else ():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not was_there and folder.is_dir():
        folder.rmdir()


def _require_room(place: ProjectPlace, request: InitRequest) -> None:
    """Raise if files of the project already exist."""
    folder = place.folder / place.path if request.adds else place.folder
    if folder.is_dir() and any(folder.iterdir()):
        hint = (
            "toolgen init --add NAME, with another name"
            if request.adds
            else "choose another name, or empty it"
        )
        raise ToolgenError(f"the folder {str(folder)!r} is not empty", hint=hint)
    if request.adds and os.path.lexists(test := place.folder / _test_file(place)):
        raise ToolgenError(f"the file {str(test)!r} already exists", hint="choose another name")
    package = place.folder / place.path
    kind, source = request.source or ("", "")
    copied = Path(source.partition(":")[0]).name if kind == "functions" and not request.adds else ""
    if package.with_suffix(".py").exists() or copied == f"{place.path}.py":
        raise ToolgenError(
            f"the package {place.package!r} would hide the module {place.path}.py",
            hint=f"choose another name: toolgen init {'--add ' if request.adds else ''}NAME",
        )


def _start(request: InitRequest, place: ProjectPlace, name: str) -> int:
    view = _view(request, place, name)
    package = place.folder / place.path
    package.mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    if request.source is None:
        for path, template, what in _NOTES:
            _write(package / path, fill(f"init/{template}.jinja", view))
            files[f"{place.path}/{path}"] = what
        _format_notes(package)
        files[_test_file(place)] = "calls the tools as a model would"
    else:
        view, made = _from_source(request.source, request, place, view)
        files |= made
    test = fill(f"init/{'test' if request.source is None else 'imported_test'}.py.jinja", view)
    edits = {place.folder / _test_file(place): Edit(new=formatted([test])[0].encode())}
    settings = place.folder / "pyproject.toml"
    if not request.adds:
        for path, template, what in _NEW:
            _write(place.folder / path, fill(f"init/{template}.jinja", view))
            files[path] = what
    else:
        before = settings.read_bytes() if settings.exists() else None
        text = with_settings((before or b"").decode(), fill("init/pyproject.toml.jinja", view))
        edits[settings] = Edit(old=before, new=text.encode())
        files["pyproject.toml"] = "the settings, in the table [tool.toolgen]"
    with replacing(edits) as undo:
        project = read_project(settings.absolute())
        code = print_outcome(
            generate_output(project, others=frozenset(sys.modules))
        )  # modules of functions were imported
        if code == 0:
            undo.pop_all()
            _explain(files, place, view, adds=request.adds)
        return code


def _view(request: InitRequest, place: ProjectPlace, name: str) -> ProjectView:
    extras = "gen,chat" if request.has_agent else "gen"
    if request.source is not None:
        extras += {"openapi": ",http", "mcp": ",mcp", "functions": ""}[request.source[0]]
    return ProjectView(
        name=name,
        package=place.package,
        path=place.path,
        levels=place.levels,
        setting=f"{name.upper()}_DB",
        requirement=_requirement(extras),
        extras=extras,
        distribution="" if request.adds else name.strip("_").replace("_", "-"),
        agent=AGENT if request.has_agent else "",
        service="notebook",
    )


def _from_source(
    source: tuple[From, str], request: InitRequest, place: ProjectPlace, view: ProjectView
) -> tuple[ProjectView, Mapping[str, str]]:
    """Write the design of a source and its app; return the view, and a description of each file."""
    kind, text = source
    package = place.folder / place.path
    _write(package / "__init__.py", fill("init/package.py.jinja", view))
    made = write_design(kind, text, place, is_new=not request.adds)
    if request.has_agent:
        add_agent(package / "design.py")
    design = checked_design(package / "design.py")
    view = _of_design(view, design, text, made)
    _write_app(design, place, _app_place(view, made))
    files = {
        f"{place.path}/design.py": f"the design, created from {text}; start here",
        f"{place.path}/app.py": "the runtime that serves the tools",
        f"{place.path}/__init__.py": "makes it a package",
        _test_file(place): "checks that the tools are offered",
    }
    if (record := Path(lock_path(package / "design.py"))).exists():
        files[f"{place.path}/{record.name}"] = "the record of this import, which toolgen import compares"
    if made.copied:
        files[made.copied.name] = f"a copy of {text}"
    if view.has_stubs:
        files[f"{place.path}/executors/"] = "the code of the tools, for you to write"
    return view, files


def _of_design(view: ProjectView, design: Design, source: str, made: MadeDesign) -> ProjectView:
    """Return the view with the values for the test of an imported design."""
    offered = [toolset for service in design.services for toolset in service.toolsets if toolset.tools]
    if not offered:
        raise ToolgenError(f"{source} has no tools", hint="use another source")
    first = offered[0]
    return replace(
        view,
        source=source,
        service=next((module_name(service.name) for service in design.services if service.agents), ""),
        tool=f"{first.prefix}{first.tools[0].name}",
        server_name=first.name if made.server else "",
        has_test_runtime=False,
        has_stubs=any(map(design.needs_executor, toolsets(design))),
    )


def _app_place(view: ProjectView, made: MadeDesign) -> AppPlace:
    return AppPlace(
        name=view.name,
        package=view.package,
        generated=f"{view.package}.gen",
        stubs=f"{view.package}.executors",
        levels=view.levels,
        server=made.server,
    )


def _write_app(design: Design, place: ProjectPlace, names: AppPlace) -> None:
    """Write `app.py`, and `services.py` if the author has to implement services."""
    texts = app(design, names)
    for path, text in zip(texts, formatted(list(texts.values())), strict=True):
        _write(place.folder / place.path / path, text)


def _project_without_runtime(request: InitRequest, settings: Mapping[str, object]) -> Project:
    """Return the project in the working directory, to which an app is added.

    Raises:
        ToolgenError: it has a runtime or no design, or other options are set.
    """
    file = Path("pyproject.toml").absolute()
    project = read_project(file)
    if "runtime" in settings or not project.design:
        raise ToolgenError(
            f"{file} already has a table [tool.toolgen]",
            hint="edit its design or its runtime, or start another project: toolgen init NAME",
        )
    if request.has_agent or request.source or request.name:
        raise ToolgenError(
            f"{file} already has a design",
            hint="to add a runtime, run toolgen init --add, without a name and other options",
        )
    return project


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def _format_notes(package: Path) -> None:
    """Format the modules of the notes, whose lines depend on names."""
    files = [package / path for path, _, _ in _NOTES if path != "__init__.py"]
    for file, text in zip(files, formatted([file.read_text("utf-8") for file in files]), strict=True):
        file.write_text(text, "utf-8")


def _test_file(place: ProjectPlace) -> str:
    name = place.package.rpartition(".")[2]
    return f"tests/test_{name}.py"


def _explain(files: Mapping[str, str], place: ProjectPlace, view: ProjectView, *, adds: bool) -> None:
    prefix = "" if adds else f"{view.name}/"
    lines = [(f"{prefix}{path}", what) for path, what in files.items()]
    lines.insert(
        1, (f"{prefix}{place.path}/gen/", "generated types, codecs and schemas; toolgen gen overwrites them")
    )
    width = max(len(path) for path, _ in lines)
    for path, what in lines:
        print(f"{path:{width}}  {what}")
    print("\nNext:")
    if not adds:
        print(f"  cd {view.name} && make demo")
        print("  make chat\n  make test" if view.agent else "  make test")
        return
    print(f"  {install_command(place.folder, view.requirement)}")
    print(f"  toolgen chat {view.agent}" if view.agent else "  toolgen tools list")
    print(f"  keep {_IGNORED} out of version control")


def _check_name(name: str, *, is_top: bool) -> None:
    """Raise if a package cannot have the name or, with `is_top`, another package has it."""
    if not TOOL_NAME.fullmatch(name) or keyword.iskeyword(name):
        near = module_name(name)
        raise ToolgenError(
            f"{name!r} cannot be the name of a package: write a lowercase letter, then lowercase letters, "
            "digits and '_'",
            hint=f"toolgen init {near if TOOL_NAME.fullmatch(near) else 'my_tools'}",
        )
    if not is_top:
        return
    taken = {**packages_distributions()} if find_spec(name) else {}
    taken |= {module: ["the standard library"] for module in sys.stdlib_module_names}
    taken |= {"tests": ["the folder of the tests"], "toolgen": ["toolgen itself"]}
    if name in taken:
        raise ToolgenError(f"the name {name!r} is taken by {taken[name][0]}", hint=f"toolgen init my_{name}")


def _requirement(extras: str) -> str:
    """Return the pip requirement for the running toolgen: its version, or its origin.

    Installers record the origin if it was a folder, a file or a repository (PEP 610).
    """
    toolgen = distribution("toolgen")
    noted = toolgen.read_text("direct_url.json")
    if noted is None:
        return f"toolgen[{extras}]=={toolgen.version}"
    origin = json.loads(noted)
    url = origin["url"]
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"toolgen[{extras}] @ {url}"

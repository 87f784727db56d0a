"""`toolgen init --add` in a project with a design: adds the runtime, and stubs of its services."""

from __future__ import annotations

import sys
from pathlib import Path

from toolgen.codegen.plan import app
from toolgen.codegen.views.app import AppPlace
from toolgen.codegen.write import Edit
from toolgen.codegen.write.output import replacing
from toolgen.codegen.write.staging import formatted
from toolgen.contract.errors import ToolgenError
from toolgen.dsl.expr.tree import Design

from .config import Project, project_of
from .gen import generate_output
from .init_design import checked_design
from .load import load_design
from .outcome import print_outcome
from .project_place import ProjectPlace, with_settings


def add_app(project: Project) -> int:
    """Add an app to a project that has a design and no runtime; return the exit code.

    If the code is not 0, the project is unchanged.

    Raises:
        ToolgenError: the settings do not fit a runtime, a file already exists, the design has errors, or
            its tools belong to a server.
    """
    load_design(project)
    design = checked_design(Path(str(sys.modules[project.design].__file__)))
    place = _place_of_design(project)
    texts = _texts(design, project, place)
    folder, file = place.folder / place.path, project.file
    before = file.read_bytes()
    runtime = f"{place.package}.app:runtime" if place.package else "app:runtime"
    after = with_settings(before.decode(), "", into={"runtime": runtime})
    try:
        project = project_of(file, after)
    except ToolgenError as error:
        raise ToolgenError(f"no runtime can be added: {error.message}", hint=error.hint) from None
    edits = {folder / path: Edit(new=text.encode()) for path, text in texts.items()}
    with replacing({**edits, file: Edit(old=before, new=after.encode())}) as undo:
        code = print_outcome(generate_output(project))
        if code:
            return code
        undo.pop_all()
    what = {"app.py": "the runtime that serves the tools", "services.py": "the services, for you to write"}
    for path in texts:
        print(f"{Path(place.path) / path}  {what[path]}")
    return 0


def _texts(design: Design, project: Project, place: ProjectPlace) -> dict[str, str]:
    """Return the files to add by their names.

    Raises:
        ToolgenError: one of them already exists, or the tools belong to a server.
    """
    if locked := next(
        (toolset for service in design.services for toolset in service.toolsets if toolset.lock), None
    ):
        raise ToolgenError(
            f"the toolset {locked.name!r} belongs to an MCP server, whose command is not in the design",
            hint="write the function of `runtime` as docs/mcp.md shows",
        )
    texts = app(design, _names_of(project, place))
    files = (Path(place.path, path) for path in texts)
    # A package hides a module with the same name.
    for file in (each for path in files for each in (path, path.with_suffix(""))):
        if (place.folder / file).exists():
            raise ToolgenError(
                f"{file} already exists", hint="set its function in [tool.toolgen]: runtime = …"
            )
    return dict(zip(texts, formatted(list(texts.values())), strict=True))


def _place_of_design(project: Project) -> ProjectPlace:
    """Return the place of the package that contains the design of a project.

    Raises:
        ToolgenError: it is not in the folder of the project.
    """
    package = project.design.rpartition(".")[0]
    folder = Path(str(sys.modules[project.design].__file__)).parent
    if not folder.is_relative_to(project.directory):
        raise ToolgenError(
            f"the design is in {folder}, outside of the project {project.directory}",
            hint="run the command in the project of the design",
        )
    path = folder.relative_to(project.directory).as_posix()
    return ProjectPlace(folder=project.directory, package=package, path=path)


def _names_of(project: Project, place: ProjectPlace) -> AppPlace:
    stubs, root = Path(project.stubs), project.source_root
    if root and stubs.is_relative_to(root):
        stubs = stubs.relative_to(root)
    return AppPlace(
        name=project.design.partition(".")[0],
        package=place.package,
        generated=project.package,
        stubs=".".join(stubs.parts),
        levels=place.levels,
    )

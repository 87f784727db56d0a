"""`toolgen init`: a new project that generates, runs and tests itself."""

from __future__ import annotations

import json
import keyword
import sys
from importlib.metadata import distribution, packages_distributions
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.shapes.naming import TOOL_NAME, module_name

from .config import read_project
from .gen import generate_output
from .outcome import print_outcome

_FILES: Final = (
    # Where it goes, the template, what it is.
    ("@NAME@/design.py", "design.py.txt", "the design: three tools; start here"),
    ("@NAME@/executors/notebook/notes.py", "executor.py.txt", "what the tools do"),
    ("@NAME@/app.py", "app.py.txt", "the database and the runtime that serves the tools"),
    ("@NAME@/__init__.py", "package.py.txt", "makes it a package"),
    ("tests/test_notes.py", "test.py.txt", "calls the tools as a model would"),
    ("pyproject.toml", "pyproject.toml.txt", "tells toolgen where the design is and where code goes"),
    ("requirements.txt", "requirements.txt", "the toolgen that made this project"),
    ("Makefile", "Makefile.txt", "make demo, make test"),
    ("README.md", "README.md.txt", "says what is where"),
    (".gitignore", "gitignore.txt", "keeps what can be made again out of git"),
)


def start_project(name: str) -> int:
    """Write the project into a new or empty folder of its name, generate its code, and list its files.

    Return the exit code.

    Raises:
        ToolgenError: the name does not fit a package, or the folder cannot be used.
    """
    _check_name(name)
    folder = Path(name)
    values = {"@NAME@": name, "@SETTING@": f"{name.upper()}_DB", "@REQUIREMENT@": _requirement()}
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise ToolgenError(f"the folder {name!r} is not empty", hint="choose another name, or empty it")
        for place, template, _ in _FILES:
            file = folder / _filled(place, values)
            file.parent.mkdir(parents=True, exist_ok=True)
            text = (files("toolgen") / "templates/init" / template).read_text("utf-8")
            file.write_text(_filled(text, values), "utf-8")
    except OSError as error:
        raise ToolgenError(
            f"cannot write {error.filename}: {error.strerror}",
            hint="choose another name, or a folder where you may write",
        ) from error
    code = print_outcome(generate_output(read_project((folder / "pyproject.toml").absolute())))
    if code == 0:
        _explain(name, values)
    return code


def _explain(name: str, values: dict[str, str]) -> None:
    lines = [(f"{name}/{_filled(place, values)}", what) for place, _, what in _FILES]
    lines.insert(1, (f"{name}/{name}/gen/", "types, codecs and schemas; toolgen gen writes it anew"))
    width = max(len(place) for place, _ in lines)
    for place, what in lines:
        print(f"{place:{width}}  {what}")
    print(f"\nNext:\n  cd {name} && make demo\n  make test")


def _check_name(name: str) -> None:
    if not TOOL_NAME.fullmatch(name) or keyword.iskeyword(name):
        near = module_name(name)
        raise ToolgenError(
            f"{name!r} cannot be the name of a package: a small letter, then small letters, digits and '_'",
            hint=f"toolgen init {near if TOOL_NAME.fullmatch(near) else 'my_tools'}",
        )
    taken = {**packages_distributions()} if find_spec(name) else {}
    taken |= {module: ["the standard library"] for module in sys.stdlib_module_names}
    taken |= {"tests": ["the folder of the tests"], "toolgen": ["toolgen itself"]}
    if name in taken:
        raise ToolgenError(f"the name {name!r} is taken by {taken[name][0]}", hint=f"toolgen init my_{name}")


def _requirement() -> str:
    """Return what pip installs to get the toolgen that runs here: its version, or where it came from.

    An installer notes the latter when it was a folder, a file or a repository (PEP 610).
    """
    toolgen = distribution("toolgen")
    noted = toolgen.read_text("direct_url.json")
    if noted is None:
        return f"toolgen[gen]=={toolgen.version}"
    origin = json.loads(noted)
    url = origin["url"]
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"toolgen[gen] @ {url}"


def _filled(text: str, values: dict[str, str]) -> str:
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text

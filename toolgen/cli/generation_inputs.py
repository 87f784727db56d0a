"""What a run of `toolgen gen` reads: the inputs by which a later run is known to say the same.

A design that only declares is known by its files, the variables that it reads, and their content. One that
imports other packages, looks at a clock, or lists folders may say something else each time: it is
evaluated each time.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from .config import Project, read_project
from .last_generation import digest_of, variable_digest, write_record
from .sources import all_reads

_TOOLGEN: Final = Path(__file__).parents[1]
_INSTALLED: Final = tuple({os.path.realpath(path) for path in (sys.prefix, sys.base_prefix)})
_PLAIN_MODULES: Final = frozenset(
    """
    __future__ abc collections copy dataclasses datetime decimal enum fractions functools itertools json
    math numbers operator os pathlib pydantic re string textwrap toolgen types typing typing_extensions uuid
    """.split()
)
"""Modules by which a design of the same files says the same, but for the names below."""
_UNWATCHED: Final = frozenset(
    """
    __import__ access cwd eval exec exists fromtimestamp getattr getcwd getnode getpid
    glob globals input is_dir is_file is_symlink iterdir listdir lstat now popen rglob scandir stat
    system today urandom utcnow uuid1 uuid4 walk
    """.split()
)
"""Names by which a module may learn what nobody can watch: clocks, folders, chance, other code."""


class Inputs:
    """The files and variables that were read, and whether they are all that the design can depend on."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._files: dict[str, str | None] = {}
        self._variables = set[str]()
        self._imported = set[tuple[str, str]]()
        """Module and file of the importing code."""
        self._is_watched = not (_is_installed(str(project.directory)) or self._is_loaded())
        self.read(str(project.file))

    def read(self, path: str) -> None:
        """Note a file that is about to be opened; its digest is taken first, so that none is too new."""
        if path not in self._files and not self._is_ours(path) and not os.path.isdir(path):
            self._files[path] = None  # what reads it is reported, too
            self._files[path] = digest_of(path)
            if self._files[path] is None and os.path.lexists(path):
                self._is_watched = False  # a pipe, or a link that leads nowhere

    def record(self) -> None:
        """Write the record of a run that left nothing to do, where its inputs are all known."""
        if not (self._is_watched and read_project(self._project.file) == self._project and self._is_plain()):
            return
        write_record(
            str(self._project.directory),
            inputs=self._files | self._shadows(),
            variables={name: variable_digest(name) for name in sorted(self._variables)},
            trees=[self._project.out, *self._project.languages.values()],
            stubs=self._project.stubs,
        )

    def _is_loaded(self) -> bool:
        """Return whether a module of the author is there already, so that nobody saw it read."""
        directory = str(self._project.directory)
        files = (getattr(module, "__file__", None) or "" for module in list(sys.modules.values()))
        return any(file.startswith(directory) and not self._is_ours(file) for file in files)

    def _is_ours(self, path: str) -> bool:
        """Return whether a file is generated, installed, or toolgen's: the record knows those otherwise."""
        project = self._project
        folders = (project.out, project.stubs, *project.languages.values())
        return _is_installed(path) or any(
            Path(path).is_relative_to(folder)
            for folder in (_TOOLGEN, *(project.directory / folder for folder in folders))
        )

    def _modules(self) -> Iterator[ModuleType]:
        """Yield the modules of the author that were imported."""
        for module in list(sys.modules.values()):
            if getattr(module, "__file__", None) in self._files:
                yield module

    def _is_plain(self) -> bool:
        own = {module.__name__.partition(".")[0] for module in self._modules()}
        return all(
            name.partition(".")[0] in _PLAIN_MODULES | own
            for name, file in self._imported
            if file in self._files
        ) and not any(_names(module) & _UNWATCHED for module in self._modules())

    def _shadows(self) -> dict[str, str | None]:
        """Return the files that are not there and would be imported in the place of those that are."""
        project = self._project
        roots = {str(project.directory), str(project.directory / project.source_root)}
        names = {name for name, file in self._imported if file in self._files}
        names |= {module.__name__ for module in self._modules()}
        paths = (
            os.path.join(root, *name.split("."), *end)
            for root in roots
            for name in names
            for end in (("__init__.py",), ())
        )
        files = (path if path.endswith(".py") else f"{path}.py" for path in paths)
        return {file: None for file in files if file not in self._files and not os.path.lexists(file)}


@contextmanager
def recorded_inputs(project: Project) -> Iterator[Inputs]:
    """Record what is read meanwhile, what the author's modules import, and which variables are asked for."""
    inputs = Inputs(project)
    importing, environment = builtins.__import__, os.environ

    def imported(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> ModuleType:
        if not level and globals and (file := globals.get("__file__")):
            inputs._imported.add((name, file))
        return importing(name, globals, locals, fromlist, level)

    builtins.__import__ = imported
    os.environ = _Variables(environment, inputs._variables)  # type: ignore[assignment]  # noqa: B003
    try:
        with all_reads(inputs.read):
            yield inputs
    finally:
        builtins.__import__ = importing
        os.environ = environment  # noqa: B003


class _Variables(MutableMapping[str, str]):
    """The environment, which notes the names that are asked for."""

    def __init__(self, environment: MutableMapping[str, str], asked: set[str]) -> None:
        self._environment = environment
        self._asked = asked

    def __getitem__(self, name: str) -> str:
        self._asked.add(name)
        return self._environment[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._environment[name] = value

    def __delitem__(self, name: str) -> None:
        del self._environment[name]

    def __iter__(self) -> Iterator[str]:
        self._asked.update(self._environment)
        return iter(self._environment)

    def __len__(self) -> int:
        return len(self._environment)

    def copy(self) -> dict[str, str]:
        return dict(self)


def _is_installed(path: str) -> bool:
    return os.path.realpath(path).startswith(_INSTALLED)


def _names(module: ModuleType) -> set[str]:
    """Return the names that the code of a module mentions; its text is not looked at."""
    loader: Any = getattr(module.__spec__, "loader", None)
    code = loader.get_code(module.__name__) if hasattr(loader, "get_code") else None
    return set(_names_of(code)) if code else set(_UNWATCHED)


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_of(constant)

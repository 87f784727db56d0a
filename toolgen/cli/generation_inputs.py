"""What a run of `toolgen gen` reads: the inputs by which a later run is known to say the same.

A design that only declares is known by its files, the variables that it reads, and their content. One that
imports other packages, looks at a clock, or lists folders may say something else each time: it is
evaluated each time.
"""

from __future__ import annotations

import builtins
import dis
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from importlib.abc import SourceLoader
from importlib.machinery import EXTENSION_SUFFIXES, all_suffixes
from itertools import pairwise
from pathlib import Path, PurePath
from types import CodeType, ModuleType
from typing import Any, Final

from toolgen.codegen.manifest import MANIFEST, Manifest, digest
from toolgen.contract.errors import ToolgenError

from .config import Project, read_project
from .last_generation import Memory, digest_of, stub_digests, variable_digest, write_record
from .load import no_bytecode
from .sources import all_reads

_TOOLGEN: Final = Path(__file__).parents[1]
_PLAIN_MODULES: Final = frozenset(
    """
    __future__ abc collections copy dataclasses datetime decimal enum fractions functools itertools json
    math numbers operator os pathlib pydantic re string textwrap toolgen types typing typing_extensions uuid
    """.split()
)
"""Modules by which a design of the same files says the same, but for the names below."""
_UNWATCHED: Final = frozenset(
    """
    DirectoryPath FilePath FutureDate FutureDatetime NewPath PastDate PastDatetime
    __import__ access astimezone attrgetter breakpoint cwd dump eval exec exists fromtimestamp frozenset
    getattr getcwd getnode getpid glob globals hash input is_dir is_file is_symlink iterdir listdir
    lstat methodcaller now popen print rglob scandir set stat sys system today urandom utcnow uuid1
    uuid4 uuid6 uuid7 uuid8 walk write write_bytes write_text writelines
    """.split()
)
"""Names by which a module may learn what nobody can watch: clocks, folders, chance, other code; or act."""
_WATCHED: Final[Mapping[str, frozenset[str]]] = {
    "os": frozenset(
        """
        PathLike abspath altsep basename commonpath commonprefix curdir dirname environ expanduser expandvars
        extsep fsdecode fsencode fspath getenv isabs join linesep name normcase normpath open os pardir path
        pathsep read relpath sep split splitdrive splitext
        """.split()
    ),
    "pathlib": frozenset([*dir(PurePath), *"absolute expanduser home open read_bytes read_text".split()]),
}
"""Names of a module that only compute, or whose reads are noticed."""
_OFFERED: Final[Mapping[str, frozenset[str]]] = {
    module: frozenset(name for name in names if not name.startswith("__"))
    for module, names in {"os": [*dir(os), *dir(os.path)], "pathlib": dir(Path)}.items()
}
_VIEWS: Final = frozenset(("items", "keys"))
_OF_SETS: Final = frozenset(f"{operator}{end}" for operator in "&|^-" for end in ("", "="))
_OPERATION: Final = "&"
"""Stands for an operation of sets, which makes one of the views of a dict."""
_CLASS: Final = "class"
"""Stands for the definition of a class."""
_COMMANDS: Final = os.path.join(os.path.dirname(sys.executable), "")
_SURROUNDINGS: Final = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""Variables by which Python decodes files and tells the time."""


class Inputs:
    """The files and variables that were read, and whether they are all that the design can depend on."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._files: dict[str, str | None] = {}
        self._variables: dict[str, str | None] = {}
        self._imported = set[tuple[str, str]]()
        """Module and file of the importing code."""
        self._sought = set[str]()
        """Names that may be modules, and were asked of packages."""
        self._mentioned: dict[str, set[str]] = {}
        """The names that the code of each module mentions."""
        self._installed = tuple(
            os.path.join(os.path.realpath(folder), "")
            for folder in (os.path.dirname(os.__file__), *map(str, sys.path))
            if folder == os.path.dirname(os.__file__) or folder.endswith("-packages")
        )
        self._before = set(sys.modules)
        self._is_watched = not self._is_loaded()
        self._stubs: dict[str, str | None] = {}
        """Their digests before any is read, so that none is too new."""
        try:
            self._stubs = stub_digests(str(project.directory), project.stubs)
        except OSError:  # what reads them says why
            self._is_watched = False
        self.read(str(project.file))

    def read(self, path: str) -> None:
        """Note a file that is about to be opened; its digest is taken first, so that none is too new."""
        if path not in self._files and not self._is_ours(path):
            self._files[path] = None  # what reads it is reported, too
            self._files[path] = digest_of(path)
            if self._files[path] is None and os.path.lexists(path) and not os.path.isdir(path):
                self._is_watched = False  # a pipe, a huge file, or a link that leads nowhere

    def ask(self, name: str) -> None:
        """Note a variable that is asked for, before the design may set it."""
        if name not in self._variables:
            self._variables[name] = None  # the digest asks, too
            self._variables[name] = variable_digest(name)

    def ask_all(self) -> None:
        """Note that all variables are asked for, also those that are not there."""
        self._is_watched = False

    def find(self, name: str, importer: Mapping[str, Any], names: Any, level: int) -> None:
        """Note an import statement of the code whose globals are `importer`."""
        file = importer.get("__file__")
        if file not in self._files:
            return
        if level:
            package = str(importer.get("__package__") or "").split(".")
            name = ".".join([*package[: len(package) - level + 1], *([name] if name else [])])
        self._imported.add((name, file))
        if name.partition(".")[0] not in _PLAIN_MODULES:
            self._sought.update(f"{name}.{each}" for each in names or ())

    def look(self) -> None:
        """Look at the code of the modules that are loaded; that of a large design takes much memory."""
        for module in self._modules():
            if module.__name__ not in self._mentioned:
                with no_bytecode():
                    self._mentioned[module.__name__] = _names(module, self._files[str(module.__file__)])

    def release_design(self) -> None:
        """Let go of what the author's modules hold, a fifth of the memory of a run, if they only declare.

        Where they define a class, such as one of texts, its methods may be called while code is made.
        """
        if self._is_watched and self._is_plain() and not self._defines_class():
            for module in self._modules():
                for name in [name for name in vars(module) if not name.startswith("__")]:
                    del vars(module)[name]

    def record(self, memory: Memory, manifests: Iterable[Manifest]) -> bool:
        """Write the record of a run that left nothing to do, and return whether its inputs are all known.

        `memory` is what the next run needs, `manifests` are those of the trees.
        """
        try:
            if read_project(self._project.file) != self._project:
                return False
        except ToolgenError:  # they were edited during the run
            return False
        if not (self._is_watched and self._is_plain()):
            return False
        trees = [self._project.out, *self._project.languages.values()]
        write_record(
            str(self._project.directory),
            inputs=self._files | self._shadows(),
            variables=self._variables,
            roots=self._roots(),
            trees={
                tree: digest(manifest.text().encode())
                for tree, manifest in zip(trees, manifests, strict=True)
            },
            stubs={self._project.stubs: self._stubs},
            memory=memory,
        )
        return True

    def _is_loaded(self) -> bool:
        """Return whether a module of the author is there already, so that nobody saw it read."""
        directory = str(self._project.directory)
        files = (getattr(module, "__file__", None) or "" for module in list(sys.modules.values()))
        return any(file.startswith(directory) and not self._is_ours(file) for file in files)

    def _is_ours(self, path: str) -> bool:
        """Return whether the record knows a file otherwise: a module that is installed, or toolgen's."""
        is_module = path.endswith((".py", *EXTENSION_SUFFIXES))
        return (
            (is_module and os.path.realpath(path).startswith(self._installed))
            or path == os.path.join(self._project.directory, self._project.out, MANIFEST)
            or Path(path).is_relative_to(_TOOLGEN)
        )

    def _roots(self) -> list[str]:
        directory = self._project.directory
        return list(dict.fromkeys([str(directory), str(directory / self._project.source_root)]))

    def _modules(self) -> Iterator[ModuleType]:
        """Yield the modules of the author that were imported."""
        for module in list(sys.modules.values()):
            if getattr(module, "__file__", None) in self._files:
                yield module

    def _is_plain(self) -> bool:
        own = {module.__name__.partition(".")[0] for module in self._modules()}
        used = {name.partition(".")[0] for name, _ in self._imported}
        self.look()
        names = set[str]().union(*self._mentioned.values())
        return (
            used <= _PLAIN_MODULES | own
            and not names & _UNWATCHED
            and not any(
                names & (_OFFERED[module] - watched)
                for module, watched in _WATCHED.items()
                if module in used | names
            )
            and self._are_modules_known()
        )

    def _defines_class(self) -> bool:
        return any(_CLASS in names for names in self._mentioned.values())

    def _are_modules_known(self) -> bool:
        """Return whether each module that was imported is one whose reading was noticed."""
        files = (
            getattr(module, "__file__", None)
            for name, module in list(sys.modules.items())
            if name not in self._before
        )
        return all(file in self._files or self._is_ours(file) for file in files if file)

    def _shadows(self) -> dict[str, str | None]:
        """Return the files that are not there and would be imported in the place of those that are."""
        others = (path or os.getcwd() for path in map(str, sys.path))
        others = (path for path in others if not f"{path}/".startswith((*self._installed, _COMMANDS)))
        roots = {*self._roots(), *others}
        names = {name for name, _ in self._imported} | self._sought
        names |= {module.__name__ for module in self._modules()}
        names |= {name[:index] for name in names for index, letter in enumerate(name) if letter == "."}
        files = (
            os.path.join(root, *name.split(".")) + end
            for root in roots
            for name in names
            for suffix in ([".py"] if name.partition(".")[0] in _PLAIN_MODULES else all_suffixes())
            for end in (suffix, os.path.join(os.sep, f"__init__{suffix}"))
        )
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
        if globals:
            inputs.find(name, globals, fromlist, level)
        return importing(name, globals, locals, fromlist, level)

    builtins.__import__ = imported
    os.environ = _Variables(environment, inputs)  # noqa: B003
    for name in _SURROUNDINGS:
        inputs.ask(name)
    try:
        with all_reads(inputs.read):
            yield inputs
    finally:
        builtins.__import__ = importing
        os.environ = environment  # noqa: B003


class _Variables(os._Environ[str]):
    """The environment, which reports the names that are asked for."""

    def __init__(self, environment: os._Environ[str], inputs: Inputs) -> None:
        vars(self).update(vars(environment))
        self._inputs = inputs

    def __getitem__(self, name: str) -> str:
        if isinstance(name, str):
            self._inputs.ask(name)
        return super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        self._inputs.ask_all()
        return super().__iter__()

    def __len__(self) -> int:
        self._inputs.ask_all()
        return super().__len__()

    def __repr__(self) -> str:
        self._inputs.ask_all()
        return super().__repr__()


def _names(module: ModuleType, digest: str | None) -> set[str]:
    """Return the names that the code of a module mentions, whose file had a digest when it was imported.

    Where the code is not that of the file, it stands for any name: Python takes old bytecode for current
    where time and size of the file are the same, and the author may edit it during a run.
    """
    spec: Any = getattr(module, "__spec__", None)  # the module may have set its own names
    loader: Any = getattr(spec, "loader", None)
    try:
        if not isinstance(loader, SourceLoader):
            code = loader.get_code(spec.name) if hasattr(loader, "get_code") else None
        else:
            file = loader.get_filename(spec.name)
            data = loader.get_data(file)
            with warnings.catch_warnings(action="ignore"):
                code = loader.source_to_code(data, file)
            if sha256(data).hexdigest() != digest or (
                os.path.exists(spec.cached or "") and loader.get_code(spec.name) != code
            ):
                code = None
    except (OSError, SyntaxError, ValueError):
        code = None
    names: set[str] = set(_names_of(code)) if code else set(_UNWATCHED)
    if names & _VIEWS and _OPERATION in names:
        names.add("set")
    return names


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    if _makes_set(code):
        yield "set"
    if dis.opmap["BINARY_OP"] in code.co_code[::2] and any(
        each.opname == "BINARY_OP" and each.argrepr in _OF_SETS for each in dis.get_instructions(code)
    ):
        yield _OPERATION
    if dis.opmap["LOAD_BUILD_CLASS"] in code.co_code[::2]:
        yield _CLASS
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_of(constant)


def _makes_set(code: CodeType) -> bool:
    """Return whether a set is made, whose order is chance; one that a text is looked for in is none."""
    if dis.opmap["BUILD_SET"] in code.co_code[::2]:  # each second byte is that of an instruction
        return True
    return any(isinstance(constant, frozenset) for constant in code.co_consts) and any(
        first.opname == "LOAD_CONST"
        and isinstance(first.argval, frozenset)
        and second.opname != "CONTAINS_OP"
        for first, second in pairwise(dis.get_instructions(code))
    )

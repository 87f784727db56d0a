"""An existing project: its packages, its installer, and settings for its pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

_NO_PACKAGES: Final = frozenset("tests test docs examples benchmarks scripts build dist".split())
_HEADER: Final = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*toolgen[ \t]*\][^\n]*$", re.MULTILINE)


@frozen_record
class ProjectPlace:
    """A package for tools in a project; it does not have to exist yet."""

    folder: Path
    """The folder of the project, where pyproject.toml is."""
    package: str
    """Import path."""
    path: str
    """Path of the package's folder from the project folder, with '/'."""

    @property
    def root(self) -> Path:
        """The folder from which the package is imported."""
        return (self.folder / self.path).absolute().parents[self.package.count(".")]

    @property
    def levels(self) -> int:
        """Index in `Path(file).parents` of the project's folder, for a file of the package."""
        return len(Path(self.path).parts)


def find_place(folder: Path, name: str) -> ProjectPlace:
    """Return the place of a new package: inside the project's package, in `src`, or beside pyproject.toml.

    The project's package is the one with the name of the project, or the only one.
    """
    root = folder / "src" if (folder / "src").is_dir() else folder
    packages = sorted(_packages(root))
    own = re.sub(
        r"[^a-z0-9]+", "_", str(_table(_document(folder), "project", "poetry").get("name", "")).lower()
    )
    chosen = own if own in packages else packages[0] if len(packages) == 1 else ""
    package = f"{chosen}.{name}" if chosen else name
    path = (root / package.replace(".", "/")).relative_to(folder).as_posix()
    return ProjectPlace(folder=folder, package=package, path=path)


def install_command(folder: Path, requirement: str) -> str:
    """Return the command of uv, poetry or pip that adds a requirement to a project."""
    tools = _document(folder).get("tool", {})
    if (folder / "uv.lock").exists() or "uv" in tools:
        return f"uv add '{requirement}'"
    if (folder / "poetry.lock").exists() or "poetry" in tools:
        return f"poetry add '{requirement}'"
    return f"pip install '{requirement}'"


def settings_of(folder: Path) -> Mapping[str, Any] | None:
    """Return the table `[tool.toolgen]` of a project; None if it has none."""
    table = _document(folder).get("tool", {}).get("toolgen")
    return table if isinstance(table, dict) else None


def with_settings(text: str, block: str, *, into: Mapping[str, str] | None = None) -> str:
    """Return the text of a pyproject.toml with a block at its end, or with keys `into` its `[tool.toolgen]`.

    Everything else stays byte for byte, comments too. The result is parsed again to check that it has the
    old and the new settings.

    Raises:
        ToolgenError: the settings cannot be added to a text of this form.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    added: dict[str, Any]
    if into is None:
        apart = "" if not text.strip() else end if text.endswith(("\n", "\r")) else 2 * end
        new = f"{text}{apart}{block.replace(chr(10), end)}"
        added = tomllib.loads(block)["tool"]["toolgen"]
    else:
        lines = "".join(f'{end}{key} = "{value}"' for key, value in into.items())
        header = _HEADER.search(text)
        new = text
        if header is not None:
            at = header.end() - (end == "\r\n")  # the pattern ends before the line feed
            new = text[:at] + lines + text[at:]
        added = dict(into)
        block = f"[tool.toolgen]{lines}"
    before, wanted = tomllib.loads(text), tomllib.loads(text)
    try:
        table = wanted.setdefault("tool", {}).setdefault("toolgen", {})
        servers = {**table.get("mcp", {}), **added.get("mcp", {})}
        table.update({**added, "mcp": servers} if servers else added)
        is_added = tomllib.loads(new) == wanted and wanted != before
    except (tomllib.TOMLDecodeError, AttributeError):  # `toolgen` is not a table
        is_added = False
    if not is_added:
        raise ToolgenError(
            "the settings cannot be added to pyproject.toml automatically", hint=f"add: {block}"
        )
    return new


def _packages(root: Path) -> Iterator[str]:
    for init in root.glob("*/__init__.py"):
        name = init.parent.name
        if name.isidentifier() and name not in _NO_PACKAGES:
            yield name


def _document(folder: Path) -> dict[str, Any]:
    file = folder / "pyproject.toml"
    try:
        return tomllib.loads(file.read_text("utf-8")) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise ToolgenError(f"{file} cannot be read: {error}", hint="correct the file") from error


def _table(document: Mapping[str, Any], key: str, tool: str) -> Mapping[str, Json]:
    """Return the table of a key; without one, the table of a tool."""
    table = document.get(key) or document.get("tool", {}).get(tool)
    return table if isinstance(table, dict) else {}

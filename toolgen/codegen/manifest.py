"""`.toolgen.json`: the digests of what toolgen wrote, by which it later finds edited files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final

from toolgen.contract.errors import ToolgenError

MANIFEST: Final = ".toolgen.json"
FORMAT: Final = 1
"""Version of the manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDigests:
    """Two digests of one file: neither a new formatter nor a new toolgen alone makes it stale."""

    source: str
    """Digest of the text before formatting."""
    written: str
    """Digest of the file."""
    coming: str = ""
    """Digest of what a run is about to put there; it stays where the run was killed."""

    def is_ours(self, digest: str) -> bool:
        return digest in (self.written, self.coming)

    def document(self) -> dict[str, str]:
        coming = {"coming": self.coming} if self.coming else {}
        return {"source": self.source, "written": self.written, **coming}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    design: str = ""
    """Dotted name of the design module."""
    files: Mapping[str, FileDigests] = field(default_factory=dict)
    """Digests by path inside the folder."""

    def text(self) -> str:
        files = {path: file.document() for path, file in sorted(self.files.items())}
        return json.dumps({"format": FORMAT, "design": self.design, "files": files}, indent=2) + "\n"


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def read_manifest(text: str, name: str) -> Manifest:
    """Return the manifest; `name` is the file's in messages.

    Raises:
        ToolgenError: it is of a newer format, or it is no manifest.
    """
    try:
        document = json.loads(text)
        version = document["format"]
        if isinstance(version, int) and version > FORMAT:
            raise ToolgenError(
                f"{name} has format {version}, and this toolgen knows formats up to {FORMAT}",
                hint="pip install --upgrade 'toolgen[gen]'",
            )
        files = {
            path: FileDigests(
                source=str(entry["source"]),
                written=str(entry["written"]),
                coming=str(entry.get("coming", "")),
            )
            for path, entry in document["files"].items()
        }
        manifest = Manifest(design=str(document["design"]), files=files)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _unreadable(name) from error
    if version != FORMAT or not all(_is_inside(path) for path in files):
        raise _unreadable(name)
    return manifest


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts


def _unreadable(name: str) -> ToolgenError:
    return ToolgenError(
        f"{name} is not a manifest that toolgen wrote",
        hint="restore it, or delete the folder that it lies in and run: toolgen gen",
    )

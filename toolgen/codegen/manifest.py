"""`.toolgen.json`: the digests of the files that toolgen wrote, used to detect edited files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record

from .sources import SourceDigests

MANIFEST: Final = ".toolgen.json"
FORMAT: Final = 3
"""Format of the manifest that this toolgen writes and reads."""


@frozen_record
class FileDigests:
    """Digests of the accepted contents of a generated file; only its bytes decide whether it is current."""

    written: str
    """Digest of the file."""
    staged: str = ""
    """Digest of the content that a run is about to write; it remains if the run was killed."""

    def is_ours(self, digest: str) -> bool:
        return digest in (self.written, self.staged)

    def document(self) -> dict[str, str]:
        staged = {"staged": self.staged} if self.staged else {}
        return {"written": self.written, **staged}


@frozen_record
class Manifest:
    design: str = ""
    """Dotted name of the design module."""
    files: Mapping[str, FileDigests] = field(default_factory=dict)
    """Digests by path inside the folder."""
    sources: Mapping[str, SourceDigests] = field(default_factory=dict)
    """Digests of the design's sources by path inside the project; empty if they are unknown."""

    def is_of(self, design: str, sources: Mapping[str, SourceDigests]) -> bool:
        """Return whether it was written for this design and the same sources; comments are ignored."""
        is_alike = self.design == design and self.sources.keys() == sources.keys()
        return is_alike and all(
            (old.syntax or old.content) == (new.syntax or new.content)
            for old, new in zip(map(self.sources.__getitem__, sources), sources.values(), strict=True)
        )

    def text(self) -> str:
        files = {path: file.document() for path, file in sorted(self.files.items())}
        document = {"format": FORMAT, "design": self.design, "files": files}
        if self.sources:
            document["sources"] = {path: file.document() for path, file in sorted(self.sources.items())}
        return json.dumps(document, indent=2) + "\n"


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def read_manifest(text: str, name: str) -> Manifest:
    """Return the manifest; `name` is the file name for messages.

    Raises:
        ToolgenError: it has another format, or it is not a manifest.
    """
    try:
        document = json.loads(text)
        number = document["format"]
        if type(number) is not int or number != FORMAT:
            raise ToolgenError(
                f"{name} is a manifest of format {number!r}, and this toolgen reads format {FORMAT}",
                hint="delete its folder and run: toolgen gen",
            )
        files = {
            path: FileDigests(written=str(entry["written"]), staged=str(entry.get("staged", "")))
            for path, entry in document["files"].items()
        }
        sources = {
            path: SourceDigests(content=str(entry["content"]), syntax=str(entry.get("syntax", "")))
            for path, entry in document.get("sources", {}).items()
        }
        manifest = Manifest(design=str(document["design"]), files=files, sources=sources)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _unreadable(name) from error
    if not all(_is_inside(path) for path in [*files, *sources]):
        raise _unreadable(name)
    return manifest


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts


def _unreadable(name: str) -> ToolgenError:
    return ToolgenError(
        f"{name} is not a manifest that toolgen wrote",
        hint="restore it, or delete its folder and run: toolgen gen",
    )

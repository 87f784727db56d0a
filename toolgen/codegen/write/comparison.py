"""The planned texts held against the folder, which they share with nobody."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from toolgen.codegen.manifest import MANIFEST, Manifest, Written, digest, read_manifest
from toolgen.contract.errors import ToolgenError

from .refusal import refusal

CACHES: Final = frozenset(["__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store"])
"""What other programs leave in a folder that is ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How the folder differs from the planned texts; each path stands in one group, all in stable order."""

    manifest: Manifest
    found: Mapping[str, str] = field(default_factory=dict)
    """Digest of each file in the folder."""
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Generated from a text that is not the planned one."""
    edited: tuple[str, ...] = ()
    """Not as toolgen wrote them."""
    unrecorded: tuple[str, ...] = ()
    """Planned and there, but the manifest does not know them."""
    stale: tuple[str, ...] = ()
    """Written by an earlier run and no longer planned."""
    kept: tuple[str, ...] = ()
    """Stale, but somebody edited them."""

    @property
    def is_current(self) -> bool:
        return not any((self.missing, self.changed, self.edited, self.unrecorded, self.stale, self.kept))


def compare(out: Path, texts: Mapping[str, str]) -> Comparison:
    """Return how the folder differs from the planned texts.

    Raises:
        ToolgenError: the folder holds files that are not ours, or its manifest is of no use.
    """
    try:
        found = _digests(out)
    except OSError as error:
        raise refusal("read", error, out) from error
    manifest = Manifest()
    if found.pop(MANIFEST, None) is not None:
        manifest = read_manifest((out / MANIFEST).read_text("utf-8", "replace"), str(out / MANIFEST))
        strange = [path for path in found if path not in texts and path not in manifest.files]
    else:
        strange = list(found)
    if strange:
        raise foreign(out, strange)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for path, text in texts.items():
        group = _group(found.get(path), manifest.files.get(path), digest(text.encode()))
        if group is not None:
            groups[group].append(path)
    for path, file in manifest.files.items():
        if path not in texts:
            groups["stale" if path not in found or file.is_ours(found[path]) else "kept"].append(path)
    in_groups = {group: tuple(paths) for group, paths in groups.items()}
    return Comparison(manifest=manifest, found=found, **in_groups)


def foreign(out: Path, paths: list[str]) -> ToolgenError:
    shown = "".join(f"\n  {out / path}" for path in paths[:10])
    more = f"\n  and {len(paths) - 10} more" if len(paths) > 10 else ""
    return ToolgenError(
        f"{out} holds files that toolgen did not write; nothing was changed:{shown}{more}",
        hint="move them elsewhere, or set 'out' in [tool.toolgen] to a folder of its own",
    )


def _group(found: str | None, file: Written | None, source: str) -> str | None:
    if found is None:
        return "missing"
    if file is None:
        return "unrecorded"
    if not file.is_ours(found):
        return "edited"
    return "changed" if file.source != source else None


def _digests(out: Path) -> dict[str, str]:
    """Return the digest of every file in the folder but caches, by path, sorted."""
    if not out.is_dir():
        if out.exists():
            raise ToolgenError(
                f"{out} is not a folder", hint="move it away, or correct 'out' in [tool.toolgen]"
            )
        return {}
    digests: dict[str, str] = {}
    for folder, folders, files in os.walk(out):
        folders[:] = [name for name in folders if name not in CACHES]
        for name in files:
            if name not in CACHES:
                file = Path(folder, name)
                digests[file.relative_to(out).as_posix()] = digest(file.read_bytes())
    return dict(sorted(digests.items()))

"""Files that belong to another user than the one of this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

NOBODY = 65534


def give_away(monkeypatch: pytest.MonkeyPatch, *paths: Path, owner: int = NOBODY) -> None:
    """Let another user own files and folders.

    Root gives them away. Nobody else can, so that the system then only says so to this process.
    """
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, owner, owner)
        return
    given, stat = {_key(os.stat(path)) for path in paths}, Path.stat

    def status(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        facts = stat(path, follow_symlinks=follow_symlinks)
        if _key(facts) not in given:
            return facts
        return os.stat_result([owner if place == 4 else fact for place, fact in enumerate(facts)])

    monkeypatch.setattr(Path, "stat", status)


def _key(facts: os.stat_result) -> tuple[int, int]:
    """Return what a file keeps by whatever path it is reached."""
    return facts.st_dev, facts.st_ino

"""A run that is killed, out of disk or misled at each of its writes, one after the other."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests import test_interruption
from tests.conftest import ProjectFolder
from tests.test_interruption import (
    NEW,
    after,
    copies,
    kill,
    kill_everywhere,
    run,
    stopped,
    toolgen,
    tree,
)
from toolgen.codegen.write import STAGING, sweep

empty = test_interruption.empty
before = test_interruption.before


def files(tree: dict[str, bytes]) -> dict[str, bytes]:
    return {path: content for path, content in tree.items() if content != b"a folder"}


def disk_is_full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_after_a_kill_at_any_write_each_file_is_whole_and_the_next_run_repairs(before: Path) -> None:
    assert kill_everywhere(before) > 10


def test_a_disk_that_is_full_at_any_write_changes_nothing(before: Path) -> None:
    """A folder that cannot be removed is no more than an empty folder."""
    old, new = files(tree(before)), files(after(before, "new"))
    for at, project in copies(before):
        end = stopped(at, disk_is_full, partial(run, project, NEW))
        assert end in (0, 1, 3), at
        assert files(tree(project)) == (old if end == 3 else new), at
        if end == 0:
            assert at > 60
            return


def test_the_next_run_removes_what_a_killed_one_left(before: Path) -> None:
    for at, project in copies(before):
        end = stopped(at, kill, partial(run, project, NEW))
        left = list(project.glob(f"{STAGING}*"))
        sweep(project / "stubs", project)
        assert list(project.glob(f"{STAGING}*")) == left
        sweep(project / "gen", project)
        # The kill may come before there is a marker.
        assert not [folder for folder in project.glob(f"{STAGING}*") if any(folder.iterdir())], at
        if end == 0:
            return


def test_a_folder_that_becomes_a_link_while_a_run_moves_files_is_not_followed(before: Path) -> None:
    """Whatever the run does then, nothing reaches the folder that the link leads to."""
    mine = before.parent / "mine"
    mine.mkdir()
    for name in ("types.py", "gone.py", "also.json"):
        (mine / name).write_text("mine")
    held = tree(mine)
    for at, project in copies(before):

        def swap(project: Path = project) -> None:
            for name in ("a", "b"):
                with suppress(OSError):
                    (project / f"gen/{name}").rename(project / f"moved-{name}")
                    (project / f"gen/{name}").symlink_to(mine)

        end = stopped(at, swap, partial(run, project, NEW))
        assert end in (0, 1, 3), at
        assert tree(mine) == held, at
        if end == 0:
            return


def test_runs_at_the_same_time_come_one_after_the_other(project: ProjectFolder) -> None:
    runs = [toolgen(project) for _ in range(4)]
    said = [run.communicate()[1].splitlines()[-1] for run in runs]
    assert [run.returncode for run in runs] == [0] * 4
    assert sorted(line == "app/gen: up to date" for line in said) == [False, True, True, True]
    assert project.run("gen", "--check").code == 0

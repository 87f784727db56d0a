"""Hooks for `pytest --dist each`: each worker collects and runs its own part of the files.

Other distributions make every worker collect all files, which costs as much as a tenth of the tests.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import EachScheduling  # type: ignore[import-untyped]  # it has no types


class _Parts(EachScheduling):  # type: ignore[misc]  # as above
    def schedule(self) -> None:
        """Start, and let the progress that is shown count the tests of all parts."""
        session: Any = self.config.pluginmanager.getplugin("session")
        session.testscollected = sum(map(len, self.node2collection.values()))
        super().schedule()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> EachScheduling | None:
    return _Parts(config, log) if config.option.dist == "each" else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Say to a worker that it runs a part."""
    node.workerinput["is_part"] = node.config.option.dist == "each"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    worker = getattr(config, "workerinput", {})
    if not worker.get("is_part") or collection_path.is_dir():
        return None
    index = _files().get(collection_path, 0)
    return True if index % worker["workercount"] != int(worker["workerid"].removeprefix("gw")) else None


@cache
def _files() -> dict[Path, int]:
    """Return the place of each file in an order in which neighbours cost alike."""
    files = Path(__file__).parent.rglob("test_*.py")
    ordered = sorted(files, key=lambda file: (file.parent, file.stat().st_size, file.name))
    return {file: index for index, file in enumerate(ordered)}

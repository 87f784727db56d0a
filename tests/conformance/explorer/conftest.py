"""One build of the forms of docs/user-interfaces.md for the tests of a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from .form_pages import built


@pytest.fixture(scope="session")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("pages"))

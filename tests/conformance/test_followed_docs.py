"""Documents followed to the letter in an empty folder: files, commands, and what they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.followed import reader_of, shell
from tests.test_docs import FOLLOWED_IN_A_FOLDER, name_of

pytestmark = pytest.mark.costly

TYPED = {"durable-agent.md": "notes", "long-running.md": "executors"}
"""What of a followed document is checked by mypy too."""


@pytest.mark.parametrize("file", FOLLOWED_IN_A_FOLDER, ids=name_of)
def test_a_document_can_be_followed(file: Path, tmp_path: Path) -> None:
    with reader_of(file, tmp_path) as reader:
        assert reader.commands
        if typed := TYPED.get(file.name):
            checked = shell(f"python -m mypy --strict --config-file= {typed}", reader.folder)
            assert checked.startswith("Success"), checked

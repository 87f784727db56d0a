"""docs/durable-agent.md, followed to the letter in an empty folder: files, commands, and what they print."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.test_long_running_doc import SAVED, shell
from tests.test_docs import AGENT, BLOCK


def test_the_document_can_be_followed(tmp_path: Path) -> None:
    document, folder = AGENT.read_text("utf-8"), tmp_path
    printed, before, outputs = "", 0, 0
    for block in BLOCK.finditer(document):
        saved = SAVED.findall(document[before : block.start()])
        before = block.end()
        match block[1]:
            case "sh" if block[2].startswith("cd "):
                folder /= block[2].removeprefix("cd ").strip()
            case "sh":
                printed = shell(block[2], folder)
            case "text":
                assert printed == block[2]
                outputs += 1
            case _:
                (folder / saved[-1]).write_text(block[2], "utf-8")
    assert outputs == 4
    checked = shell("python -m mypy --strict --config-file= notes", folder)
    assert checked.startswith("Success"), checked

"""What docs/user-interfaces.md shows of generated code is generated; `make conformance` compiles the rest."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from toolgen.codegen.languages import generate_language
from toolgen.dsl import build

DOC = (Path(__file__).parents[2] / "docs/user-interfaces.md").read_text("utf-8")


def home() -> dict[str, str]:
    """Return the tree of the example."""
    design = build(import_module("examples.home.design").design).design
    assert design is not None
    return generate_language("typescript", design, module="examples.home.design")


def blocks(kind: str, document: str = DOC) -> list[str]:
    """Return the blocks of a document whose fence says this."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)


def test_the_generated_code_is_that_of_the_example() -> None:
    tree = home()
    shown = blocks('ts title="generated"')
    assert shown
    assert all(any(block in text for text in tree.values()) for block in shown)


@pytest.mark.exhaustive
def test_the_files_are_those_of_the_example() -> None:
    for row in re.findall(r"^\| (`.*?) \|", DOC, re.MULTILINE):
        assert set(re.findall(r"`([\w/]+\.ts)`", row)) <= home().keys()

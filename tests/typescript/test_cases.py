"""A case with a folder `typescript` generates exactly that tree, too. `UPDATE=1` rewrites it."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.golden import CASES, NAMES, design, module, read, write
from toolgen.codegen.languages import generate_language
from toolgen.codegen.typescript.layout import PLAIN

WITH_TREE = [name for name in NAMES if (CASES / name / "typescript").is_dir()]


@pytest.mark.parametrize("case", WITH_TREE)
def test_a_case_generates_its_tree(case: str) -> None:
    folder = CASES / case / "typescript"
    texts = generate_language("typescript", design(case), module=module(case))
    tree = {path: text for path, text in texts.items() if path not in PLAIN}
    if os.environ.get("UPDATE"):
        shutil.rmtree(folder, ignore_errors=True)
        write(folder, tree)
    assert read(folder) == tree, "`UPDATE=1 pytest tests/typescript` rewrites it"


def test_what_is_the_same_for_every_design_is_in_every_tree() -> None:
    trees = [generate_language("typescript", design(case), module=module(case)) for case in NAMES]
    for name in PLAIN:
        assert len({tree[name] for tree in trees}) == 1


def test_generation_is_deterministic() -> None:
    for case in NAMES:
        once = generate_language("typescript", design(case), module=module(case))
        assert list(once.items()) == list(
            generate_language("typescript", design(case), module=module(case)).items()
        )

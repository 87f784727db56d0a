"""Broken designs and what toolgen says about them; `UPDATE=1` rewrites the expected texts."""

import os
import runpy
from pathlib import Path

import pytest

from toolgen.dsl import Evaluation, build
from toolgen.expr import RULES

FOLDER = Path(__file__).parent / "broken"
DESIGNS = sorted(FOLDER.glob("*.py"))


def evaluate(path: Path) -> Evaluation:
    return build(runpy.run_path(str(path))["design"])


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_output_is_the_text_beside_the_design(path: Path) -> None:
    """Each broken design gives exactly the diagnostics beside it, with a hint for each."""
    evaluation = evaluate(path)
    text = "\n\n".join(diagnostic.render(str(FOLDER)) for diagnostic in evaluation.diagnostics) + "\n"
    expected = path.with_suffix(".txt")
    if os.environ.get("UPDATE"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")
    assert evaluation.design is None
    assert all(diagnostic.hint for diagnostic in evaluation.diagnostics)


@pytest.mark.parametrize("code", RULES)
def test_every_code_has_a_design_with_this_one_mistake(code: str) -> None:
    """One cause gives one diagnostic."""
    evaluation = evaluate(FOLDER / f"{code}.py")
    assert [diagnostic.code for diagnostic in evaluation.diagnostics] == [code]


def test_every_design_is_of_a_code_or_of_many_mistakes() -> None:
    """No text is left over from a code that is gone."""
    known = {*RULES, "many"}
    assert {path.stem for path in FOLDER.iterdir() if path.suffix in (".py", ".txt")} == known

"""Designs with several mistakes and what toolgen says about them; `UPDATE=1` rewrites the expected texts.

A design for each code stands in `toolgen/cli/explanations`.
"""

import os
import runpy
from pathlib import Path

import pytest

from toolgen.contract.findings import render
from toolgen.dsl import build
from toolgen.dsl.evaluation import Evaluation

FOLDER = Path(__file__).parent / "broken"
DESIGNS = sorted(FOLDER.glob("*.py"))


def evaluate(path: Path) -> Evaluation:
    return build(runpy.run_path(str(path))["design"])


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_output_is_the_text_beside_the_design(path: Path) -> None:
    """Each broken design gives exactly the diagnostics beside it, with a hint for each."""
    evaluation = evaluate(path)
    text = render(evaluation.diagnostics, "text", str(FOLDER)) + "\n"
    expected = path.with_suffix(".txt")
    if os.environ.get("UPDATE"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")
    assert evaluation.design is None
    assert all(diagnostic.hint for diagnostic in evaluation.diagnostics)


def test_fifty_mistakes_give_fifty_lines() -> None:
    """Everything comes at once, in the order of the file, and no two lines say the same."""
    diagnostics = evaluate(FOLDER / "many.py").diagnostics
    assert len({diagnostic.message for diagnostic in diagnostics}) == len(diagnostics) >= 50
    places = [(one.place.file, one.place.line, one.place.column) for one in diagnostics]
    assert places == sorted(places)


def test_no_text_is_left_over() -> None:
    """Each text has its design."""
    texts = {path.stem for path in FOLDER.glob("*.txt")}
    assert texts == {path.stem for path in DESIGNS}

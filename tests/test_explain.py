"""`toolgen explain`: each code with a design that has it, its diagnostic, and a repair that works.

`UPDATE=1` rewrites the diagnostics.
"""

import json
import os
import re
import runpy
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

import toolgen
from tests.selection import first
from toolgen.checks.compatibility import BY_CODE
from toolgen.checks.linting import CODES as LINT
from toolgen.cli import main
from toolgen.cli.explain import EXPLANATIONS, TEXTS, blocks, explain
from toolgen.cli.problem_codes import PROBLEMS
from toolgen.codegen.stubs.stubs import State
from toolgen.contract.findings import Code, render
from toolgen.dsl import build
from toolgen.dsl.evaluation import Evaluation
from toolgen.dsl.expr import RULES
from toolgen.importers.codes import IMPORTS

ROOT = Path(toolgen.__file__).parent


def evaluate(design: str, folder: Path) -> Evaluation:
    file = folder / "design.py"
    file.write_text(design, encoding="utf-8")
    return build(runpy.run_path(str(file))["design"])


def repaired(design: str, diff: str) -> str:
    """Return the design after each hunk of the diff; an empty line stands between two hunks."""
    for hunk in diff.strip("\n").split("\n\n"):
        lines = [(line[0], f"{line[1:]}\n") for line in hunk.splitlines()]
        old = "".join(line for sign, line in lines if sign in " -")
        assert design.count(old) == 1, old
        design = design.replace(old, "".join(line for sign, line in lines if sign in " +"))
    return design


@pytest.mark.parametrize("code", RULES)
def test_the_design_has_this_one_mistake(code: str, tmp_path: Path) -> None:
    """One cause gives one diagnostic, and it reads as shown."""
    shown = blocks(code)
    diagnostics = evaluate(shown["python"], tmp_path).diagnostics
    assert [(diagnostic.code, bool(diagnostic.hint)) for diagnostic in diagnostics] == [(code, True)]
    text = render(diagnostics, "text", str(tmp_path)) + "\n"
    if os.environ.get("UPDATE"):
        file = EXPLANATIONS / f"{code}.md"
        file.write_text(file.read_text("utf-8").replace(shown["text"], text), encoding="utf-8")
        shown = blocks(code)
    assert text == shown["text"]


@pytest.mark.parametrize("code", first(RULES, 8))
def test_the_repair_repairs_it(code: str, tmp_path: Path) -> None:
    """What remains is a design without a mistake."""
    shown = blocks(code)
    assert evaluate(repaired(shown["python"], shown["diff"]), tmp_path).diagnostics == ()


@pytest.mark.parametrize("code", first(RULES, 8))
def test_an_explanation_has_cause_example_and_repair(code: str) -> None:
    """Everything that the documentation has stands in the terminal too."""
    assert list(blocks(code)) == ["python", "text", "diff"]
    words = explain(code).split()
    for part in (RULES[code].explanation, *blocks(code).values()):
        assert " ".join(part.split()) in " ".join(words)


def test_no_explanation_is_left_over() -> None:
    """Nothing stands there for a code that is gone."""
    assert {file.name for file in EXPLANATIONS.iterdir()} == {f"{code}.md" for code in RULES}


def test_the_command_explains_lists_and_suggests(capsys: pytest.CaptureFixture[str]) -> None:
    """A code is explained, all are listed without one, and a misspelt one is an error of usage."""
    assert main(["explain", "bad-name"]) == 0
    assert capsys.readouterr().out == explain("bad-name") + "\n"
    assert main(["explain"]) == 0
    assert capsys.readouterr().out.splitlines() == [*RULES, *TEXTS]
    assert main(["explain", "bad-nam"]) == 2
    assert capsys.readouterr().err == ("error: unknown code 'bad-nam'\n  hint: did you mean bad-name?\n")
    assert main(["explain", "nope"]) == 2
    assert "hint: close codes are unknown-type, " in capsys.readouterr().err
    assert main(["explain", "?"]) == 2
    assert "run toolgen explain to see all codes" in capsys.readouterr().err


def test_the_command_says_it_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"bad-name", "environment", "argument-renamed"} <= {one["code"] for one in listed}
    assert all(one["explanation"] for one in listed)
    assert main(["explain", "bad-name", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) in listed
    assert main(["explain", "bad-nam", "--json"]) == 2


@pytest.mark.parametrize("code", TEXTS.values(), ids=lambda code: code.name)
def test_every_code_of_a_finding_is_explained(code: Code, capsys: pytest.CaptureFixture[str]) -> None:
    """`--format json` prints them beside those of diagnostics, and a reader asks for them the same way."""
    assert main(["explain", code.name]) == 0
    assert capsys.readouterr().out.split() == [code.name, *code.explanation.split()]
    assert code.explanation.endswith(".")


def test_every_code_has_a_user_and_no_code_has_two_meanings() -> None:
    """The tables name what commands find, no more and no less."""
    sources = [
        file.read_text("utf-8")
        for room in ("cli", "importers", "checks/linting")
        for file in (ROOT / room).glob("*.py")
    ]
    words = Counter(re.findall(r"\b[A-Z]+(?:_[A-Z]+)*\b", "\n".join(sources)))
    codes = {**PROBLEMS, **IMPORTS}.values()
    constants = {code.name.removeprefix("import-").replace("-", "_").upper() for code in codes}
    assert [name for name in constants if words[name] < 2] == []
    assert {f"stub-{state}" for state in get_args(State)} - {"stub-implemented"} <= set(TEXTS)
    changes = "\n".join(file.read_text("utf-8") for file in (ROOT / "checks/compatibility").glob("*.py"))
    assert [code for code in BY_CODE if changes.count(f'"{code}"') < 2] == []
    assert len(PROBLEMS) + len(IMPORTS) + len(LINT) + len(BY_CODE) == len(TEXTS)
    assert not set(RULES) & set(TEXTS)

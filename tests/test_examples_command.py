"""`toolgen test`: the examples of a design, run on runtimes made for tests, and never on live data."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolgen.cli import main

from .conftest import DESIGN, ProjectFolder
from .findings import findings_in
from .test_call_command import EXECUTOR, MAIN

ROOT = Path(__file__).parents[1]

GOOD = """\
        Example({"name": "Ada"}, result={"text": "Good day, Ada of s-9! ☀"}),
        Example({"name": "Bob"}),
"""
WRONG = """\
        Example({"name": "Ada"}, result={"text": "Good night, Ada."}),
        Example({"name": "Nobody"}),
        Example({"name": "Bob"}),
"""
SPECIAL = """\
    Tool(
        "wave",
        "Wave.",
        Args(Attribute("tags", MapOf(String, String), "Who.", required=True)),
        Return(
            Attribute("at", DateTime, "When.", required=True),
            Attribute("tags", MapOf(String, String), "Who.", required=True),
            Attribute("note", String, "Why."),
        ),
        Example(
            {"tags": {"b": "2", "a": "1"}},
            result={"tags": {"a": "1", "b": "2"}, "at": "2026-01-01T00:00:00+00:00", "note": None},
        ),
    ),
)
design = Design("""

WAVE = """\

    async def wave(self, payload: people.WavePayload, ctx: ToolContext) -> people.WaveResult:
        return people.WaveResult(at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), tags=payload.tags)
"""


def with_examples(examples: str) -> str:
    design = DESIGN.replace("Design, Inject", "Design, Example, Inject")
    return design.replace('        Inject("session_id"),\n', f'        Inject("session_id"),\n{examples}')


@pytest.fixture
def greeter(project: ProjectFolder) -> ProjectFolder:
    project.write("app/design.py", with_examples(GOOD))
    project.run("gen")
    project.write("executors/hall/people.py", EXECUTOR)
    project.write("app/main.py", MAIN)
    with_test_runtime(project, "app.main:runtime")
    return project


def with_test_runtime(project: ProjectFolder, function: str) -> None:
    """Name the function that makes runtimes for tests; `runtime` must name another one."""
    settings = (project.path / "pyproject.toml").read_text().partition("test_runtime")[0]
    settings = settings.replace(f'runtime = "{function}"\n', "")
    project.write("pyproject.toml", f'{settings}test_runtime = "{function}"\n')


def test_what_an_example_raised_is_told_with_its_place(greeter: ProjectFolder) -> None:
    broken = EXECUTOR.replace("        if ", "        1 // 0\n        if ")
    greeter.write("executors/hall/people.py", broken)
    line = broken.splitlines().index("        1 // 0") + 1
    cause = f"executors/hall/people.py:{line}: ZeroDivisionError: integer division or modulo by zero"
    assert f"\n}}\n{cause}\n" in greeter.run("test", "--session", "s-9").out
    for finding in findings_in(greeter.run("test", "--session", "s-9", "--format", "json").out):
        assert finding["message"].endswith(f"\n{cause}")


@pytest.mark.parametrize(("written", "got"), [("dict(text=", "dict"), ("print(", "None")])
def test_a_result_of_another_class_is_told_with_what_to_write(
    greeter: ProjectFolder, written: str, got: str
) -> None:
    wrong = EXECUTOR.replace("people.GreetResult(text=", written)
    greeter.write("executors/hall/people.py", wrong)
    out = greeter.run("test", "--session", "s-9").out
    problem, hint = out[out.index("executors/hall/people.py") :].splitlines()[:2]
    assert problem == (
        "executors/hall/people.py:6: People.greet returned a malformed result: "
        f"expected GreetResult, got {got} (tool hall.people.greet)"
    )
    written_now = f"people.{hint.rpartition(' ')[2]}"
    assert written_now == "people.GreetResult(text=…)"
    greeter.write("executors/hall/people.py", wrong.replace(written, written_now.removesuffix("…)")))
    assert greeter.run("test", "--session", "s-9").code == 0


def test_examples_that_hold(greeter: ProjectFolder) -> None:
    done = greeter.run("test", "--session", "s-9")
    assert (done.code, done.out, done.err) == (0, "", "2 examples passed\n")


def test_examples_that_do_not_hold_are_shown_with_the_difference(greeter: ProjectFolder) -> None:
    greeter.write("app/design.py", with_examples(WRONG))
    done = greeter.run("test", "--session", "s-9")
    assert done.code == 1
    assert done.out == (
        'hall.people.greet, example 1: {"name": "Ada"}\n'
        "--- expected\n"
        "+++ returned\n"
        "@@ -1,3 +1,3 @@\n"
        " {\n"
        '-  "text": "Good night, Ada."\n'
        '+  "text": "Good day, Ada of s-9! ☀"\n'
        " }\n"
        "\n"
        'hall.people.greet, example 2: {"name": "Nobody"}\n'
        "failed: {\n"
        '  "error": "there is nobody"\n'
        "}\n"
        "\n"
    )
    assert done.err == "3 examples: 2 failed\n"


def test_results_are_compared_by_value(greeter: ProjectFolder) -> None:
    """Order of keys, the spelling of an instant, and a null that means absent make no difference."""
    design = with_examples(GOOD).replace("Args,", "Args, DateTime, MapOf,")
    greeter.write("app/design.py", design.replace(")\ndesign = Design(", SPECIAL))
    greeter.run("gen")
    greeter.write("executors/hall/people.py", f"import datetime as dt\n{EXECUTOR}{WAVE}")
    done = greeter.run("test", "--tool", "wave")
    assert (done.code, done.out, done.err) == (0, "", "1 example passed\n")
    assert greeter.run("test", "--session", "s-9").err == "3 examples passed\n"


def test_a_fact_that_an_example_needs_is_asked_for(greeter: ProjectFolder) -> None:
    done = greeter.run("test")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: greet needs 'session_id', which no option sets\n  hint: add --session ID\n"


def test_a_tool_that_is_not_there(greeter: ProjectFolder) -> None:
    done = greeter.run("test", "--tool", "gret")
    assert (done.code, done.err) == (
        2,
        "error: the design has no tool 'gret'\n  hint: did you mean 'greet'?\n",
    )


def test_a_design_without_examples(greeter: ProjectFolder) -> None:
    greeter.write("app/design.py", DESIGN)
    done = greeter.run("test")
    assert (done.code, done.err) == (0, "no examples; add d.Example(…) to a tool\n")


def test_a_broken_design_runs_nothing(greeter: ProjectFolder) -> None:
    greeter.write("app/design.py", with_examples(GOOD).replace('"name": "Ada"', '"nam": "Ada"'))
    done = greeter.run("test", "--session", "s-9")
    assert (done.code, done.out) == (1, "")
    assert "[example-mismatch]" in done.err


def test_a_design_that_went_ahead_of_the_generated_code(greeter: ProjectFolder) -> None:
    design = with_examples(GOOD).replace('{"text": "', '{"words": "').replace('"text"', '"words"')
    greeter.write("app/design.py", design)
    done = greeter.run("test", "--session", "s-9")
    assert done.code == 2
    assert done.err.startswith("error: an example of hall.people.greet does not fit the generated code: ")
    assert done.err.endswith("\n  hint: run: toolgen gen\n")


def test_programs_get_a_record_of_each_failure(greeter: ProjectFolder) -> None:
    greeter.write("app/design.py", with_examples(WRONG))
    done = greeter.run("test", "--session", "s-9", "--format", "json")
    assert (done.code, done.err) == (1, "3 examples: 2 failed\n")
    first, second = findings_in(done.out)
    assert second == {
        "severity": "error",
        "code": "example-failed",
        "message": 'hall.people.greet, example 2: failed: {\n  "error": "there is nobody"\n}',
        "file": "app/design.py",
        "line": 18,
        "column": 9,
        "end": {"line": 18, "column": 36},
        "hint": "",
        "suppressible": False,
        "related": [],
    }
    assert (first["line"], '+  "text": "Good day, Ada of s-9! ☀"' in first["message"]) == (17, True)
    done = greeter.run("test", "--session", "s-9", "--format", "github")
    place = "file=app/design.py,line=18,col=9,title=example-failed"
    assert done.out.splitlines()[1].startswith(
        f"::error {place}::hall.people.greet, example 2: failed: {{%0A"
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("format", ["text", "json", "github"])
def test_nothing_that_a_tool_says_reaches_a_terminal_as_a_command(
    greeter: ProjectFolder, format: str
) -> None:
    greeter.write(
        "executors/hall/people.py", EXECUTOR.replace("there is nobody", "\\x1b[2Jthere\\u202eis nobody")
    )
    greeter.write("app/design.py", with_examples(WRONG))
    done = greeter.run("test", "--session", "s-9", "--format", format)
    assert done.code == 1
    assert "there" in done.out
    assert not set(done.out) & {"\x1b", "\u202e"}


def test_a_method_that_is_a_stub_is_named(greeter: ProjectFolder) -> None:
    (greeter.path / "executors/hall/people.py").unlink()
    greeter.run("gen")
    done = greeter.run("test", "--session", "s-9")
    line = "executors/hall/people.py:13: People.greet is not implemented (tool hall.people.greet)"
    assert (done.code, done.err) == (1, "2 examples: 2 failed\n")
    assert done.out == (
        f'hall.people.greet, example 1: {{"name": "Ada"}}\n{line}\n\n'
        f'hall.people.greet, example 2: {{"name": "Bob"}}\n{line}\n\n'
    )


@pytest.mark.exhaustive
def test_the_examples_of_the_example_hold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])
    code = main(["test", "--session", "s-mira", "--config", str(ROOT / "pyproject.toml")])
    captured = capsys.readouterr()
    assert (code, captured.out, captured.err) == (0, "", "9 examples passed\n")

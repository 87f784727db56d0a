"""`toolgen approve`, and what `toolgen call` says of a call that waits: a person sees what will run."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.selection import first

from .conftest import ProjectFolder, surroundings
from .terminal import at_a_terminal

DESIGN = '''\
"""A database, for a test."""

from toolgen.dsl import (
    Args, Attribute, Boolean, Confirm, Design, Int, Object, Return, Service, String, Tool, Toolset,
)

sql = Toolset(
    "sql",
    "Ask the database.",
    Tool(
        "run_query",
        "Run a query.",
        Args(
            Attribute("query", String, "What to run.", required=True),
            Attribute("database", String, "Where.", required=True),
        ),
        Return(Attribute("rows", String, "What came back.", required=True)),
        Confirm(
            "Run {query} on {database}?",
            payload=Object(
                Attribute("backup", Boolean, "Whether to save it first.", default=True),
                Attribute("keep", Int, "How many days.", minimum=1, required=True),
            ),
        ),
    ),
)
design = Design("app", "A small application.", Service("hall", "Where data is.", sql))
'''
MAIN = """\
from pathlib import Path

from app.gen.hall.toolsets import sql
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, ToolContext


class Sql(sql.SqlExecutor):
    async def run_query(self, payload: sql.RunQueryPayload, ctx: ToolContext) -> sql.RunQueryResult:
        Path("ran").write_text(payload.query, "utf-8")
        return sql.RunQueryResult(rows=f"of \\u202e{payload.query}")


def runtime() -> Runtime:
    made = Runtime(engine=InProcessEngine("runs.db"))
    made.tools.register(sql.registration(Sql()))
    return made
"""
SPOOFED = "select 1\x1b[2J\x1b[H\r\napproved by the owner\u202e"


@pytest.fixture
def database(project: ProjectFolder) -> ProjectFolder:
    project.write("app/design.py", DESIGN)
    project.write("app/main.py", MAIN)
    assert project.run("gen").code == 0
    return project


def asked(database: ProjectFolder, query: str) -> tuple[str, str]:
    """Return the id of a call that waits, and all that `toolgen call` says of it."""
    done = database.run("call", "run_query", json.dumps({"query": query, "database": "staging"}))
    assert (done.code, done.out) == (3, ""), "it waits, as a turn of `run` does"
    (line,) = [line for line in done.err.splitlines() if line.startswith("answer it with: toolgen approve ")]
    return line.split()[5], done.err


def is_printable(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def test_a_question_in_the_words_of_a_model_cannot_move_the_cursor(database: ProjectFolder) -> None:
    _, said = asked(database, SPOOFED)
    assert is_printable(said)
    assert "approved by the owner" not in said.splitlines()
    listed = database.run("approve").out
    assert is_printable(listed)
    assert "approved by the owner" not in listed.splitlines()
    assert r"select 1\u001b[2J\u001b[H\r\napproved by the owner\u202e" in listed


def test_a_trace_and_an_example_cannot_either(database: ProjectFolder) -> None:
    query = json.dumps({"query": SPOOFED, "database": "staging", "\x1b[2J": 1})
    assert is_printable(database.run("call", "run_query", query, "--trace").err)
    example = f"Example({{'query': {SPOOFED!r}, 'database': 'x'}}, result={{'rows': 'other'}}),\n        "
    design = DESIGN.replace("Design, Int, Object", "Design, Example, Int, Object")
    database.write("app/design.py", design.replace("Confirm(", f"{example}Confirm("))
    settings = (database.path / "pyproject.toml").read_text("utf-8")
    database.write("pyproject.toml", settings.replace("runtime = ", "test_runtime = "))
    done = database.run("test")
    assert done.code == 1
    assert is_printable(done.out)
    assert r"\u001b[2J" in done.out


HIDDEN = "select 1 -- " + " " * 200 + "; drop table users"


def test_all_that_will_run_is_shown_before_it_runs(database: ProjectFolder) -> None:
    token, said = asked(database, HIDDEN)
    assert "Run select 1 -- " in said
    assert "… [30 more characters] on staging?" in said
    assert "the preview does not show all arguments; these are all:" in said
    listed = database.run("approve")
    assert json.dumps({"query": HIDDEN, "database": "staging"}) in listed.out
    assert "toolgen approve ID" in listed.err
    done = database.run("approve", token, "--yes")
    assert f'  "query": {json.dumps(HIDDEN)}\n  "database": "staging"\n' in done.err
    assert (done.code, (database.path / "ran").read_text("utf-8")) == (0, HIDDEN)


def test_what_an_answer_may_hold_is_told(database: ProjectFolder) -> None:
    _, said = asked(database, "select 1")
    assert (
        'answer: {"approved": boolean, "message": string (optional), '
        '"payload": {"backup": boolean (default true, optional), '
        '"keep": integer (minimum 1)} (optional)}\n'
    ) in said


@pytest.mark.exhaustive
def test_nothing_is_approved_where_nobody_can_be_asked(database: ProjectFolder) -> None:
    token, _ = asked(database, "select 1")
    done = subprocess.run(
        [sys.executable, "-m", "toolgen", "approve", token],
        cwd=database.path,
        env=surroundings(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(
        "error: cannot ask for confirmation, because stdin is not a terminal; nothing was answered\n"
        "  hint: add --yes to skip the prompt\n"
    )
    assert not (database.path / "ran").exists()


@pytest.mark.exhaustive
def test_what_a_person_at_a_terminal_does_not_see_is_not_run(database: ProjectFolder) -> None:
    token, _ = asked(database, "select 1")
    with open(database.path / "log", "wb") as log:
        at_a_terminal(database, ["approve", token], b"y\n", log)
    said = (database.path / "log").read_text("utf-8")
    assert said.endswith(
        "error: stderr is not a terminal, so you have not seen the arguments; nothing was answered\n"
        "  hint: do not redirect stderr, or add --yes\n"
    )
    assert not (database.path / "ran").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "arguments",
    first(
        [
            ["--yes"],
            [""],
            ["", "--yes"],
            ["--deny"],
            ["--message", "no"],
            ["--answer", "1"],
            ["--payload", "{}"],
        ],
        3,
    ),
)
def test_an_answer_without_a_token_is_refused(database: ProjectFolder, arguments: list[str]) -> None:
    done = database.run("approve", *arguments)
    assert (done.code, done.out) == (2, "")
    assert "Invalid value for CALL: an answer needs the token or the id of a call" in done.err


def test_the_beginning_of_an_id_names_its_call(database: ProjectFolder) -> None:
    """As Git takes the beginning of a commit's id; of what is too short or of two calls none is taken."""
    id_, _ = asked(database, "select 1")
    short = database.run("approve", id_[:3], "--deny")
    assert (short.code, f"no suspended call has the token or id {id_[:3]!r}" in short.err) == (2, True)
    assert database.run("approve", f"{id_[:4]}x", "--deny").code == 2
    denied = database.run("approve", id_[:4], "--deny")
    assert (denied.code, "select 1" in denied.err) == (0, True)


def test_a_beginning_of_two_ids_names_neither(
    database: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = iter(["abcd0", "abcd01", "abcd02"])
    monkeypatch.setattr("toolgen.waiting.suspending.new_id", lambda: next(ids))
    for query in "first", "second", "third":
        asked(database, query)
    several = database.run("approve", "abcd", "--deny")
    assert (several.code, several.out) == (2, "")
    assert "error: 3 suspended calls have ids that begin with 'abcd': abcd0, abcd01, abcd02\n" in several.err
    assert "first" in database.run("approve", "abcd0", "--deny").err, "a whole id is that of its call"
    assert database.run("approve", "abcd0", "--deny").code == 2, "the other two"
    assert "third" in database.run("approve", "abcd02", "--deny").err


def test_what_is_no_approval_says_so(database: ProjectFolder) -> None:
    token, said = asked(database, "select 1")
    assert "s_" not in said
    wrong = database.run("approve", "s_abc")
    assert wrong.code == 2
    assert "no suspended call has this token\n  hint: copy the complete token, starting with s_" in wrong.err
    assert database.run("approve", token, "--deny").code == 0
    (line, *_) = database.run("runs", "list").out.splitlines()
    assert line.split()[1:3] == ["completed", "denied"]
    other = database.run("approve", token, "--yes")
    assert other.code == 2
    assert f"error: {token!r} was already answered, or can no longer be answered\n" in other.err

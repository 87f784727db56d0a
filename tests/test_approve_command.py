"""`toolgen approve`, and what `toolgen call` says of a call that waits: a person sees what will run."""

from __future__ import annotations

import json

import pytest

from .conftest import ProjectFolder

DESIGN = '''\
"""A database, for a test."""

from toolgen.dsl import (
    Args, Attribute, Boolean, Confirm, Design, Object, Return, Service, String, Tool, Toolset,
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
            payload=Object(Attribute("backup", Boolean, "Whether to save it first.", default=True)),
        ),
    ),
)
design = Design("app", "A small application.", Service("hall", "Where data is.", sql))
'''
MAIN = """\
from pathlib import Path

from app.gen.hall.toolsets import sql
from toolgen.runtime import Runtime, ToolContext
from toolgen.runtime.suspension_sqlite import SqliteSuspensionStore


class Sql(sql.SqlExecutor):
    async def run_query(self, payload: sql.RunQueryPayload, ctx: ToolContext) -> sql.RunQueryResult:
        Path("ran").write_text(payload.query, "utf-8")
        return sql.RunQueryResult(rows=f"of \\u202e{payload.query}")


def runtime() -> Runtime:
    made = Runtime(suspensions=SqliteSuspensionStore("waiting.db"))
    made.register(sql.registration(Sql()))
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
    """Return the token of a call that waits, and all that `toolgen call` says of it."""
    done = database.run("call", "run_query", json.dumps({"query": query, "database": "staging"}))
    assert (done.code, done.out) == (0, "")
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
    design = DESIGN.replace("Design, Object", "Design, Example, Object")
    database.write("app/design.py", design.replace("Confirm(", f"{example}Confirm("))
    done = database.run("test")
    assert done.code == 1
    assert is_printable(done.out)
    assert r"\u001b[2J" in done.out

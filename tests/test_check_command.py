"""`toolgen runs check`: what is unsealed or tampered is named, and adopted or canceled."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from tests.selection import first

from .conftest import ProjectFolder
from .runs_project import serving, start, write_runs
from .terminal import at_a_terminal


@pytest.fixture
def runs(project: ProjectFolder) -> ProjectFolder:
    write_runs(project)
    return project


def rewrite(runs: ProjectFolder, change: Callable[[dict[str, Any]], object], run_id: str = "run_1") -> None:
    """Change the records of a run's calls, as who can write to the file, and has no secret."""
    with closing(sqlite3.connect(runs.path / "runs.db")) as database, database:
        for table, column in (("wait", "about"), ("op", "value"), ("run", "input")):
            for (kept,) in database.execute(f"SELECT {column} FROM {table}").fetchall():
                document = json.loads(kept)
                record = document.get("frozen") if isinstance(document, dict) else None
                if not isinstance(record, dict) or run_id not in (record["meta"]["run_id"], "call"):
                    continue
                change(record)
                new = json.dumps(document, separators=(",", ":")).encode()
                database.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, kept))


def strip(record: dict[str, Any]) -> None:
    """Make a record as versions before kept it."""
    del record["seal"]


def test_where_everything_is_sealed_there_is_nothing_to_see(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk")
    done = runs.run("runs", "check")
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        "no process executes the runs\n"
        f"'{runs.path / 'runs.db.key'}' is the key\n"
        "all suspended calls are sealed\n"
    )


@pytest.mark.exhaustive
def test_what_an_older_version_kept_is_adopted_and_answered(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk", "run_2:s-2:wipe tape")
    id_ = runs.run("approve").out.split()[0]
    rewrite(runs, strip)
    listed = runs.run("runs", "list")
    assert f"  unsealed: {id_}  x.tools.wipe\n" in listed.out
    assert "toolgen runs check" in listed.err
    waiting = runs.run("approve")
    assert id_ not in waiting.out
    assert "other calls are unsealed or tampered with; see them with: toolgen runs check" in waiting.err
    refused = runs.run("approve", id_, "--yes")
    assert (refused.code, "toolgen runs check --adopt run_1" in refused.err) == (2, True)
    checked = runs.run("runs", "check")
    assert checked.code == 1
    assert checked.out.startswith(f"run_1  wait:call_wipe:1  unsealed  {id_}  x.tools.wipe\n")
    assert '  payload_json: {"name":"disk"}\n' in checked.out
    record = json.loads(runs.run("runs", "check", "--json").out)
    assert (record["status"], record["id"], record["tool"]) == ("unsealed", id_, "x.tools.wipe")
    assert (record["record"]["payload_json"], "seal" in record["record"]) == ('{"name":"disk"}', False)
    assert runs.run("runs", "check", "run_2").code == 0
    adopted = runs.run("runs", "check", "--adopt", "run_1", "--yes", "--by", "ann")
    assert (adopted.code, adopted.out) == (0, "")
    assert f"adopted: run_1  {id_}  x.tools.wipe\n" in adopted.err
    assert runs.run("runs", "check").code == 0
    assert runs.run("approve", id_, "--deny").code == 0


def test_what_was_changed_can_only_be_canceled(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk")
    id_ = runs.run("approve").out.split()[0]
    rewrite(runs, lambda record: record.update(payload_json='{"name":"\\u001b[2Jtape"}'))
    checked = runs.run("runs", "check")
    assert (checked.code, "tampered" in checked.out, "\x1b" in checked.out) == (1, True, False)
    assert "a call was tampered with; cancel its run with: toolgen runs cancel run_1" in checked.err
    assert runs.run("runs", "check", "--adopt", "--yes").code == 1
    for answer in (["--yes"], ["--answer", '"blue"']):
        refused = runs.run("approve", id_, *answer)
        assert (refused.code, "toolgen runs cancel run_1" in refused.err) == (2, True)
    assert not (runs.path / "wiper").exists()
    assert runs.run("runs", "cancel", "run_1").code == 0
    assert runs.run("runs", "check").code == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "text",
    first(
        [
            "nothing of JSON",
            "[" * 100_000,
            '{"frozen":{"expires_at":1e308,"question":"' + "x" * 100_000 + '"}}',
        ]
    ),
    ids=["no JSON", "deep", "long"],
)
def test_a_record_that_cannot_be_read_is_named_and_hides_no_other(runs: ProjectFolder, text: str) -> None:
    start(runs, "run_1:s-1:wipe disk", "run_2:s-2:wipe tape")
    with closing(sqlite3.connect(runs.path / "runs.db")) as database, database:
        database.execute("UPDATE wait SET about = ? WHERE id < (SELECT max(id) FROM wait)", (text.encode(),))
    waiting = runs.run("approve")
    assert (waiting.code, waiting.out.count("x.tools.wipe")) == (0, 1)
    assert "  tampered:" in runs.run("runs", "list").out
    checked = runs.run("runs", "check")
    assert checked.code == 1
    assert "run_1  wait:call_wipe:1  tampered\n" in checked.out
    assert ("damaged: run run_1 cannot be read" in checked.out) == (not text.startswith("{"))
    assert len(checked.out) < 30_000
    for done in (waiting, checked):
        assert "bug" not in done.err
        assert "Traceback" not in done.err


@pytest.mark.exhaustive
def test_a_key_that_is_gone_is_named_and_made_again_by_who_adopts(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk")
    key = runs.path / "runs.db.key"
    key.unlink()
    refused = runs.run("approve")
    assert (refused.code, "toolgen runs check --adopt" in refused.err, key.exists()) == (2, True, False)
    assert "  unsealed: " in runs.run("runs", "list").out
    assert (runs.run("runs", "check").code, key.exists()) == (1, False)
    assert (runs.run("runs", "check", "--adopt", "--yes").code, key.exists()) == (0, True)
    id_ = runs.run("approve").out.split()[0]
    assert runs.run("approve", id_, "--deny").code == 0


def test_nobody_adopts_what_nobody_has_seen(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk")
    rewrite(runs, strip)
    done = runs.run("runs", "check", "--adopt")
    assert (done.code, "add --yes to skip the prompt" in done.err) == (2, True)
    assert runs.run("runs", "check").code == 1


def test_what_changes_while_a_person_reads_is_not_adopted(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk")
    rewrite(runs, strip)

    def change_and_agree() -> bytes:
        rewrite(runs, lambda record: record.update(payload_json='{"name":"tape"}'))
        return b"y\n"

    said = at_a_terminal(runs, ["runs", "check", "--adopt"], replies={b"[y/N]": change_and_agree})
    assert 'payload_json: {"name":"disk"}' in said
    assert "adopted:" not in said
    assert "toolgen runs check --adopt run_1" in said
    assert '"name":"tape"' in runs.run("runs", "check").out


def test_a_run_that_is_not_there_is_named(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk")
    done = runs.run("runs", "check", "run_7")
    assert (done.code, "run_7" in done.err) == (2, True)


def test_a_damaged_log_is_named_and_the_other_runs_are_listed(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk", f"run_2:s-2:ask {'x' * 9_000}")
    assert all(len(line) < 2_100 for line in runs.run("runs", "list").out.splitlines())
    with closing(sqlite3.connect(runs.path / "runs.db")) as database:
        (no,) = database.execute("SELECT no FROM run WHERE run_id = 'run_1'").fetchone()
        database.execute("UPDATE event SET text = CAST('{no json' AS BLOB) WHERE id >> 20 = ?", (no,))
        database.commit()
    listed = runs.run("runs", "list")
    assert listed.code == 0
    assert "the log of run run_1 cannot be read" in listed.out
    assert "run_2  waiting" in listed.out
    checked = runs.run("runs", "check")
    assert checked.code == 1
    assert checked.out.startswith("damaged: the log of run run_1 cannot be read")


def change(runs: ProjectFolder, file: str, sql: str) -> None:
    with closing(sqlite3.connect(runs.path / file)) as database, database:
        database.execute(sql)


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (
            "UPDATE message SET messages = '{' WHERE run_id = 'run_1'",
            "damaged: session s-1: the stored step 0 of the run 'run_1' is not a message\n",
        ),
        (
            "UPDATE session SET labels = '{' WHERE id = 's-1'",
            "damaged: the sessions cannot be listed: the stored labels of the session 's-1'",
        ),
        (
            "UPDATE session SET summary = '{', summary_through = 'r' WHERE id = 's-1'",
            "damaged: session s-1: ",
        ),
        (
            "UPDATE active SET run_id = 'run_0', taken_at = 0 WHERE session_id = 's-1'",
            "damaged: session s-1: run run_0 holds its turn but does not exist (toolgen runs release ",
        ),
    ],
)
def test_what_of_the_sessions_is_damaged_is_named(runs: ProjectFolder, sql: str, told: str) -> None:
    start(runs, "run_1:s-1:wipe disk", "run_2:s-2:wipe tape")
    change(runs, "sessions.db", sql)
    done = runs.run("runs", "check")
    assert done.code == 1
    assert done.out.startswith(told)
    assert "s-2" not in done.out


def test_a_run_that_a_conversation_has_and_the_journal_lacks_is_named(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:fail here", "run_2:s-1:fail there", "run_3:s-2:fail here")
    change(runs, "runs.db", "DELETE FROM run WHERE run_id IN ('run_2', 'run_3')")
    done = runs.run("runs", "check")
    assert done.out == "lost: session s-1: run run_2 is lost, or belongs to another engine\n"
    assert done.code == 0


def test_a_key_and_a_lock_that_cannot_be_used_are_named(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk")
    (runs.path / "runs.db.lock").chmod(0o644)
    (runs.path / "runs.db.key").write_bytes(b"short")
    done = runs.run("runs", "check")
    assert done.code == 1
    assert f"damaged: '{runs.path / 'runs.db.key'}' has 5 bytes, but a key has 32\n" in done.out
    assert f"damaged: '{runs.path / 'runs.db.lock'}' has the mode 0644, " in done.out


def test_a_worker_that_executes_the_runs_is_named(runs: ProjectFolder) -> None:
    with serving(runs) as working:
        done = runs.run("runs", "check")
    assert f"the process {working.process.pid} executes the runs\n" in done.err

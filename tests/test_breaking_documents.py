"""What `toolgen breaking` and `toolgen diff` compare: catalogs, revisions and locks of servers."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from tests.released_project import BROKEN, TOOL, lines
from tests.released_project import released as released
from toolgen.catalog.reader import MOST_BYTES
from toolgen.contract.mcp_lock import lock_text, make_lock
from toolgen.contract.names import CATALOG

from .conftest import DESIGN, ProjectFolder


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"tools": [{**TOOL, "payload": 5}]}, "'payload' of the tool 'hall.people.greet' has the wrong type"),
        ({"tools": [{**TOOL, "result": None}]}, "'result' of the tool 'hall.people.greet' has"),
        ({"tools": [{**TOOL, "artifacts": [{}]}]}, "'artifacts' of the tool 'hall.people.greet' has"),
        ({"tools": [{**TOOL, "errors": "x"}]}, "'errors' of the tool 'hall.people.greet' has"),
        ({"tools": [{**TOOL, "confirmation": True}]}, "'confirmation' of the tool"),
        ({"tools": [{**TOOL, "inject": [{}]}]}, "'inject' of the tool"),
        ({"tools": [], "agents": [{"id": "hall.clerk", "tools": [{}]}]}, "'tools' of the agent 'hall.clerk'"),
        ({"tools": [], "completions": [{"id": "hall.x"}]}, "'result' of the completion 'hall.x'"),
    ],
)
def test_entries_of_a_wrong_kind_are_named(
    project: ProjectFolder, document: dict[str, Any], message: str
) -> None:
    project.write("other.json", json.dumps(document))
    done = project.run("breaking", "--against", "other.json")
    assert done.code == 2
    assert f"other.json is not a tool catalog: {message}" in done.err


def test_what_is_too_large_or_too_deep_is_no_traceback(project: ProjectFolder) -> None:
    def written(name: str, schema: Any) -> str:
        payload = {"schema": {"type": "object", "properties": {"name": schema}}}
        project.write(name, json.dumps({"tools": [{**TOOL, "payload": payload}]}))
        return name

    def nested(text: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "description": text}
        for _ in range(330):
            schema = {"type": "array", "items": schema}
        return schema

    huge = [written(f"{n}.json", {"type": "number", "maximum": 10**400 + n}) for n in (0, 1)]
    assert "argument 'name'" in project.run("breaking", "--against", huge[1], "--to", huge[0]).err
    deep = [written(f"{text}.json", nested(text)) for text in ("a", "b")]
    done = project.run("breaking", "--against", deep[0], "--to", deep[1])
    assert ("[undecided]" in done.err, "Traceback" in done.err) == (
        True,
        False,
    )  # how deep depends on Python
    project.write("deep.json", "[" * 100_000)
    done = project.run("breaking", "--against", huge[0], "--to", huge[1], "--baseline", "deep.json")
    assert "cannot read the baseline deep.json" in done.err
    assert (
        "is not a file, a folder, or a git revision" in project.run("breaking", "--against", "a" * 5_000).err
    )


def commit(released: ProjectFolder) -> None:
    """Commit the project on its branch `main`."""
    for words in ("init --quiet --initial-branch main", "add --all", "commit --quiet --message Release"):
        command = ["git", "-c", "user.name=x", "-c", "user.email=x@x", *words.split()]
        subprocess.run(command, cwd=released.path, check=True)


def test_a_revision_is_read_and_never_run(released: ProjectFolder) -> None:
    commit(released)
    released.write("app/design.py", DESIGN)
    (released.path / "app/gen" / CATALOG).write_text("{}", "utf-8")
    assert released.run("breaking", "--against", "main").err == f"no changes since main:app/gen/{CATALOG}\n"
    released.write("app/design.py", BROKEN)
    log = json.loads(released.run("breaking", "--against", "main", "--format", "sarif").out)
    related = [each for result in log["runs"][0]["results"] for each in result.get("relatedLocations", ())]
    assert {each["physicalLocation"]["artifactLocation"]["uri"] for each in related} == {f"app/gen/{CATALOG}"}
    for wrong in ("--output=x", "-x", "nowhere", "main:app", ""):
        assert released.run("breaking", f"--against={wrong}").code == 2
    assert not (released.path / "x").exists()


def test_what_is_no_catalog_is_named(released: ProjectFolder) -> None:
    released.write("wrong.json", "{}")
    assert "wrong.json is not a tool catalog" in released.run("breaking", "--against", "wrong.json").err
    released.write("wrong.json", json.dumps({"tools": [{"id": "a.b.c", "payload": 3}]}))
    assert "wrong.json is not a tool catalog" in released.run("breaking", "--against", "wrong.json").err
    released.write("wrong.json", "[")
    assert "wrong.json is not JSON" in released.run("breaking", "--against", "wrong.json").err
    (released.path / "empty").mkdir()
    assert "empty has no catalog" in released.run("breaking", "--against", "empty").err
    assert "no lock shop.mcp.json" in released.run("breaking", "--against", "mcp:shop").err


@pytest.mark.parametrize("option", ["--against", "--to", "--baseline"])
def test_what_has_no_end_is_not_read(released: ProjectFolder, option: str) -> None:
    os.mkfifo(released.path / "pipe.json")
    sparse = released.path / "sparse.json"
    with sparse.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    other = () if option == "--against" else ("--against", "released.json")
    for name, why in (
        ("/dev/zero", "it is not a regular file"),
        ("pipe.json", "it is not a regular file"),
        ("sparse.json", "it has more than 100,000,000 bytes"),
    ):
        done = released.run("breaking", *other, option, name)
        assert (done.code, f"{name}: " in done.err, why in done.err) == (2, True, True), done.err


def test_a_large_file_of_a_revision_is_not_read(
    released: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolgen.cli.references.MOST_BYTES", 100)
    commit(released)
    done = released.run("breaking", "--against", "main")
    assert (done.code, f"{CATALOG} of that revision has more than 100 bytes" in done.err) == (2, True), (
        done.err
    )


def test_a_lock_of_a_server_is_compared_by_names(released: ProjectFolder) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    }
    tools: list[dict[str, Any]] = [
        {"name": "greet", "inputSchema": schema},
        {"name": "shout", "inputSchema": schema},
    ]
    released.write("shop.mcp.json", lock_text(make_lock("2025-11-25", "shop", "1", tools)))
    done = released.run("breaking", "--against", "mcp:shop", "--format", "json")
    assert {(each["code"], each["tool"]) for each in lines(done.out)} >= {
        ("tool-removed", "shout"),
        ("argument-narrowed", "greet"),
    }


def test_a_lock_leads_to_the_clauses_of_its_tools(released: ProjectFolder) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}
    listed: dict[str, Any] = {
        "name": "greet",
        "title": "Greet",
        "annotations": {"title": "Greet"},
        "inputSchema": schema,
    }
    released.write("shop.mcp.json", lock_text(make_lock("2025-11-25", "shop", "1", [listed])))
    done = released.run("breaking", "--against", "mcp:shop")
    assert "app/design.py:12:13: error: greet: argument 'name' is narrower" in done.err
    text = BROKEN.replace("Attribute, Design", "Attribute, Breaks, Design")
    text = text.replace(
        'Inject("session_id"),', 'Inject("session_id"), Breaks("It may.", "argument-narrowed"),'
    )
    released.write("app/design.py", text)
    done = released.run("breaking", "--against", "mcp:shop")
    assert "Accepted: It may. [argument-narrowed]" in done.err
    assert "matches no change" not in done.err
    done = released.run("diff", "--against", "mcp:shop")
    assert "annotations" not in done.out


def test_a_catalog_of_goa_ai_has_names_in_its_ids(released: ProjectFolder) -> None:
    payload = {"name": "P", "schema": {"type": "object", "properties": {"who": {"type": "string"}}}}
    tools = [
        {"id": "other.people.greet", "payload": payload},
        {"id": "hall.people.shout", "payload": payload},
    ]
    released.write("goa.json", json.dumps({"tools": tools}))
    done = released.run("breaking", "--against", "goa.json", "--format", "json")
    assert {(each["code"], each["tool"]) for each in lines(done.out)} >= {
        ("tool-moved", "hall.people.greet"),
        ("tool-removed", "hall.people.shout"),
        ("argument-removed", "hall.people.greet"),
    }

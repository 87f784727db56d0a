"""`toolgen breaking` refuses a weaker guard, and shows what changed in texts that models read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.released_project import lines
from toolgen.checks.compatibility import RULES
from toolgen.contract.json_value import Json
from toolgen.contract.mcp_lock import lock_text, make_lock
from toolgen.contract.names import CATALOG

from .conftest import ProjectFolder

SITES = """\
from toolgen.dsl import (
    Agent, Annotations, Args, Attribute, Breaks, Confirm, Design, Inject, Int, Return, RunPolicy, Service,
    String, Timeout, Tool, Toolset, Use,
)

free = Attribute("site", Int, "Number of the site.", required=True)
site = Attribute("site", Int, "Number of the site.", required=True, maximum=100)
done = Return(Attribute("state", String, "What became of it.", required=True))
sites = Toolset(
    "sites",
    "Sites of a tenant.",
    Tool("drop", "Delete one site of the tenant.", Args(site), Confirm("Delete {site}?"), done,
         Annotations(destructive=True), Timeout("30s")),
    Tool("look", "Look at one site of the tenant.", Args(site), Annotations(read_only=True), done),
    Tool("enter", "Enter a site of the tenant.",
         Args(site, Attribute("session_id", String, "Session of the call.", required=True),
              Attribute("pin", String, "Code of the door.", sensitive=True)),
         Inject("session_id"), done),
)
clerk = Agent("clerk", "Keeps sites.", Use(sites), RunPolicy(max_tool_calls=5))
design = Design("estate", "The estate.", Service("land", "The land.", sites, clerk), version="1.0.0")
"""

CHANGES = {
    "confirmation": (' Confirm("Delete {site}?"),', "", "weakened:land.sites.drop"),
    "condition": ('Delete {site}?")', 'Delete {site}?", when={"site": (1,)})', "weakened:land.sites.drop"),
    "time limit": ('Timeout("30s")', 'Timeout("31s")', "weakened:land.sites.drop:timeout"),
    "read-only": (
        "Annotations(read_only=True)",
        "Annotations(destructive=False)",
        "weakened:land.sites.look:readOnlyHint",
    ),
    "injected": ('\n         Inject("session_id"),', "", "weakened:land.sites.enter:session_id"),
    "sensitive": (", sensitive=True", "", "weakened:land.sites.enter:/pin"),
    "limit": (
        '"Delete one site of the tenant.", Args(site)',
        '"Delete one site of the tenant.", Args(free)',
        "weakened:land.sites.drop:site",
    ),
    "limit of runs": ("max_tool_calls=5", "max_tool_calls=6", "weakened:land.clerk:max_tool_calls"),
}
"""What is replaced in the design, by what, and the `--allow` that accepts it."""


@pytest.fixture
def estate(project: ProjectFolder) -> ProjectFolder:
    """A project whose first catalog is kept as `released.json`."""
    project.write("app/design.py", SITES)
    assert project.run("gen").code == 0
    project.write("released.json", (project.path / "app/gen" / CATALOG).read_text("utf-8"))
    return project


def edit(project: ProjectFolder, old: str, new: str, *, version: str = "2.0.0") -> None:
    text = SITES.replace(old, new)
    assert text != SITES
    project.write("app/design.py", text.replace('version="1.0.0"', f'version="{version}"'))


@pytest.mark.parametrize("change", CHANGES)
def test_a_weaker_guard_is_accepted_by_its_place_alone(estate: ProjectFolder, change: str) -> None:
    old, new, place = CHANGES[change]
    edit(estate, old, new)
    against = ("breaking", "--against", "released.json")
    refused = estate.run(*against)
    assert refused.code == 1, refused.err
    assert "error: Weakened: land." in refused.err
    assert f"--allow {place}" in refused.err
    assert "1 refused, 1 weakens a guard. " in refused.err
    estate.write("b.json", estate.run("diff", "--against", "released.json", "--format", "baseline").out)
    assert estate.run(*against, "--baseline", "b.json").code == 1
    code = json.loads(estate.run(*against, "--format", "json").out.splitlines()[0])["code"]
    named = f"{code}@{place.removeprefix('weakened:')}"
    estate.write("b.json", json.dumps({"format": 1, "changes": [named]}))
    assert estate.run(*against, "--baseline", "b.json").code == 1
    accepted = estate.run(*against, "--allow", place)
    assert (accepted.code, "Accepted: --allow." in accepted.err) == (0, True), accepted.err


def test_a_version_a_code_and_a_place_of_another_tool_accept_no_weaker_guard(estate: ProjectFolder) -> None:
    edit(estate, *CHANGES["confirmation"][:2], version="3.0.0")
    against = ("breaking", "--against", "released.json")
    other = estate.run(*against, "--allow", "weakened:land.sites.look")
    assert other.code == 1
    assert "--allow weakened:land.sites.look matches no change" in other.err
    by_code = estate.run(*against, "--allow", "confirmation-removed@land.sites.drop")
    assert by_code.code == 2
    assert "a weaker guard is accepted by its place, not by its code" in by_code.err
    assert "write --allow weakened:land.sites.drop" in by_code.err


def test_a_clause_accepts_a_weaker_guard_of_its_tool(estate: ProjectFolder) -> None:
    old, _, _ = CHANGES["confirmation"]
    edit(estate, old, ' Breaks("The page asks.", "confirmation-removed"),', version="1.0.0")
    done = estate.run("breaking", "--against", "released.json")
    assert (done.code, "Accepted: The page asks." in done.err) == (0, True), done.err


def test_what_fails_can_be_chosen(estate: ProjectFolder) -> None:
    edit(estate, "Look at one site", "Delete all sites", version="1.0.0")
    against = ("breaking", "--against", "released.json")
    assert estate.run(*against).code == 0
    assert estate.run(*against, "--fail-on", "texts").code == 1
    edit(estate, *CHANGES["confirmation"][:2])
    assert estate.run(*against, "--fail-on", "callers").code == 0
    assert estate.run(*against, "--fail-on", "callers", "--fail-on", "weakened").code == 1
    assert estate.run(*against, "--fail-on", "all").code == 2


def test_descriptions_are_shown_as_a_difference(estate: ProjectFolder) -> None:
    edit(estate, "Look at one site of the tenant.", "Delete all sites of the tenant.\\n```\\u202e")
    done = estate.run("breaking", "--against", "released.json")
    shown = [
        "  @@ /description @@",
        "  -Look at one site of the tenant.",
        "  +Delete all sites of the tenant.",
        "  +```\\u202e",
    ]
    assert "\n".join(shown) in done.err
    pull_request = estate.run("diff", "--against", "released.json").out
    assert (
        "### Texts that models read\n\n- land.sites.look: changed texts or settings: description.\n"
        in pull_request
    )
    assert "\n".join(["  ````diff", *shown, "  ````"]) in pull_request
    (record,) = lines(estate.run("breaking", "--against", "released.json", "--format", "json").out)
    after = "Delete all sites of the tenant.\n```\u202e"
    assert record["texts"] == [
        {"pointer": "/description", "before": "Look at one site of the tenant.", "after": after}
    ]
    github = estate.run("breaking", "--against", "released.json", "--format", "github").out
    assert "%0A-Look at one site of the tenant.%0A+Delete all" in github


def test_a_guard_is_compared_where_schemas_are_too_deep(project: ProjectFolder) -> None:
    def released(text: str, **guards: object) -> str:
        schema: dict[str, object] = {"type": "string", "description": text}
        for _ in range(330):
            schema = {"type": "array", "items": schema}
        payload = {"schema": {"type": "object", "properties": {"name": schema}}}
        tool = {"id": "land.sites.drop", "name": "drop", "payload": payload, **guards}
        project.write(f"{text}.json", json.dumps({"tools": [tool]}))
        return f"{text}.json"

    before, after = released("before", confirmation={}), released("after")
    done = project.run("breaking", "--against", before, "--to", after)
    assert (done.code, "[confirmation-removed]" in done.err) == (1, True), done.err


def test_a_server_shows_few_guards_and_that_is_said(estate: ProjectFolder) -> None:
    schema: Json = {"type": "object", "properties": {"site": {"type": "integer"}}, "required": ["site"]}
    listed: dict[str, Json] = {"name": "look", "inputSchema": schema, "annotations": {"readOnlyHint": True}}
    lock = make_lock("2025-11-25", "land", "1", [listed])
    estate.write("land.mcp.json", lock_text(lock))
    edit(estate, *CHANGES["read-only"][:2])
    done = estate.run("breaking", "--against", "mcp:land")
    assert "Weakened: look: it is no longer read-only" in done.err
    assert "an MCP server lists no confirmations" in done.err
    assert done.code == 1


def test_weaker_guards_fail_against_a_revision(estate: ProjectFolder) -> None:
    """A removed approval and a lost `read_only` are refused, a turned description is shown."""

    def git(*words: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@x")
        subprocess.run(["git", *identity, *words], cwd=estate.path, check=True)

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Release")
    for change, code in (("confirmation", 1), ("read-only", 1)):
        edit(estate, *CHANGES[change][:2])
        assert estate.run("breaking", "--against", "HEAD").code == code
    edit(estate, "Look at one site", "Delete all sites")
    done = estate.run("diff", "--against", "HEAD")
    assert "-Look at one site of the tenant." in done.out
    assert "+Delete all sites of the tenant." in done.out


def test_no_advice_on_a_guard_names_a_version() -> None:
    assert not [rule.code for rule in RULES if rule.is_weakening and "version" in rule.advice]


def test_the_documents_name_what_fails() -> None:
    text = (Path(__file__).parents[1] / "docs/changing.md").read_text("utf-8")
    kinds = ("weakened", "callers", "consumers", "suspended_calls", "undecided")
    assert all(f"`{kind}`" in text for kind in kinds)

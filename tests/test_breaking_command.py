"""`toolgen breaking` and `toolgen diff`, from the shell."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.released_project import BROKEN, TOOL, lines
from tests.released_project import released as released
from toolgen.checks.compatibility import RULES
from toolgen.cli.runtime import durable_engine
from toolgen.cli.suspended_calls import changed_tools, suspended_calls
from toolgen.cli.worker import _naming_changed_tools
from toolgen.contract.mcp_lock import lock_text, make_lock
from toolgen.contract.names import CATALOG
from toolgen.dsl.words import IMPORTS, code_spelling
from toolgen.engines import EngineError, InProcessEngine, RunWait

from .conftest import DESIGN, ProjectFolder
from .runs_project import client_of, start
from .test_approve_runs import runs as runs


def test_a_break_has_its_place_its_parties_and_its_document(released: ProjectFolder) -> None:
    done = released.run("breaking", "--against", "released.json")
    assert done.code == 1
    assert (
        "app/design.py:12:13: error: hall.people.greet: argument 'name' is narrower: the new schema has "
        'maxLength 20. Breaks callers, suspended calls. Shown by {"name": "aaaa' in done.err
    )
    assert "  hint: accept all values that were accepted before; or release a major version, or" in done.err
    assert "  released.json: before, at /payload/schema/properties/name" in done.err
    assert "field 'text' of the result was removed. Breaks consumers, generated code." in done.err
    assert done.err.endswith(" refused. They need a major version; no version is set.\n")


@pytest.mark.exhaustive
@pytest.mark.parametrize("format", ["json", "github", "sarif"])
@pytest.mark.parametrize("wrong", ["(", DESIGN.replace("max_length=40", "max_length=-1")])
def test_a_wrong_design_is_said_in_the_format(released: ProjectFolder, format: str, wrong: str) -> None:
    released.write("app/design.py", wrong)
    done = released.run("breaking", "--against", "released.json", "--format", format)
    assert done.code in (1, 2)
    if format == "sarif":
        assert json.loads(done.out)["runs"][0]["results"]
    else:
        assert done.out.startswith("::error" if format == "github" else '{"severity": "error"')


def test_what_is_gone_stands_at_the_design(released: ProjectFolder) -> None:
    old = {**TOOL, "id": "hall.people.old", "name": "old"}
    released.write("old.json", json.dumps({"tools": [old], "agents": [{"id": "hall.clerk", "tools": []}]}))
    done = released.run("breaking", "--against", "old.json", "--format", "json")
    gone = [each for each in lines(done.out) if each["code"] in ("tool-removed", "agent-removed")]
    assert len(gone) == 2
    for each in gone:
        after: Any = each["after"]
        assert after["file"] == str(released.path / "app/design.py")
        assert after["line"]


def test_nothing_changed(project: ProjectFolder) -> None:
    project.run("gen")
    done = project.run("breaking", "--against", ".")
    assert (done.code, done.err) == (0, "no changes since app/gen/tool_schemas.json\n")


def test_records_for_programs(released: ProjectFolder) -> None:
    done = released.run("breaking", "--against", "released.json", "--format", "json")
    narrowed = next(each for each in lines(done.out) if each["code"] == "argument-narrowed")
    assert narrowed["breaks"] == {
        "callers": "documents",
        "consumers": "no",
        "suspended_calls": "documents",
        "generated_code": "no",
    }
    assert narrowed["after"] == {
        "in": "app.design",
        "pointer": "/payload/schema/properties/name",
        "file": str(released.path / "app/design.py"),
        "line": 12,
    }
    assert narrowed["witness"]
    github = released.run("breaking", "--against", "released.json", "--format", "github").out
    assert github.startswith("::error file=app/design.py,line=12,col=13,title=argument-narrowed::")
    log = json.loads(released.run("breaking", "--against", "released.json", "--format", "sarif").out)
    (run,) = log["runs"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {
        each["ruleId"] for each in run["results"]
    }
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location == {
        "artifactLocation": {"uri": "app/design.py"},
        "region": {"startLine": 12, "startColumn": 13},
    }


def test_a_change_is_let_through_by_its_name(released: ProjectFolder) -> None:
    against: tuple[str, ...] = ("breaking", "--against", "released.json")
    for allowed in ("result-field-removed@hall.people.greet", "result-field-added@hall.people.greet:words"):
        against += ("--allow", allowed)
    done = released.run(*against, "--allow", "argument-narrowed@hall.people.greet:name")
    assert done.code == 0
    assert "Accepted: --allow." in done.err
    done = released.run(*against, "--allow", "tool-removed@hall.people.nobody")
    assert "--allow tool-removed@hall.people.nobody matches no change" in done.err
    assert "does not begin with the code of a change" in released.run(*against, "--allow", "typo@x").err


def test_a_clause_lets_changes_of_its_tool_through(released: ProjectFolder) -> None:
    text = BROKEN.replace("Attribute, Design", "Attribute, Breaks, Design")
    released.write(
        "app/design.py",
        text.replace('Inject("session_id"),', 'Inject("session_id"), Breaks("Nobody sends it."),'),
    )
    done = released.run("breaking", "--against", "released.json")
    assert (done.code, "Accepted: Nobody sends it." in done.err) == (0, True)


def test_a_clause_is_of_its_own_tool_and_says_what_it_lets_through(released: ProjectFolder) -> None:
    text = BROKEN.replace("Attribute, Design", "Attribute, Breaks, Design")
    ending = text.index("design = Design(")
    other = (
        'other = Service("barn", "B.", Toolset("people", "P.", Tool("greet", "Greet.", Args(), Return(), '
        'Breaks("It is new."))))\n'
    )
    text = f"{text[:ending]}{other}{text[ending:].rstrip().removesuffix(')')}, other)\n"
    released.write("app/design.py", text)
    done = released.run("breaking", "--against", "released.json", "--format", "json")
    allowed = {each["tool"]: each.get("allowed", "") for each in lines(done.out)}
    assert (done.code, allowed) == (1, {"hall.people.greet": "", "barn.people.greet": "It is new."})
    codes = 'Breaks("Nobody sends it.", "argument-narowed", "tool-moved"),'
    text = BROKEN.replace("Attribute, Design", "Attribute, Breaks, Design")
    released.write("app/design.py", text.replace('Inject("session_id"),', f'Inject("session_id"), {codes}'))
    done = released.run("breaking", "--against", "released.json")
    assert done.code == 1
    assert "Breaks of hall.people.greet has an unknown code: 'argument-narowed'" in done.err
    assert "Breaks of hall.people.greet matches no change of the code 'tool-moved'" in done.err


def test_what_cannot_be_told_is_listed_and_asks_for_a_major_version(project: ProjectFolder) -> None:
    ending = DESIGN.index("design = Design(")

    def design(pattern: str, version: str) -> str:
        whole = DESIGN[:ending] + DESIGN[ending:].rstrip().removesuffix(")") + f", version={version!r})\n"
        return whole.replace("max_length=40", f"pattern={pattern!r}")

    project.write("app/design.py", design("^(?:ab|cd)$", "1.2.0"))
    project.run("gen")
    project.write("released.json", (project.path / "app/gen" / CATALOG).read_text("utf-8"))
    for version, code in (("1.3.0", 1), ("2.0.0", 0)):
        project.write("app/design.py", design("^(?:cd|ab)$", version))
        done = project.run("breaking", "--against", "released.json")
        assert (done.code, "undecided" in done.err, "a major version" in done.err) == (code, True, True), done


def test_a_baseline_lets_what_it_has_through(released: ProjectFolder) -> None:
    released.write("b.json", released.run("diff", "--against", "released.json", "--format", "baseline").out)
    assert released.run("breaking", "--against", "released.json", "--baseline", "b.json").code == 0
    released.write("app/design.py", BROKEN.replace("max_length=20", "max_length=10"))
    done = released.run("breaking", "--against", "released.json", "--baseline", "b.json")
    assert (done.code, "the new schema has maxLength 10" in done.err) == (1, True)
    assert "Accepted: the baseline" in done.err
    released.write("b.json", "{}")
    assert (
        "cannot read the baseline" in released.run("breaking", "--against", ".", "--baseline", "b.json").err
    )


@pytest.mark.parametrize(("version", "code"), [("2.0.0-rc.1", 0), ("2.0.0", 0), ("1.3.0", 1), ("", 1)])
def test_a_version_that_makes_the_step_says_so(project: ProjectFolder, version: str, code: int) -> None:
    ending = DESIGN.index("design = Design(")

    def design(of: str, version: str) -> str:
        body, said = of[: of.index("design = Design(")], DESIGN[ending:].rstrip().removesuffix(")")
        return f"{body}{said}{f', version={version!r}' if version else ''})\n"

    project.write("app/design.py", design(DESIGN, "1.2.0"))
    project.run("gen")
    project.write("released.json", (project.path / "app/gen" / CATALOG).read_text("utf-8"))
    project.write("app/design.py", design(BROKEN, version))
    done = project.run("breaking", "--against", "released.json")
    assert done.code == code, done.err
    assert ("Accepted: the version." in done.err) == (code == 0)


def test_tools_that_a_server_would_list_under_one_name_are_named(project: ProjectFolder) -> None:
    doubled = DESIGN.replace("\ndesign = ", '\nmore = Toolset("more", "More.", *people.children)\ndesign = ')
    project.write("app/design.py", doubled.replace(", people))", ", people, more))"))
    lock = make_lock("2025-11-25", "hall", "1", [{"name": "greet", "inputSchema": {"type": "object"}}])
    project.write("hall.mcp.json", lock_text(lock))
    done = project.run("breaking", "--against", "mcp:hall")
    assert done.code == 2
    assert "'hall.more.greet' and 'hall.people.greet' are both called 'greet'" in done.err


def test_a_place_is_that_of_the_argument_or_of_the_field(released: ProjectFolder) -> None:
    new = DESIGN.replace('"name", String', '"words", String').replace('"text", String', '"words", String')
    released.write("app/design.py", new)
    records = lines(released.run("breaking", "--against", "released.json", "--format", "json").out)
    text = new.splitlines()
    for code in ("argument-renamed", "result-field-added"):
        (after,) = [each["after"] for each in records if each["code"] == code]
        assert isinstance(after, dict)
        assert '"words"' in text[after["line"] - 1], code


def test_the_difference_is_said_in_sentences(released: ProjectFolder) -> None:
    done = released.run("diff", "--against", "released.json")
    assert done.code == 0
    assert done.out.startswith(
        "## Contract of the tools since `released.json`\n\n### Breaks\n\n- hall.people.greet: "
    )
    assert released.run("diff", "--against", "released.json", "--to", "released.json").out.endswith(
        "Nothing changed.\n"
    )


def test_every_code_is_explained(project: ProjectFolder) -> None:
    for rule in RULES:
        assert project.run("explain", rule.code).out.startswith(f"{rule.code}\n\n")


def test_calls_that_wait_are_read_from_a_file_of_runs(runs: ProjectFolder) -> None:
    start(runs, "run_3:s-3:wipe disk")
    (call,) = suspended_calls(runs.path / "runs.db")
    assert (call.tool, call.kind, call.arguments) == ("x.tools.wipe", "confirmation", {"name": "disk"})


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ("name: str", ""),
        (
            "name: Literal['tape']",
            "1 suspended call of x.tools.wipe cannot be resumed here: its contract changed",
        ),
        (
            "name: str, sure: bool = True",
            "1 suspended call of x.tools.wipe will be asked again: its contract changed",
        ),
    ],
)
async def test_a_worker_names_the_tools_that_waiting_calls_were_planned_without(
    runs: ProjectFolder, now: str, told: str
) -> None:
    start(runs, "run_3:s-3:wipe disk")
    (module,) = [file for file in runs.path.rglob("*.py") if "async def wipe(" in file.read_text("utf-8")]
    text = module.read_text("utf-8").replace("async def wipe(name: str)", f"async def wipe({now})")
    module.write_text(
        text.replace("import asyncio\n", "import asyncio\nfrom typing import Literal\n", 1), "utf-8"
    )
    async with client_of(runs) as runtime:
        waits = await durable_engine(runtime).open_waits()
        assert changed_tools(runtime, waits) == ([told] if told else [])


async def test_a_worker_begins_where_its_engine_cannot_say_what_waits(
    runs: ProjectFolder, caplog: pytest.LogCaptureFixture
) -> None:
    class Silent(InProcessEngine):
        async def open_waits(self, *, session: str | None = None, limit: int = 100) -> tuple[RunWait, ...]:
            raise EngineError("nobody answers")

    async with client_of(runs) as runtime, _naming_changed_tools(runtime, Silent()):
        for _ in range(3):
            await asyncio.sleep(0)
    assert "suspended calls were not compared with the registered tools: nobody answers" in caplog.text


CONFIRMED = DESIGN.replace("Args, Attribute,", "Args, Attribute, Confirm,").replace(
    'Inject("session_id"),', 'Inject("session_id"), Confirm("Greet {name}?"),'
)


def _as_documents_write(design: str) -> str:
    return code_spelling(re.sub(r"^from toolgen\.dsl import .*$", IMPORTS["d"], design, flags=re.M))


@pytest.mark.parametrize(
    ("number", "before", "after"),
    [
        (1, DESIGN, DESIGN.replace("max_length=40", "max_length=20")),
        (2, CONFIRMED, DESIGN),
        (3, DESIGN, DESIGN.replace("Greet a person.", "Greet a person by name.")),
    ],
)
def test_the_document_shows_what_the_command_says(
    project: ProjectFolder, number: int, before: str, after: str
) -> None:
    project.write("app/design.py", _as_documents_write(before))
    project.run("gen")
    project.write("released.json", (project.path / "app/gen" / CATALOG).read_text("utf-8"))
    project.write("app/design.py", _as_documents_write(after))
    text = (Path(__file__).parents[1] / "docs/changing.md").read_text("utf-8")
    shown = text.split("$ toolgen breaking --against released.json\n")[number].partition("```")[0]
    assert project.run("breaking", "--against", "released.json").err == shown

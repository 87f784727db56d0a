"""`toolgen lint` and `toolgen schema --tokens`, from the shell."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest
import tiktoken.registry

from .conftest import ProjectFolder

DOCUMENT = Path(__file__).parents[1] / "docs" / "executors.md"
README = DOCUMENT.parents[1] / "README.md"
DESIGN = '''"""Notes on a desk."""

from toolgen.dsl import (
    ArrayOf,
    Attribute,
    Design,
    Return,
    Service,
    String,
    Tool,
    Toolset,
)

notes = Toolset(
    "notes",
    "Notes on a desk.",
    Tool(
        "list",
        "List the notes, the newest first.",
        Return(Attribute("notes", ArrayOf(String), "The newest first.")),
    ),
)
design = Design("desk", "A desk.", Service("desk", "Keeps notes.", notes))
'''


@pytest.fixture
def desk(project: ProjectFolder) -> ProjectFolder:
    project.write("app/design.py", DESIGN)
    return project


def block(command: str) -> str:
    """Return what the document says that a command prints."""
    match = re.search(rf"^\$ {re.escape(command)}\n(.*?)^```", DOCUMENT.read_text("utf-8"), re.M | re.S)
    assert match
    return match[1]


def test_a_finding_has_the_line_of_the_tool_and_a_fix(desk: ProjectFolder) -> None:
    done = desk.run("lint")
    assert done.code == 0
    assert done.err.replace("app/", "home/") == block("toolgen lint")
    assert desk.run("lint", "--strict").code == 1
    (line,) = desk.run("lint", "--format", "json").out.splitlines()
    finding = json.loads(line)
    assert (finding["code"], finding["tool"]) == ("unbounded-list", "desk.notes.list")
    assert (finding["file"], finding["line"]) == ("app/design.py", 17)
    assert finding["suppressible"]


def test_a_catalog_is_linted_without_its_design(desk: ProjectFolder) -> None:
    desk.run("gen")
    done = desk.run("lint", "app/gen/tool_schemas.json", "--format", "github")
    assert done.out.startswith("::warning file=app/gen/tool_schemas.json,title=unbounded-list::")
    for text in ("[", "{}", '{"tools": [{"name": "go"}]}'):
        desk.write("other.json", text)
        done = desk.run("lint", "other.json")
        assert done.code == 2
        assert "hint: pass a tool_schemas.json" in done.err
    for schema, code in (("true", 0), ("[]", 2), ("false", 2)):
        entry = f'{{"name": "go", "description": "Goes on.", "payload": {{"schema": {schema}}}}}'
        desk.write("other.json", f'{{"tools": [{entry}]}}')
        done = desk.run("lint", "other.json")
        assert done.code == code
        assert ("other.json is not a tool catalog: one of its tools has no" in done.err) == (code == 2)
    desk.write("other.json", "[" * 100_000)
    assert "other.json is not JSON" in desk.run("lint", "other.json").err
    assert "hint: correct the path" in desk.run("lint", "none.json").err
    assert "cannot read /dev/zero: it is not a regular file" in desk.run("lint", "/dev/zero").err


def test_settings_and_clauses_turn_rules_off_and_on(desk: ProjectFolder) -> None:
    settings = (desk.path / "pyproject.toml").read_text("utf-8")
    lint = '\n[tool.toolgen.lint]\nmissing-annotations = "error"\nunbounded-list = "off"\n'
    desk.write("pyproject.toml", settings + lint)
    done = desk.run("lint")
    assert done.code == 1
    assert "error: tool 'desk.notes.list': it has no annotations" in done.err
    assert "missing-annotations     error" in desk.run("lint", "--rules").out
    desk.write("pyproject.toml", settings)
    clause = '    Suppress("unbounded-list", "A desk holds ten."),\n    Tool('
    text = DESIGN.replace("    Tool(", clause, 1).replace("    String,\n", "    String,\n    Suppress,\n")
    desk.write("app/design.py", text)
    done = desk.run("lint", "--strict")
    assert done.code == 0
    assert "desk.notes.list: unbounded-list is suppressed: A desk holds ten.\n" in done.err


def test_the_designs_of_the_documents_pass_strictly(desk: ProjectFolder) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.M | re.S)
    (design,) = [text for text in blocks if "\ndesign = d.Design(" in text]
    desk.write("app/design.py", design)
    done = desk.run("lint", "--strict")
    assert (done.code, done.err) == (0, "1 tool: 0 errors, 0 warnings, 0 suppressed\n")
    blocks = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text("utf-8"), re.M | re.S)
    (form,) = [text for text in blocks if "Suppress(" in text]
    design = 'design = d.Design("tax", "Tax.", d.Service("tax", "Fills forms.", form))'
    desk.write("app/design.py", f"{form}\n{design}\n")
    done = desk.run("lint", "--strict")
    assert (done.code, done.err.count("is suppressed")) == (0, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("many-args = 3", "has an unknown rule 'many-args'\n  hint: did you mean 'many-arguments'?"),
        (
            "many-arguments = 0",
            'many-arguments 0 is not a level\n  hint: write "off", "warning" or "error", or',
        ),
        ("generic-name = 3", 'generic-name 3 is not a level\n  hint: write "off", "warning" or "error"\n'),
    ],
)
def test_a_wrong_setting_is_named(desk: ProjectFolder, line: str, message: str) -> None:
    settings = (desk.path / "pyproject.toml").read_text("utf-8")
    desk.write("pyproject.toml", f"{settings}\n[tool.toolgen.lint]\n{line}\n")
    done = desk.run("lint")
    assert done.code == 2
    assert message in done.err


def test_tokens_are_counted_by_tool_toolset_and_agent(desk: ProjectFolder) -> None:
    desk.run("gen")
    done = desk.run("schema", "--tokens")
    assert done.out + done.err == block("toolgen schema --tokens")
    agent = 'Service("desk", "Keeps notes.", Agent("clerk", "Keeps.", Use(notes), Budget(tools_tokens=500)))'
    text = DESIGN.replace('Service("desk", "Keeps notes.", notes)', agent)
    desk.write("app/design.py", text.replace("import (\n", "import (\n    Agent,\n    Budget,\n    Use,\n"))
    assert desk.run("gen").code == 0
    rows = [json.loads(line) for line in desk.run("schema", "--tokens", "--format", "json").out.splitlines()]
    assert [(row["kind"], row["id"]) for row in rows] == [
        ("tool", "desk.notes.list"),
        ("toolset", "desk.notes"),
        ("agent", "desk.clerk"),
    ]
    (tokens,) = {row["tokens"] for row in rows}
    desk.write("app/design.py", (desk.path / "app/design.py").read_text("utf-8").replace("=500", "=20"))
    done = desk.run("gen")
    assert done.code == 1
    assert f"need about {tokens} tokens, but its Budget is 20 [tools-budget]" in done.err
    assert int(desk.run("schema", "--tokens", "--for", "openai").out.split()[0]) > tokens


ENCODING = """
def bytes_for_tests():
    ranks = {bytes([byte]): byte for byte in range(256)}
    return {"name": "bytes_for_tests", "pat_str": ".+", "mergeable_ranks": ranks, "special_tokens": {}}

ENCODING_CONSTRUCTORS = {"bytes_for_tests": bytes_for_tests}
"""


def test_a_tokenizer_counts_exactly(desk: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoding of tiktoken with a token for each byte counts bytes; one that is not there is named."""
    desk.run("gen")
    desk.write("more/tiktoken_ext/bytes_for_tests.py", ENCODING)  # as packages add encodings to tiktoken
    sys.path.insert(0, str(desk.path / "more"))  # which the fixture takes back
    importlib.invalidate_caches()
    monkeypatch.setattr(tiktoken.registry, "ENCODING_CONSTRUCTORS", None)
    done = desk.run("schema", "--tokens", "--tokenizer", "bytes_for_tests")
    (row,) = [line for line in done.out.splitlines() if " tool " in line]
    estimate = desk.run("schema", "--tokens").out.split()[0]
    assert -(-int(row.split()[0].replace(",", "")) // 4) == int(estimate)
    done = desk.run("schema", "--tokens", "--tokenizer", "o200")
    assert done.code == 2
    assert "use one of " in done.err

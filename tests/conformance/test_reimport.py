"""Designs of real tools, imported again: the same source changes nothing, and edits survive new ones."""

from __future__ import annotations

import ast
import copy
import json
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ruff import find_ruff_bin

from tests.conformance import corpora
from tests.importers.evolving_api import VERSIONS, document
from tests.importers.growing_api import random_growth
from tests.selection import volume
from toolgen.cli import main
from toolgen.codegen.write.staging import formatted
from toolgen.importers.design import design_files
from toolgen.importers.openapi import OpenAPIOptions, openapi_files
from toolgen.importers.openapi_servers import ServerOptions
from toolgen.importers.reimport.merge import merge
from toolgen.importers.reimport.source_text import UnreadableDesignError
from toolgen.importers.text import SourceDocument
from toolgen.importers.tool import ImportedTool, ReaderResult

SEEDS = volume(4, lab=400)
Tools = list[tuple[str, str, Any, Any]]
"""Name, description and schemas of each tool."""


@pytest.mark.volume
@pytest.mark.parametrize("seed", range(SEEDS))
def test_edits_survive_a_new_version(seed: int) -> None:
    corpora.require()
    chance = random.Random(seed)
    base, theirs = _versions(chance)
    assert merge(base, base, base, formatted=formatted).text == base
    assert merge(base, base, theirs, formatted=formatted).text == theirs
    ours, said = _edited(base, chance)
    merged = merge(base, ours, theirs, formatted=formatted)
    for text in said:
        assert merged.text.count(text) == ours.count(text), text
    for after in (base, theirs):
        again = merge(after, merged.text, theirs, formatted=formatted)
        assert again.text == merged.text
    assert again.changes == ()
    _defined(merged.text)


@pytest.mark.volume
@pytest.mark.parametrize("seed", range(SEEDS))
def test_definitions_are_above_their_uses_after_a_document_has_grown(seed: int) -> None:
    chance = random.Random(seed)
    base, theirs = map(_api, random_growth(chance))
    types = re.findall(r'^(Old\d+) = d\.Type\(\s*"', base, re.MULTILINE)
    edited = {*chance.sample(types, chance.randint(0, min(3, len(types))))}
    ours = f"# mine\n{base}"
    for name in edited:
        ours = re.sub(rf'(d\.Type\(\s*)"{name}",(\s*)None', rf'\1"{name}",\2"My words."', ours)
    try:
        merged = merge(base, ours, theirs, formatted=formatted)
    except UnreadableDesignError as error:
        early, used = re.findall(r"'(\w+)'", str(error))[:2]
        assert types.index(early) < types.index(used)
        assert {early, used} <= edited
        return
    _defined(merged.text)
    assert merged.text.count("My words.") == len(edited)
    defined = re.findall(r"^(\w+) = ", merged.text, re.MULTILINE)
    assert [each for each in defined if each in edited] == [each for each in types if each in edited]
    again = merge(theirs, merged.text, theirs, formatted=formatted)
    assert (again.text, again.changes) == (merged.text, ())


@pytest.mark.parametrize("corpus", corpora.files(), ids=lambda file: file.stem)
def test_real_tools_that_did_not_change_change_nothing(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tools = [
        {"name": f"t{number}", "description": "A tool.", "inputSchema": record.input_schema}
        for number, record in enumerate(corpora.part(corpora.records(corpus)))
    ]
    Path("tools.json").write_text(json.dumps(tools), "utf-8")
    main(("import", "mcp", "tools.json"))
    design = Path("tools_design.py")
    design.write_text(f"# mine\n{design.read_text('utf-8')}", "utf-8")
    before = {file: file.read_bytes() for file in sorted(Path().rglob("*")) if file.is_file()}
    for options in ((), ("--check",)):
        code = main(("import", "mcp", "tools.json", "--allow-losses", *options))
        assert (code, {file: file.read_bytes() for file in before}) == (0, before)


def _defined(text: str) -> None:
    """Check that a module uses no name above its definition: it can be imported."""
    code = subprocess.run(
        [find_ruff_bin(), "check", "--isolated", "--select", "F821,F811,E9", "-"],
        input=text,
        capture_output=True,
        text=True,
    )
    assert code.returncode == 0, code.stdout


@cache
def _sources() -> list[Tools]:
    lists: list[Tools] = []
    for file in corpora.files():
        tools = [
            (f"t{number}", f"Tool {number}.", record.input_schema, record.output_schema)
            for number, record in enumerate(corpora.records(file)[:200])
        ]
        lists += [tools[at : at + 8] for at in range(0, len(tools), 8)]
    return lists


def _versions(chance: random.Random) -> tuple[str, str]:
    """Return the designs of two versions of one source."""
    if chance.random() < 0.3:
        first, second = chance.sample(range(1, VERSIONS + 1), 2)
        return _api(document(first)), _api(document(second))
    while True:
        tools = copy.deepcopy(chance.choice(_sources()))
        versions = _list(tools[:6]), _list([*_mutated(tools[:6], chance), *tools[6:]])
        if all(versions):
            return versions


def _list(tools: Tools) -> str:
    imported = [
        ImportedTool(name=name, description=text, arguments=arguments, result=result)
        for name, text, arguments, result in tools
    ]
    source = ReaderResult(name="tools", description="Tools.", tools=tuple(imported), findings=())
    files = design_files(source, name="tools", service="others").files
    return formatted([next(iter(files.values()))])[0] if files else ""


def _api(value: Any) -> str:
    options = OpenAPIOptions(servers=ServerOptions(url="https://books.example"))
    read = SourceDocument(name="library", value=value)
    files = openapi_files(read, lambda path: None, name="library", service="library", options=options)
    return formatted([next(iter(files.files.values()))])[0]


def _mutated(tools: Tools, chance: random.Random) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield the tools of a next version, some of them changed and some left out."""
    for name, text, arguments, result in tools:
        if chance.random() < 0.15:
            continue
        said = f"{text} And more." if chance.random() < 0.3 else text
        changed = copy.deepcopy(arguments)
        if isinstance(changed, dict) and isinstance(changed.get("properties"), dict):
            properties = changed["properties"]
            for key in list(properties):
                if chance.random() < 0.15 and key not in changed.get("required", ()):
                    del properties[key]
                elif chance.random() < 0.2 and isinstance(properties[key], dict):
                    properties[key]["description"] = f"New words {chance.random()}."
            if chance.random() < 0.4:
                properties["new_one"] = {"type": "string", "enum": ["a", "b"]}
        yield name, said, changed, result


def _edited(base: str, chance: random.Random) -> tuple[str, list[str]]:
    """Return what an author makes of a design, and the texts that have to stay."""
    said: list[str] = []
    text = base
    for number in range(chance.randint(1, 6)):
        mine = f"My words {number}."
        kind = chance.choice([*EDITS, "layout"])
        new = _laid_out(text, chance) if kind == "layout" else EDITS[kind](text, mine, chance)
        with suppress(SyntaxError):
            ast.parse(new)
            text = new
            said.append(mine)
    return text, [each for each in said if each in text]


def _clauses(text: str, *names: str) -> list[ast.Call]:
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [call for call in calls if getattr(call.func, "attr", "") in names and len(call.args) > 1]


def _described(text: str, mine: str, chance: random.Random) -> str:
    target = chance.choice(_clauses(text, "Tool", "Method", "Toolset"))
    return _replaced(text, target.args[1], f'"{mine}"')


def _commented(text: str, mine: str, chance: random.Random) -> str:
    target = chance.choice(_clauses(text, "Tool", "Method", "Attribute"))
    lines = text.split("\n")
    line = chance.choice([target.lineno, target.end_lineno or 1]) - 1
    lines[line] += f"  # {mine}"
    return "\n".join(lines)


def _commented_above(text: str, mine: str, chance: random.Random) -> str:
    target = chance.choice(_clauses(text, "Tool", "Method", "Attribute", "Service"))
    lines = text.split("\n")
    lines.insert(
        target.lineno - 1, f"    # {mine}" if lines[target.lineno - 1].startswith(" ") else f"# {mine}"
    )
    return "\n".join(lines)


def _without(text: str, mine: str, chance: random.Random) -> str:
    target = chance.choice(_clauses(text, "Tool", "Attribute"))
    start, end = _span(text, target)
    data = text.encode()
    behind = data[end:].lstrip(b", \n")
    return (data[:start] + behind).decode()


def _hooked(text: str, mine: str, chance: random.Random) -> str:
    return text.replace(
        "\ndesign = ", f'\ndef hook_{chance.randint(1, 9999)}() -> str:\n    return "{mine}"\n\n\ndesign = '
    )


def _with_own(text: str, mine: str, chance: random.Random) -> str:
    place = chance.choice(_clauses(text, "Toolset")).args[1]
    start, end = _span(text, place)
    return _replaced(text, place, f'{text.encode()[start:end].decode()}, d.Tool("own", "{mine}")')


def _renamed(text: str, mine: str, chance: random.Random) -> str:
    named = _replaced(
        text, chance.choice(_clauses(text, "Tool")).args[0], f'"renamed_{chance.randint(1, 99)}"'
    )
    return _described(named, mine, chance)


def _other_variable(text: str, mine: str, chance: random.Random) -> str:
    names = [each.targets[0].id for each in ast.parse(text).body if isinstance(each, ast.Assign)]  # type: ignore[attr-defined]
    name = chance.choice([each for each in names if each != "design"])
    return f"# {mine}\n" + re.sub(rf'(?<!["\w.]){name}(?![\w"=])', f"{name}_of_mine", text)


EDITS: dict[str, Callable[[str, str, random.Random], str]] = {
    "describe": _described,
    "comment": _commented,
    "comment above": _commented_above,
    "remove": _without,
    "hook": _hooked,
    "own": _with_own,
    "rename": _renamed,
    "variable": _other_variable,
}


def _span(text: str, node: ast.expr) -> tuple[int, int]:
    lines = text.encode().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return (
        starts[node.lineno - 1] + node.col_offset,
        starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0),
    )


def _replaced(text: str, node: ast.expr, new: str) -> str:
    start, end = _span(text, node)
    data = text.encode()
    return (data[:start] + new.encode() + data[end:]).decode()


def _laid_out(text: str, chance: random.Random) -> str:
    width = chance.choice((40, 70, 200))
    done = subprocess.run(
        [find_ruff_bin(), "format", "--isolated", "--config", f"line-length={width}", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout

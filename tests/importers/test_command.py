"""`toolgen import`: what it writes, says and refuses, and with which exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolgen.cli import main

from ..conftest import Done, in_a_process
from ..findings import findings_in

READ = {
    "name": "read_file",
    "description": "Read one file.",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "The file."}},
        "required": ["path"],
        "additionalProperties": False,
    },
}
STRANGE = {
    "name": "Strange-Tool",
    "description": "Take something strange.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "not": {"required": ["b"]}},
}
BROKEN = {"name": "broken", "description": "Broken.", "inputSchema": {"type": "objct"}}
LACKS = "parts of the source could not be imported (--allow-losses exits 0)"
NEXT = 'next: set design = "files_design" in [tool.toolgen] of pyproject.toml, then run: toolgen gen'
MODULE = '''\
"""Sums."""


def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: The first.
    """
    return a + b


def spread(*numbers: int) -> None: ...


def _hidden(a: int) -> None: ...
'''
IMPORTED = ("empty", "failing", "files_design", "package", "sums")
"""Modules of folders, which the next test writes anew."""


@dataclass(slots=True)
class Folder:
    path: Path
    capsys: pytest.CaptureFixture[str]

    def write(self, value: object, name: str = "files.json") -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        (self.path / name).write_text(text, "utf-8")
        return name

    def run(self, *args: str) -> Done:
        code = main(("import", *args))
        captured = self.capsys.readouterr()
        return Done(code, captured.out, captured.err)

    def files(self) -> list[str]:
        return sorted(str(file.relative_to(self.path)) for file in self.path.rglob("*") if file.is_file())


@pytest.fixture
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Folder]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Folder(tmp_path, capsys)
    for name in [name for name in sys.modules if name.partition(".")[0] in IMPORTED]:
        del sys.modules[name]


def test_a_tool_list_becomes_a_design(folder: Folder) -> None:
    done = folder.run("mcp", folder.write({"tools": [READ]}))
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        "files_design.py: the design module; edit it freely, it is not generated again",
        "files_design.import.json: the record of this import, by which the next one keeps your edits",
        NEXT,
        "imported 1 tool",
    ]
    assert folder.files() == ["files.json", "files_design.import.json", "files_design.py"]
    text = (folder.path / "files_design.py").read_text("utf-8")
    assert 'd.Attribute("path", d.String, "The file.", required=True)' in text


def test_what_the_words_cannot_express_stands_beside_the_design(folder: Folder) -> None:
    done = folder.run("mcp", folder.write([READ, STRANGE]))
    assert done.code == 0
    assert "files_schemas: 1 schema that clauses cannot express" in done.err
    [schema] = (folder.path / "files_schemas").iterdir()
    assert json.loads(schema.read_text("utf-8")) == STRANGE["inputSchema"]


@pytest.mark.exhaustive
def test_the_design_generates(folder: Folder) -> None:
    folder.run("mcp", folder.write([READ, STRANGE]))
    folder.write('[tool.toolgen]\ndesign = "files_design"\n', "pyproject.toml")
    done = in_a_process(folder.path, "-m", "toolgen", "gen")
    assert done.returncode == 0, done.stderr
    assert "gen/tool_schemas.json" in folder.files()


@pytest.mark.parametrize("kind", ["mcp", "jsonschema", "catalog", "python"])
def test_an_address_is_no_source_and_is_named_as_it_was_written(folder: Folder, kind: str) -> None:
    done = folder.run(kind, "https://api.example/a b.json")
    way = "to lock a live server: --url" if kind == "mcp" else "download it first: curl --output 'a b.json'"
    assert (done.code, done.err) == (
        2,
        "error: https://api.example/a b.json is a URL, but only toolgen import openapi reads a URL\n"
        f"  hint: {way} 'https://api.example/a b.json'\n",
    )


def test_a_broken_tool_is_left_out_and_named(folder: Folder) -> None:
    source = folder.write([BROKEN, READ])
    done = folder.run("mcp", source)
    assert done.code == 1
    assert done.err.startswith("files.json: error: tool 'broken' at /0/inputSchema")
    assert done.err.endswith(f"imported 1 tool; 1 error; {LACKS}\n")
    assert folder.files() == ["files.json", "files_design.import.json", "files_design.py"]
    done = folder.run("mcp", source, "--allow-losses", "--force")
    assert done.code == 0
    assert done.err.endswith("imported 1 tool; 1 error\n")
    assert folder.run("mcp", source, "--allow-losses", "--strict", "--force").code == 1


def test_what_is_left_out_of_a_tool_is_a_loss_and_another_warning_is_none(folder: Folder) -> None:
    source = folder.write([{**READ, "annotations": {"readOnlyHint": 1}}])
    done = folder.run("mcp", source)
    assert (done.code, done.err.splitlines()[-1]) == (1, f"imported 1 tool; 1 warning; {LACKS}")
    assert folder.run("mcp", source, "--allow-losses", "--force").code == 0
    folder.write([{**READ, "description": ""}])
    done = folder.run("mcp", source, "--force")
    assert (done.code, done.err.splitlines()[-1]) == (0, "imported 1 tool; 1 warning")


def test_strict_writes_nothing_when_a_tool_is_broken(folder: Folder) -> None:
    done = folder.run("mcp", folder.write([BROKEN, READ]), "--strict")
    assert done.code == 1
    assert done.err.endswith("--strict: 1 error; nothing was written\n")
    assert folder.files() == ["files.json"]


def test_without_any_tool_nothing_is_written(folder: Folder) -> None:
    done = folder.run("mcp", folder.write([BROKEN]))
    assert done.code == 1
    assert done.err.endswith("no tool could be imported: 1 error; nothing was written\n")
    assert folder.files() == ["files.json"]


def test_an_empty_list_has_no_tool(folder: Folder) -> None:
    done = folder.run("mcp", folder.write([]))
    assert (done.code, done.err) == (
        1,
        "no tool could be imported: the source has none; nothing was written\n",
    )


def test_a_source_that_cannot_be_read_exits_with_2(folder: Folder) -> None:
    done = folder.run("mcp", folder.write("tools"))
    assert done.code == 2
    assert done.err == (
        "error: files.json is not JSON: Expecting value at line 1, column 1\n  hint: correct the file\n"
    )


def test_files_that_are_there_stay_as_they_are(folder: Folder) -> None:
    source = folder.write([READ, STRANGE])
    folder.write("mine\n", "files_design.py")
    done = folder.run("mcp", source)
    assert done.code == 2
    assert (
        "error: files_design.py already exists, but the lock of its import, files_design.import.json, is "
        "missing; nothing was written" in done.err
    )
    assert folder.files() == ["files.json", "files_design.py"]
    assert (folder.path / "files_design.py").read_text("utf-8") == "mine\n"


def test_force_writes_over_them(folder: Folder) -> None:
    folder.write("mine\n", "files_design.py")
    assert folder.run("mcp", folder.write([READ]), "--force").code == 0
    assert "Toolset" in (folder.path / "files_design.py").read_text("utf-8")


def test_a_place_that_cannot_be_written_leaves_nothing(folder: Folder) -> None:
    source = folder.write([READ, STRANGE])
    folder.write("a file where the folder should be", "files_schemas")
    done = folder.run("mcp", source, "--force")
    assert done.code == 2
    assert done.err.startswith("error: cannot write ")
    assert folder.files() == ["files.json", "files_schemas"]


def test_out_and_names_are_chosen(folder: Folder) -> None:
    source = folder.write([READ])
    done = folder.run("mcp", source, "--out", "app/tools", "--name", "disk", "--service", "storage")
    assert done.code == 0
    assert 'next: set design = "app.tools.disk_design"' in done.err
    text = (folder.path / "app/tools/disk_design.py").read_text("utf-8")
    assert 'd.Service("storage"' in text.replace("\n", "").replace("    ", "")
    assert '"disk"' in text


def test_out_may_be_the_module_itself(folder: Folder) -> None:
    source = folder.write([READ, STRANGE])
    done = folder.run("mcp", source, "--out", "app/tools.py")
    assert done.code == 0
    assert "app/tools.py: the design module" in done.err
    assert 'next: set design = "app.tools"' in done.err
    written = ["app/files_schemas/strange_tool.args.json", "app/tools.import.json", "app/tools.py"]
    assert folder.files() == [*written, "files.json"]
    assert folder.run("mcp", source, "--out", "app/tools.py", "--check").code == 0
    done = folder.run("mcp", source, "--out", "my-tools.py")
    assert (done.code, done.err.splitlines()) == (
        2,
        [
            "error: --out 'my-tools.py' is not a module that Python can import",
            "  hint: --out my_tools_design.py",
        ],
    )
    done = folder.run("mcp", source, "--out", "json.py")
    assert done.code == 2
    assert done.err.splitlines() == [
        "error: --out 'json.py' would hide Python's own module 'json'",
        "  hint: --out json_design.py",
    ]
    assert folder.run("mcp", source, "--out", "lib/json.py").code == 0


@pytest.mark.parametrize(
    ("option", "value", "hint"), [("--name", "My Tools", "my_tools"), ("--service", "class", "tools_class")]
)
def test_a_name_that_does_not_fit_is_refused(folder: Folder, option: str, value: str, hint: str) -> None:
    done = folder.run("mcp", folder.write([READ]), option, value)
    assert done.code == 2
    assert done.err.startswith(f"error: {option} '{value}' must begin with a lowercase letter")
    assert done.err.endswith(f"hint: {option} {hint}\n")


@pytest.mark.parametrize(
    ("file", "name"), [("My Tools.json", "my_tools"), ("99.json", "tools_99"), ("…", "tools")]
)
def test_the_toolset_is_called_after_the_source(folder: Folder, file: str, name: str) -> None:
    assert folder.run("mcp", folder.write([READ], file)).code == 0
    assert f"{name}_design.py" in folder.files()


def test_findings_are_printed_for_programs(folder: Folder) -> None:
    source = folder.write([BROKEN, {**READ, "annotations": {"readOnlyHint": 1}}])
    done = folder.run("mcp", source, "--format", "json")
    warning, error = findings_in(done.out)
    assert (error["severity"], error["code"]) == ("error", "import-bad-schema")
    assert (error["file"], error["tool"], error["pointer"]) == ("files.json", "broken", "/0/inputSchema/type")
    assert warning == {
        "severity": "warning",
        "code": "import-left-out",
        "message": "readOnlyHint is a number; it is left out",
        "tool": "read_file",
        "file": "files.json",
        "pointer": "/1/annotations/readOnlyHint",
        "hint": "true or false",
        "suppressible": False,
        "related": [],
    }
    done = folder.run("mcp", source, "--format", "github", "--force")
    assert sorted(line.partition(" ")[0] for line in done.out.splitlines()) == ["::error", "::warning"]


def test_an_openapi_document_becomes_a_design(folder: Folder) -> None:
    document = """\
openapi: 3.1.0
info: {title: Petstore, version: "1"}
servers: [{url: /v1}]
paths:
  /pets/{id}:
    get:
      operationId: showPet
      summary: Show a pet.
      parameters: [{name: id, in: path, required: true, description: Its id., schema: {type: string}}]
      responses: {"200": {description: "", content: {application/json: {schema: {type: object}}}}}
"""
    done = folder.run("openapi", folder.write(document, "api.yaml"), "--server", "https://pets.example")
    assert done.code == 0
    text = (folder.path / "api_design.py").read_text("utf-8")
    assert '"show_pet"' in text
    assert '"Petstore"' in text
    assert 'd.Meta(name="showPet")' in text
    assert 'http.Server("https://pets.example/v1")' in text


@pytest.mark.parametrize("source", ["sums.py", "sums", "sums.py:add", "sums:add"])
def test_functions_become_a_design(folder: Folder, source: str) -> None:
    folder.write(MODULE, "sums.py")
    done = folder.run("python", source)
    assert done.code == (0 if ":" in source else 1), done.err
    assert ("tool 'spread' at /numbers" in done.err) == (":" not in source)
    text = (folder.path / "sums_design.py").read_text("utf-8")
    assert 'd.Attribute("a", d.Int, "The first.", required=True)' in text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere", "the module 'nowhere' was not found"),
        ("nowhere.py", "the file nowhere.py does not exist"),
        ("sums.py:sub", "sums.py has no function 'sub'"),
        ("a b", "'a b' is not a dotted module name"),
        ("failing.py", "failing.py cannot be imported"),
        ("empty.py", "empty.py defines no public function"),
    ],
)
def test_functions_that_are_not_there_are_refused(folder: Folder, source: str, message: str) -> None:
    folder.write(MODULE, "sums.py")
    folder.write("1 / 0\n", "failing.py")
    folder.write("", "empty.py")
    done = folder.run("python", source)
    assert done.code == 2
    assert message in done.err


def test_a_file_in_a_package_may_import_its_neighbours(folder: Folder) -> None:
    (folder.path / "package").mkdir()
    folder.write("", "package/__init__.py")
    folder.write("Number = int\n", "package/types.py")
    folder.write("from .types import Number\n\ndef one(a: Number) -> Number: ...\n", "package/tools.py")
    done = folder.run("python", "package/tools.py")
    assert done.code == 0, done.err


ARGUMENTS = {"type": "object", "properties": {"a": {"type": "string"}}}
LOOP = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}


def with_a(schema: object) -> dict[str, object]:
    return {"type": "object", "properties": {"a": schema}}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "schema", "pointer"),
    [
        ("nowhere", with_a({"$ref": "#/$defs/Missing"}), "/0/inputSchema/properties/a"),
        ("cyclic", {**ARGUMENTS, **LOOP}, "/0/inputSchema"),
        ("remote", with_a({"$ref": "https://x.org/y"}), "/0/inputSchema/properties/a"),
        ("n" * 300, ARGUMENTS, "/0"),
        ("wrong", with_a({"minLength": -1}), "/0/inputSchema/properties/a"),
        ("list", {"type": "array"}, "/0/inputSchema"),
    ],
    ids=["ref to nowhere", "cyclic ref", "remote ref", "long name", "wrong keyword", "no object"],
)
def test_a_bad_tool_is_named_with_its_pointer(
    folder: Folder, name: str, schema: object, pointer: str
) -> None:
    source = folder.write([{"name": name, "description": "x", "inputSchema": schema}, READ])
    done = folder.run("mcp", source)
    assert done.code == 1
    [line] = [line for line in done.err.splitlines() if ": error: " in line]
    assert name[:50] in line
    assert f" at {pointer}" in line


def test_a_large_file_is_refused_at_once(folder: Folder) -> None:
    with (folder.path / "large.json").open("wb") as stream:
        stream.truncate(50_000_000)
    done = folder.run("mcp", "large.json")
    assert (done.code, done.err.partition(";")[0]) == (2, "error: large.json has 50,000,000 bytes")


def test_what_a_source_says_cannot_move_the_cursor(folder: Folder) -> None:
    source = folder.write([{"name": "a\x1b[2J", "inputSchema": with_a({"x\n\x1b": 1, "type": "no\x1b"})}])
    done = folder.run("mcp", source)
    assert done.code == 1
    assert done.err.replace("\n", "").isprintable()


def test_a_property_called_class_is_a_property(folder: Folder) -> None:
    schema = {"type": "object", "properties": {"__class__": {"type": "string"}}, "required": ["__class__"]}
    source = folder.write([{"name": "odd", "description": "x", "inputSchema": schema}])
    assert folder.run("mcp", source).code == 0
    folder.write('[tool.toolgen]\ndesign = "files_design"\n', "pyproject.toml")
    assert main(["gen"]) == 0

"""Files of tools: how they are read, what is refused, and the forms of JSON Schema tool lists."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from tests.conformance import corpora
from tests.selection import first
from toolgen.contract.errors import ToolgenError
from toolgen.importers.json_schema import read_schemas
from toolgen.importers.text import MOST_BYTES, read_document
from toolgen.importers.tool import ReaderResult

OBJECT = {"type": "object", "properties": {"city": {"type": "string"}}}


def written(folder: Path, text: str | bytes, name: str = "tools.json") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def schemas(folder: Path, value: object, name: str = "tools.json") -> ReaderResult:
    return read_schemas(read_document(written(folder, json.dumps(value), name)))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON: Expecting value at line 1, column 1"),
        ('{"a": 1,\n"b" 2}', "is not JSON: Expecting ':' delimiter at line 2, column 5"),
        ('{"default": NaN}', "is not JSON: NaN is not a JSON number"),
        (b'{"a": "\xff"}', "is not UTF-8: byte 7 is 0xff"),
        ('{"a": 1}'.encode("utf-16"), "is encoded in UTF-16 or UTF-32, not in UTF-8"),
        ('{"a": 1}'.encode("utf-16-be"), "is encoded in UTF-16 or UTF-32, not in UTF-8"),
        ("[" * 100_000, "is not JSON: it is nested more than 100 levels deep"),
        ('{"a": "' + '\\"' * 3_000_000, "is not JSON: Unterminated string starting at at line 1, column 7"),
        ('{"a": "' + '\\"' * 3_000_000 + "\\", "is not JSON: Unterminated string starting at at line 1"),
    ],
    ids=["empty", "syntax", "nan", "encoding", "utf-16", "utf-16-be", "unclosed", "string", "escape"],
)
def test_what_is_no_json_is_refused_with_the_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(ToolgenError, match=message):
        read_document(written(tmp_path, text))


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert read_document(written(tmp_path, b"\xef\xbb\xbf[1]")).value == [1]


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    with file.open("wb") as stream:
        stream.truncate(50_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(ToolgenError, match=rf"50,000,000 bytes; at most {MOST_BYTES:,} are read"):
            read_document(file)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 1_000_000


@pytest.mark.parametrize("name", ["nowhere.json", "."])
def test_a_file_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ToolgenError, match=r"does not exist|is not a file"):
        read_document(tmp_path / name)


@pytest.mark.skipif(os.name == "nt", reason="named pipes have another form there")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(ToolgenError, match="is not a file"):
        read_document(tmp_path / "pipe.json")


def test_a_document_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    for depth in (60, 10_000):
        text = '{"properties": {"a": ' + '{"items": ' * depth + "[{}]" + "}" * depth + "}}"
        if depth < 90:
            assert read_document(written(tmp_path, text)).value
            continue
        with pytest.raises(ToolgenError, match="is not JSON: it is nested more than 100 levels deep"):
            read_document(written(tmp_path, text))
    with pytest.raises(ToolgenError, match="is not JSON: it is nested more than 100 levels deep"):
        read_document(written(tmp_path, "[" * 102 + "]" * 102))


def test_a_key_that_stands_twice_is_a_warning(tmp_path: Path) -> None:
    text = '[{"name": "a", "parameters": {"type": "string", "type": "object"}}]'
    source = read_schemas(read_document(written(tmp_path, text)))
    [finding] = source.findings
    assert finding.is_warning
    assert finding.message == "the key 'type' appears twice in one object; the last one counts"
    assert source.tools[0].arguments == {"type": "object"}


def test_half_a_character_becomes_a_whole_one(tmp_path: Path) -> None:
    text = '{"title": "a\\ud800", "properties": {"\\udfff": {}}, "x": "\\ud83d\\ude00é"}'
    document = read_document(written(tmp_path, text))
    assert document.value == {"title": "a\ufffd", "properties": {"\ufffd": {}}, "x": "😀é"}
    assert [(finding.message, finding.is_warning) for finding in document.findings] == [
        ("the text 'a\ufffd' contains a lone surrogate, which becomes U+FFFD", True),
        ("the text '\ufffd' contains a lone surrogate, which becomes U+FFFD", True),
    ]


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 5_000])
def test_a_number_that_python_does_not_have_is_refused(tmp_path: Path, number: str) -> None:
    with pytest.raises(ToolgenError, match="is not JSON: "):
        read_document(written(tmp_path, f'{{"a": [{number}]}}'))


def test_lines_that_are_no_json_cost_themselves_only(tmp_path: Path) -> None:
    good = json.dumps({"name": "a", "input_schema": OBJECT})
    source = read_schemas(read_document(written(tmp_path, f"{good}\n\nnot json\n", "tools.jsonl")))
    assert [tool.name for tool in source.tools] == ["a"]
    [finding] = source.findings
    assert finding.message.startswith("line 3 is not JSON: Expecting value")


@pytest.mark.parametrize(
    ("record", "pointer"),
    [
        ({"type": "function", "function": {"name": "f", "parameters": OBJECT}}, "/0/function/parameters"),
        ({"type": "function", "name": "f", "parameters": OBJECT}, "/0/parameters"),
        ({"name": "f", "description": "", "parameters": OBJECT}, "/0/parameters"),
        ({"name": "f", "input_schema": OBJECT}, "/0/input_schema"),
        ({"name": "f", "inputSchema": OBJECT}, "/0/inputSchema"),
    ],
    ids=["chat completions", "responses", "flat", "anthropic", "mcp"],
)
def test_every_form_of_a_record_is_read(tmp_path: Path, record: object, pointer: str) -> None:
    [tool] = schemas(tmp_path, [record]).tools
    assert (tool.name, tool.arguments, tool.arguments_pointer) == ("f", OBJECT, pointer)


def test_a_function_without_parameters_takes_none(tmp_path: Path) -> None:
    [tool] = schemas(tmp_path, [{"type": "function", "function": {"name": "f"}}]).tools
    assert tool.arguments == {"type": "object", "properties": {}}


def test_a_record_brings_result_examples_and_title(tmp_path: Path) -> None:
    record = {
        "name": "f",
        "title": "Eff",
        "description": "Does f.",
        "input_schema": OBJECT,
        "output_schema": {"type": "string"},
        "input_examples": [{"city": "Oslo"}],
    }
    [tool] = schemas(tmp_path, {"tools": [record]}).tools
    assert (tool.title, tool.description, tool.result) == ("Eff", "Does f.", {"type": "string"})
    assert (tool.result_pointer, tool.examples) == ("/tools/0/output_schema", ({"city": "Oslo"},))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (3, "the tool is a number"),
        ({"input_schema": OBJECT}, "the tool has no name"),
        ({"name": " ", "input_schema": OBJECT}, "the tool's name is an empty string"),
        ({"name": "f"}, "has no schema for its arguments"),
    ],
)
def test_a_record_that_is_no_tool_leaves_the_others(tmp_path: Path, record: object, message: str) -> None:
    source = schemas(tmp_path, [record, {"name": "g", "input_schema": OBJECT}])
    assert [tool.name for tool in source.tools] == ["g"]
    assert [(finding.place.pointer, finding.message) for finding in source.findings] == [("/0", message)]


def test_a_second_tool_of_a_name_is_left_out(tmp_path: Path) -> None:
    source = schemas(tmp_path, [{"name": "f", "input_schema": OBJECT}] * 2)
    assert len(source.tools) == 1
    [finding] = source.findings
    assert (finding.tool, finding.place.pointer) == ("f", "/1")
    assert finding.message == "a second tool with this name; the first one is at /0"


@pytest.mark.parametrize(("schema", "name"), [({**OBJECT, "title": "Weather"}, "Weather"), (OBJECT, "get")])
def test_one_schema_is_one_tool(tmp_path: Path, schema: object, name: str) -> None:
    [tool] = schemas(tmp_path, schema, "get.json").tools
    assert (tool.name, tool.arguments, tool.arguments_pointer) == (name, schema, "")


def test_a_schema_that_has_properties_of_a_tool_is_still_a_schema(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"name": {}, "parameters": {}}}
    [tool] = schemas(tmp_path, schema).tools
    assert tool.arguments == schema


def test_a_document_that_is_neither_is_a_finding(tmp_path: Path) -> None:
    [finding] = schemas(tmp_path, "text").findings
    assert finding.message == "the document is a string, neither a schema nor a list of tools"


@pytest.mark.parametrize("file", first(["mcp", "bfcl", "nestful", "openapi", "taubench"]))
def test_every_record_of_the_corpora_is_a_tool_or_a_second_of_its_name(file: str) -> None:
    corpora.require()
    path = corpora.FOLDER / f"tools_{file}_public.jsonl"
    source = read_schemas(read_document(path))
    assert len(source.tools) + len(source.findings) == len(corpora.lines(path))
    assert {finding.message.partition(";")[0] for finding in source.findings} <= {
        "a second tool with this name"
    }

"""Tool lists of MCP servers, as files."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import hides
from toolgen.contract.tool_facts import Icon
from toolgen.importers.design import design_files
from toolgen.importers.mcp import read_mcp
from toolgen.importers.text import SourceDocument
from toolgen.importers.tool import ReaderResult

OBJECT = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = {
    "name": "read_file",
    "title": "Read a file",
    "description": "Read one file.",
    "inputSchema": OBJECT,
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True, "openWorldHint": False, "title": "Reader"},
    "_meta": {"vendor/x": 1},
}


def read(value: object) -> ReaderResult:
    return read_mcp(SourceDocument(name="files", value=value))


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([TOOL], "/0"),
        ({"tools": [TOOL]}, "/tools/0"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}, "/result/tools/0"),
    ],
    ids=["list", "result", "response"],
)
def test_every_wrapping_of_a_list_is_read(document: object, pointer: str) -> None:
    source = read(document)
    [tool] = source.tools
    assert (source.name, source.findings) == ("files", ())
    assert (tool.name, tool.title, tool.description) == ("read_file", "Read a file", "Read one file.")
    assert (tool.arguments, tool.arguments_pointer) == (OBJECT, f"{pointer}/inputSchema")
    assert (tool.result, tool.result_pointer) == ({"type": "object"}, f"{pointer}/outputSchema")
    assert tool.annotations == {"read_only": True, "open_world": False}


@pytest.mark.parametrize("number", [0, 1, 2, "one", None])
def test_the_lock_of_a_server_is_no_list_of_tools(number: object) -> None:
    """It has `tools`, too; as a list they would be stubs, and not those of the server."""
    with pytest.raises(ToolgenError, match="is the lock file of an MCP server") as caught:
        read({"lock": number, "protocol": "2025-11-25", "server": {"name": "s"}, "tools": [TOOL]})
    assert caught.value.hint == "use it in a design: d.MCPToolset(NAME, lock=FILE)"


def test_icons_are_read_and_what_no_design_takes_is_left_out() -> None:
    icons = [
        {"src": "https://e.org/a.svg", "mimeType": "image/svg+xml", "sizes": ["any"], "theme": "dark"},
        {"src": "https://e.org/b.png", "mimeType": "text/html", "sizes": "48x48", "theme": "blue"},
        {"src": "javascript:alert(1)"},
        "https://e.org/c.png",
    ]
    source = read([{**TOOL, "icons": icons}])
    assert source.tools[0].icons == (
        Icon(src="https://e.org/a.svg", mime_type="image/svg+xml", sizes=("any",), theme="dark"),
        Icon(src="https://e.org/b.png"),
    )
    assert [finding.place.pointer for finding in source.findings] == [
        *(f"/0/icons/1/{key}" for key in ("mimeType", "sizes", "theme")),
        "/0/icons/2",
        "/0/icons/3",
    ]
    assert all(finding.is_warning for finding in source.findings)
    assert [one.place.pointer for one in read([{**TOOL, "icons": "no"}]).findings] == ["/0/icons"]


def test_the_title_may_stand_in_the_annotations() -> None:
    [tool] = read([{**TOOL, "title": None}]).tools
    assert tool.title == "Reader"


def test_a_hint_that_is_no_boolean_is_left_out_with_a_warning() -> None:
    source = read([{**TOOL, "annotations": {"readOnlyHint": "yes"}}])
    assert source.tools[0].annotations == {}
    [finding] = source.findings
    assert (finding.tool, finding.place.pointer) == ("read_file", "/0/annotations/readOnlyHint")
    assert finding.is_warning


def test_a_tool_without_input_schema_is_left_out() -> None:
    source = read([{"name": "a", "input_schema": OBJECT}, TOOL])
    assert [tool.name for tool in source.tools] == ["read_file"]
    [finding] = source.findings
    assert (finding.tool, finding.place.pointer, finding.hint) == ("a", "/0", "add 'inputSchema'")


def test_a_first_page_says_that_it_is_one() -> None:
    [finding] = read({"tools": [TOOL], "nextCursor": "2"}).findings
    assert (finding.place.pointer, finding.is_warning) == ("/nextCursor", True)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"error": {"code": -32601, "message": "no such method"}}, "the server answered with an error"),
        ({"prompts": []}, "the document has neither 'tools' nor 'result'"),
        ("tools", "the document is a string, not a list of tools"),
    ],
)
def test_what_is_no_tool_list_is_refused(document: object, message: str) -> None:
    with pytest.raises(ToolgenError, match=message):
        read(document)


def test_a_list_that_is_none_is_a_finding() -> None:
    [finding] = read({"tools": {"read_file": TOOL}}).findings
    assert (finding.place.pointer, finding.message) == ("/tools", "the list of tools is an object")


def test_a_tool_that_can_be_called_as_a_task_alone_is_left_out() -> None:
    source = read([TOOL, {**TOOL, "name": "later", "execution": {"taskSupport": "required"}}])
    assert [tool.name for tool in source.tools] == ["read_file"]
    [finding] = source.findings
    assert (finding.code, finding.tool, finding.place.pointer) == (
        "import-task-only",
        "later",
        "/1/execution",
    )


@pytest.mark.parametrize(
    ("facts", "place"),
    [
        ({"inputSchema": {"properties": {"a\u202e": {}}}}, "/0/inputSchema/properties/a"),
        ({"outputSchema": {"enum": ["\U000e0041"]}}, "/0/outputSchema/enum"),
        ({"name": "read\u200b"}, "/0"),
    ],
)
def test_a_tool_with_a_name_or_a_value_that_nobody_sees_is_left_out(
    facts: dict[str, Any], place: str
) -> None:
    files = design_files(read([{**TOOL, **facts}, {**TOOL, "name": "other"}]), name="files", service="s")
    assert files.imported == 1
    (finding,) = files.findings
    assert (finding.code, finding.is_warning) == ("import-unsafe", False)
    assert (finding.place.pointer or "").startswith(place)


def test_a_design_has_the_normal_form_of_what_a_list_says() -> None:
    hidden = "a\u202eb\U000e0041"
    odd = {"type": "string", "title": hidden, "format": hidden, "x-hidden": hidden, "default": hidden}
    schema = {"type": "object", "properties": {"path": odd}, "x-hidden": hidden}
    files = design_files(
        read([{**TOOL, "title": hidden, "description": hidden * 1_000, "inputSchema": schema}]),
        name="f",
        service="s",
    )
    text = "".join(files.files.values())
    assert "x-hidden" not in text
    texts = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    assert not any(hides(str(value)) for value in texts)
    assert len(text) < 10_000

"""`mcp`: the tool list of a server, as a file (MCP 2026-07-28, "Tools", `ListToolsResult`).

The file contains the result of `tools/list`, the JSON-RPC response around it, or only the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Finding

from .codes import MORE_PAGES, finding_at
from .pointers import joined
from .records import Keys, a_kind, collected, read_records
from .text import SourceDocument
from .tool import ImportedTool, ReaderResult

_KEYS: Final = Keys(arguments=("inputSchema",), result=("outputSchema",), may_have_none=False)
_HINT: Final = 'save the result of tools/list: {"tools": […]}'


def read_mcp(document: SourceDocument) -> ReaderResult:
    """Return the tools in a list.

    Raises:
        ToolgenError: The document is not a response of a server, or is an error response.
    """
    return collected(document.name, "", (*document.findings, *_tools(*_result(document.value))))


def _result(value: object) -> tuple[object, object, str]:
    """Return the tools, the cursor of the next page, and the pointer to the tools."""
    match value:
        case list():
            return value, None, ""
        case {"lock": _}:
            raise ToolgenError(
                "the document is the lock file of an MCP server, not a list of tools",
                hint="use it in a design: d.MCPToolset(NAME, lock=FILE)",
            )
        case {"tools": tools, **rest}:
            return tools, rest.get("nextCursor"), "/tools"
        case {"result": {"tools": tools, **rest}}:
            return tools, rest.get("nextCursor"), "/result/tools"
        case {"error": {"message": str(message)}}:
            raise ToolgenError(f"the server answered with an error: {message!r}", hint=_HINT)
        case dict():
            raise ToolgenError("the document has neither 'tools' nor 'result'", hint=_HINT)
        case _:
            raise ToolgenError(f"the document is {a_kind(value)}, not a list of tools", hint=_HINT)


def _tools(tools: object, next_page: object, pointer: str) -> Iterator[ImportedTool | Finding]:
    yield from read_records(tools, pointer, _KEYS)
    if next_page:
        yield finding_at(
            MORE_PAGES,
            joined(pointer.removesuffix("/tools"), "nextCursor"),
            "the list has more pages; this is only the first",
            hint="put the tools of all pages into one file",
        )

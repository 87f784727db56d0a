"""`toolgen schema --tokens`: tokens of the tools in each request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from toolgen.catalog.entry import tool_entry
from toolgen.catalog.providers import EntryError, declarations
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import compact
from toolgen.contract.printable import printable
from toolgen.contract.tokens import BYTES_OF_TOKEN, declaration_text, estimated_tokens

from .outcome import Outcome
from .schema import ToolSource, agents_of, no_catalog, tools_of


class _Row(NamedTuple):
    kind: Literal["tool", "toolset", "agent"]
    id: str
    tokens: int


def show_tokens(source: ToolSource, dialect: str, tokenizer: str, format: Literal["text", "json"]) -> Outcome:
    """Return a line for each tool, toolset and agent, with the tokens of its declarations.

    With a dialect, the declarations of that provider are counted, otherwise name, description and schema.

    Raises:
        ToolgenError: there is no such file, catalog, dialect or tokenizer.
    """
    count = _tokenizer(tokenizer) if tokenizer else estimated_tokens
    rows = list(_rows(source, dialect, count))
    if format == "json":
        lines = [compact(row._asdict()) for row in rows]
    else:
        lines = [f"{row.tokens:8,}  {row.kind:8}{printable(row.id)}" for row in rows]
    total = sum(row.tokens for row in rows if row.kind == "tool")
    how = tokenizer or f"estimated at {BYTES_OF_TOKEN} bytes per token"
    return Outcome(code=0, output="\n".join(lines), summary=f"tokens {total:,} ({how})")


def _rows(source: ToolSource, dialect: str, count: Callable[[str], int]) -> Iterator[_Row]:
    """Yield the tools, the largest first, then the toolsets and the agents."""
    tokens = {id_: count(text) for id_, text in _texts(source, dialect).items()}
    for id_ in sorted(tokens, key=lambda id_: -tokens[id_]):
        yield _Row("tool", id_, tokens[id_])
    toolsets: dict[str, int] = {}
    for id_, number in tokens.items():
        toolset = id_.rpartition(".")[0]
        toolsets[toolset] = toolsets.get(toolset, 0) + number
    for toolset in sorted(filter(None, toolsets)):
        yield _Row("toolset", toolset, toolsets[toolset])
    for agent in agents_of(source):
        ids = [tool["id"] for tool in agent["tools"]]
        yield _Row("agent", agent["id"], sum(tokens.get(id_, 0) for id_ in ids))


def _texts(source: ToolSource, dialect: str) -> Mapping[str, str]:
    """Return the text of each tool in a request, by id; tools that the provider runs are not counted.

    Raises:
        ToolgenError: an entry of the catalog is wrong.
    """
    tools = list(tools_of(source))
    try:
        declared = declarations(tools, dialect or "openai").projections
    except EntryError as error:
        raise no_catalog(source, error) from error
    if dialect:
        return {tool.id or tool.tool: compact(tool.declaration) for tool in declared}
    entries = [tool if isinstance(tool, Mapping) else tool_entry(tool.record()) for tool in tools]
    return {str(entry.get("id") or entry["name"]): _text(entry) for entry in entries if "payload" in entry}


def _text(entry: Mapping[str, Any]) -> str:
    return declaration_text(entry["name"], str(entry.get("description", "")), entry["payload"]["schema"])


def _tokenizer(name: str) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text with an encoding of tiktoken.

    Raises:
        ToolgenError: tiktoken is not installed, or cannot load the encoding.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise ToolgenError(
            f"the tokenizer {name!r} needs the package tiktoken",
            hint="pip install tiktoken, or leave --tokenizer out for an estimate",
        ) from error
    try:
        encoding = tiktoken.get_encoding(name)
    except (ValueError, OSError) as error:
        raise ToolgenError(
            f"tiktoken cannot load the encoding {name!r}: {error}",
            hint=f"use one of {', '.join(tiktoken.list_encoding_names())}; it is downloaded once",
        ) from error
    return lambda text: len(encoding.encode(text, disallowed_special=()))

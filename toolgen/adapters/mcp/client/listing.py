"""The tools that a server lists, and how long the list is valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import mcp_types as types
from mcp import Client
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from toolgen.contract.json_value import Json, compact
from toolgen.contract.limits import DEFAULT_LIMITS, exceeded_limit
from toolgen.contract.mcp_lock import NEEDS_TASK, ListedFacts, contract_digest, listed_digest, needs_task

from .errors import MCPServerError, misfit_of, shortened

_MOST_PAGES: Final = 100
_MOST_ON_A_PAGE: Final = 2_000
"""Maximum number of tools of one page; the SDK validates a page at once."""
MOST_TOOLS: Final = 5_000
"""Maximum number of tools of one list, including unusable ones."""

_SHARED_NAME: Final = "the server lists two tools with this name; names must be unique (MCP, Tools)"


@dataclass(frozen=True, kw_only=True, eq=False)
class ServerListing:
    """Tool list of a server."""

    tools: tuple[types.Tool, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Reasons why other tools of the list cannot be used, by their shown names."""
    ttl_s: float | None = None
    """Seconds for which the server declares the list valid (MCP 2026-07-28, Caching); None if it does not."""

    @cached_property
    def _by_name(self) -> dict[str, types.Tool]:
        return {tool.name: tool for tool in self.tools}

    def digest_of(self, name: str) -> str | None:
        """Return the digest of a tool by its name on the server; None if it is not listed."""
        tool = self._by_name.get(name)
        return None if tool is None else tool_digest(tool)

    def pin_of(self, name: str) -> str | None:
        """Return the digest of everything that is listed about a tool, including texts.

        None if it is not listed.
        """
        tool = self._by_name.get(name)
        return None if tool is None else pin_of(tool)


def facts_of(tool: types.Tool) -> ListedFacts:
    """Return a tool with the keys of the protocol."""
    facts: dict[str, Json] = tool.model_dump(by_alias=True, mode="json", exclude_none=True)
    return facts


def tool_digest(tool: types.Tool) -> str:
    """Return the digest of the parts of a tool that its callers rely on."""
    return contract_digest(facts_of(tool))


def pin_of(tool: types.Tool) -> str:
    """Return the digest of everything that is listed about a tool, including texts."""
    return listed_digest(facts_of(tool))


class Pages:
    """Pages of one list as they arrive, before the SDK validates them."""

    def __init__(self) -> None:
        self.left_out: dict[str, str] = {}
        """Reasons why tools cannot be used, by their shown names."""
        self._listed = 0

    @property
    def is_full(self) -> bool:
        """Whether the maximum number of tools has been read."""
        return self._listed >= MOST_TOOLS

    def usable(self, page: dict[str, Any], version: str) -> dict[str, Any]:
        """Return a page without unusable and surplus tools; `left_out` records the reasons.

        Unusable tools are too large, can only be called as tasks, or violate the protocol version. Tools of
        the last kind stay in the page if something else in the page is wrong.
        """
        listed = page["tools"][: min(_MOST_ON_A_PAGE, MOST_TOOLS - self._listed)]
        if further := len(page["tools"]) - len(listed):
            most = f"only {_MOST_ON_A_PAGE} tools of a page and {MOST_TOOLS} of a list are read"
            self.left_out[f"{further} after {_shown(listed[-1]) if listed else 'these'}"] = most
        self._listed += len(listed)
        tools = []
        for tool in listed:
            if (reason := _unusable(tool)) is None:
                tools.append(tool)
            else:
                self.left_out[_shown(tool)] = reason
        page = {**page, "tools": tools}
        if _misfit({**page}, version) is None or _misfit({**page, "tools": []}, version) is not None:
            return page
        fitting = []
        for tool in tools:
            if (misfit := _misfit({**page, "tools": [tool]}, version)) is None:
                fitting.append(tool)
            else:
                self.left_out[_shown(tool)] = misfit
        return {**page, "tools": fitting}


def _shown(tool: object) -> str:
    return shortened(str(tool.get("name") if isinstance(tool, dict) else tool))


def _unusable(tool: object) -> str | None:
    """Return why a tool cannot be used: it is too large, or can only be called as a task."""
    exceeded = exceeded_limit(compact(tool).encode(), DEFAULT_LIMITS)  # type: ignore[arg-type]  # it was JSON
    if exceeded is not None:
        return f"it {exceeded.message}"  # validation would take long
    return NEEDS_TASK if needs_task(tool) else None


def _misfit(page: dict[str, Json], version: str) -> str | None:
    try:
        validate_server_result("tools/list", version, page)
    except ValidationError as error:
        return misfit_of(error)
    return None


async def read_listing(client_of: Callable[[], Client], name: str, pages: Pages) -> ServerListing:
    """Return the list from its pages, which `pages` has filtered, until it is full.

    `client_of` returns the client of a session that is still open.

    Raises:
        MCPServerError: The list has no end, or `client_of` raises it.
        MCPError: The server answered with an error.
    """
    tools: dict[str, types.Tool] = {}
    twice: set[str] = set()
    cursor: str | None = None
    ttl_s: float | None = None
    for _ in range(_MOST_PAGES):
        client = client_of()  # each time, because the session can have ended after the last page
        page = await client.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        for tool in page.tools:
            if tools.setdefault(tool.name, tool) != tool:  # another page may repeat it unchanged
                pages.left_out[shortened(tool.name)] = _SHARED_NAME
                twice.add(tool.name)
        if client.session.discover_result is not None:
            page_ttl_s = page.ttl_ms / 1000
            ttl_s = page_ttl_s if ttl_s is None else min(ttl_s, page_ttl_s)
        cursor = page.next_cursor
        if cursor is not None and pages.is_full:
            pages.left_out.setdefault("tools on further pages", f"only {MOST_TOOLS} tools of a list are read")
        if cursor is None or pages.is_full:
            unique = tuple(tool for tool in tools.values() if tool.name not in twice)
            return ServerListing(tools=unique, left_out=pages.left_out, ttl_s=ttl_s)
    raise MCPServerError(f"the MCP server {name!r} never ends its list of tools: {len(tools)} so far")

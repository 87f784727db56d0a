"""The tools that a server lists, and for how long the list is good."""

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
from toolgen.contract.mcp_lock import NEEDS_TASK, ListedFacts, contract_digest, needs_task

from .errors import MCPServerError, misfit_of, shortened

_MOST_PAGES: Final = 100
_MOST_TOOLS: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What a server listed."""

    tools: tuple[types.Tool, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Why other tools of the list cannot be used, by their shown names."""
    ttl_s: float | None = None
    """Seconds for which the server says that it is good (MCP 2026-07-28, Caching); None where it does not."""

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digest of each tool, by the name that the server gives it."""
        return {tool.name: tool_digest(tool) for tool in self.tools}


def facts_of(tool: types.Tool) -> ListedFacts:
    """Return a tool by the keys of the protocol."""
    facts: dict[str, Json] = tool.model_dump(by_alias=True, mode="json", exclude_none=True)
    return facts


def tool_digest(tool: types.Tool) -> str:
    """Return the digest of what callers of a tool rely on."""
    return contract_digest(facts_of(tool))


def without_misfits(page: dict[str, Any], version: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a page of a list of tools without those that cannot be used, and why not, by their names.

    Those are too large, can be called as tasks alone, or are not of the protocol's version. The latter stay
    where something else is wrong with the page.
    """
    left_out: dict[str, str] = {}
    tools = []
    for tool in page["tools"]:
        if (reason := _unusable(tool)) is None:
            tools.append(tool)
        else:
            left_out[_shown(tool)] = reason
    page = {**page, "tools": tools}
    if _misfit({**page}, version) is None or _misfit({**page, "tools": []}, version) is not None:
        return page, left_out
    fitting = []
    for tool in tools:
        if (misfit := _misfit({**page, "tools": [tool]}, version)) is None:
            fitting.append(tool)
        else:
            left_out[_shown(tool)] = misfit
    return {**page, "tools": fitting}, left_out


def _shown(tool: object) -> str:
    return shortened(str(tool.get("name") if isinstance(tool, dict) else tool))


def _unusable(tool: object) -> str | None:
    """Return why a tool cannot be used: it is too large, or is not called as others are."""
    exceeded = exceeded_limit(compact(tool).encode(), DEFAULT_LIMITS)  # type: ignore[arg-type]  # it was JSON
    if exceeded is not None:
        return f"it {exceeded.message}"  # to validate it takes long
    return NEEDS_TASK if needs_task(tool) else None


def _misfit(page: dict[str, Any], version: str) -> str | None:
    try:
        validate_server_result("tools/list", version, page)
    except ValidationError as error:
        return misfit_of(error)
    return None


async def read_listing(client_of: Callable[[], Client], name: str) -> Listing:
    """Return all pages of the list; `client_of` returns the client of a session that is still open.

    Raises:
        MCPServerError: it has no end, or one tool stands in it twice; or as `client_of`.
        MCPError: the server answered with an error.
    """
    tools: dict[str, types.Tool] = {}
    cursor: str | None = None
    ttl_s: float | None = None
    for _ in range(_MOST_PAGES):
        client = client_of()  # anew: the session may have ended after the last page
        page = await client.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        for tool in page.tools:
            if tool.name in tools:
                raise MCPServerError(
                    f"the MCP server {name!r} lists the tool {shortened(tool.name)!r} twice",
                    hint="names are unique in a server (MCP, Tools)",
                )
            tools[tool.name] = tool
        if client.session.discover_result is not None:
            page_ttl_s = page.ttl_ms / 1000
            ttl_s = page_ttl_s if ttl_s is None else min(ttl_s, page_ttl_s)
        cursor = page.next_cursor
        if cursor is None:
            return Listing(tools=tuple(tools.values()), ttl_s=ttl_s)
        if len(tools) > _MOST_TOOLS:
            break
    raise MCPServerError(f"the MCP server {name!r} lists tools without an end: {len(tools)} so far")

"""Ids and wire names of foreign toolsets that other tools of the request have: they are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .dynamic import ToolList


def without_clashes(lists: Sequence[ToolList]) -> list[ToolList]:
    """Return the lists without each foreign tool whose id or wire name another tool has, with the reason.

    Tools of the host's own go first, then those of foreign toolsets in the order in which they were added: a
    server cannot take the name of a tool that is not its own. Clashes of the host's own tools stay.
    """
    owners = {
        key: listed.toolset
        for listed in lists
        if not listed.is_foreign
        for tool in listed.tools
        for key in (tool.spec.id, tool.spec.name)
    }
    return [_without_taken(listed, owners) if listed.is_foreign else listed for listed in lists]


def _without_taken(listed: ToolList, owners: dict[str, str]) -> ToolList:
    """Return the list without the tools whose names have owners; the others get the list as theirs."""
    tools, left_out = [], dict(listed.left_out)
    for tool in listed.tools:
        keys = (tool.spec.id, tool.spec.name)
        if taken := next((key for key in keys if key in owners), None):
            left_out[tool.spec.id] = f"toolset {owners[taken]!r} has a tool {taken!r} already"
        else:
            owners.update(dict.fromkeys(keys, listed.toolset))
            tools.append(tool)
    return replace(listed, tools=tuple(tools), left_out=left_out)

"""The tool IDs that hooks and rules name: the runtime refuses to start with an unknown ID."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from ..errors import RegistrationError

if TYPE_CHECKING:
    from .hooks import Hook


class HookTools:
    """The tool IDs that hooks and a policy's rules name, and the tool IDs of the toolsets.

    An ID is known if it belongs to a registered tool, or if a dynamic toolset declares that it may list it
    (`tool_ids`). If a dynamic toolset declares nothing, every ID that begins with the name of the toolset is
    known.
    """

    def __init__(self, hooks: Iterable[Hook], rules: Iterable[str] = ()) -> None:
        self._namers = dict.fromkeys(sorted(rules), "a rule")
        """The hook or rule, by the ID that it names."""
        self._namers |= {
            tool: f"hook {type(hook).__name__}" for hook in hooks for tool in sorted(hook.tools or ())
        }
        self._tool_ids: set[str] = set()
        self._silent: set[str] = set()
        """Names of dynamic toolsets that do not declare which tools they may list."""
        self.is_settled = not self._namers
        """Whether all named IDs are known."""

    def add(self, tools: Iterable[str]) -> None:
        """Record that tools with these IDs exist, or may be listed."""
        self._tool_ids.update(tools)

    def add_silent(self, toolset: str) -> None:
        """Record a dynamic toolset that does not declare its tool IDs, so any ID in it may exist."""
        self._silent.add(toolset)

    def require_all_known(self) -> None:
        """Check the tools that hooks and rules name.

        Raises:
            RegistrationError: a hook or a rule names a tool that cannot exist.
        """
        if self.is_settled:
            return
        for tool, namer in self._namers.items():
            if tool not in self._tool_ids and _toolset(tool) not in self._silent:
                raise RegistrationError(
                    f"{namer} names the tool {tool!r}, which does not exist", hint=self._hint(tool)
                )
        self.is_settled = True

    def missing(self, listed: Mapping[str, Collection[str]]) -> str:
        """Return an error text for a hook or a rule whose tool is missing in a toolset's list; "" for none.

        `listed` are the IDs by toolset. A toolset that lists nothing is skipped, because none of its tools
        can run without the hooks.
        """
        for tool, namer in self._namers.items():
            ids = listed.get(_toolset(tool), ())
            if ids and tool not in self._tool_ids and tool not in ids:
                return f"{namer} names the tool {tool!r}, which toolset {_toolset(tool)!r} does not list"
        return ""

    def _hint(self, tool: str) -> str:
        ids = sorted(self._tool_ids)
        near = [id_ for id_ in ids if id_.endswith(f".{tool}")] or difflib.get_close_matches(tool, ids, 1)
        if near:
            return f"did you mean {near[0]!r}?"
        return "register the toolset before the runtime opens or serves its first call"


def _toolset(tool: str) -> str:
    return tool.rpartition(".")[0]

"""The wire names of the tools of all registered toolsets: those that several tools have get a prefix.

A design may have a tool `search` in each of two toolsets. Where all tools of a runtime are advertised at
once, a model needs a name for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..specs import ToolSpec
from .dynamic import WIRE_NAME, ToolList

if TYPE_CHECKING:
    from ..steps.registered_tool import RuntimeOptions

Prefix = Callable[[ToolSpec[Any, Any]], str]

_PREFIXES: Final[tuple[Prefix, ...]] = (
    lambda spec: spec.toolset.rpartition(".")[2],
    lambda spec: spec.toolset.replace(".", "_"),
)
"""The toolset; where that is not enough, the service and the toolset."""


def with_own_names(lists: Sequence[ToolList], options: RuntimeOptions) -> tuple[ToolList, ...]:
    """Return the lists with a prefix before each wire name that tools of several toolsets have.

    All tools of such a name get one, the first too, so that names do not depend on the order of registration.
    Names that no prefix tells apart stay as they are.
    """
    names = prefixed_names([tool.spec for listed in lists for tool in listed.tools])
    if not names:
        return tuple(lists)
    return tuple(
        replace(
            listed,
            tools=tuple(
                tool.with_spec(replace(tool.spec, name=names[tool.spec.id]), options)
                if tool.spec.id in names
                else tool
                for tool in listed.tools
            ),
        )
        for listed in lists
    )


def prefixed_names(specs: Sequence[ToolSpec[Any, Any]]) -> Mapping[str, str]:
    """Return the wire names, by id, of those tools whose wire name another one has, where a prefix helps."""
    by_name: dict[str, list[ToolSpec[Any, Any]]] = {}
    for spec in specs:
        by_name.setdefault(spec.name, []).append(spec)
    taken = set(by_name)
    names: dict[str, str] = {}
    for name in sorted(name for name, same in by_name.items() if len(same) > 1):
        for prefix in _PREFIXES:
            chosen = {spec.id: f"{prefix(spec)}_{name}" for spec in by_name[name]}
            if _are_free(chosen, len(by_name[name]), taken):
                names |= chosen
                taken.update(chosen.values())
                break
    return names


def _are_free(chosen: Mapping[str, str], count: int, taken: set[str]) -> bool:
    """Return whether these are `count` names of their own that all model providers take."""
    distinct = set(chosen.values())
    return len(distinct) == count and distinct.isdisjoint(taken) and all(map(WIRE_NAME.fullmatch, distinct))

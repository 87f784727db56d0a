"""The facts of a tool that are the same in the design, in its catalogue and at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .json_value import Json
from .names import Hint
from .presentation import Deprecation, Icon


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """The facts of a tool that are plain values: no types, codecs or schemas.

    A checked tool and a catalogue record hold them. The spec of a tool extends them, for generated code
    gives them to its constructor by keyword.
    """

    title: str = ""
    """For people."""
    description: str
    icons: tuple[Icon, ...] = ()
    """Pictures of the tool, for user interfaces."""
    deprecated: Deprecation | None = None
    """Why the tool should not be used any more, and which one should."""
    tags: tuple[str, ...] = ()
    """The toolset's first, then the tool's own."""
    annotations: Mapping[Hint, bool] = field(default_factory=dict)
    """The hints that the author set."""
    meta: Mapping[str, Json] = field(default_factory=dict)
    timeout: float | None = None
    """Seconds that one execution may take."""
    is_sequential: bool = False
    """Runs alone among the sequential tools of its runtime."""
    is_terminal: bool = False
    """Its result ends the turn."""
    is_bookkeeping: bool = False
    """Its calls count against no limit of a run."""
    instructions: str = ""
    """Instructions for the model."""
    reminder: str = ""
    """A reminder for the model, after each result."""
    call_hint: str = ""
    """For people, before the call; `{field}` stands for an argument."""
    result_hint: str = ""
    """For people, after it; `{field}` stands for a field of the result."""
    needs: tuple[str, ...] = ()
    """Capabilities that its executor uses."""

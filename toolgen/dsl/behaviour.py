"""The behaviour of a tool: approval, time, order, and texts for people and models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolgen.contract.json_value import Json

from .clause import Clause, Names, Sentence, Span
from .composites import Object, Type

Value: TypeAlias = bool | int | float | str
"""What an argument is compared with."""


class Confirm(Clause):
    """A person must approve the call, or each call whose arguments have one of these values.

    Example: `d.Confirm(hint="Reset {device_id}?", when={"mode": ("hard", "factory")})`
    """

    hint: Final[str]
    when: Final[Mapping[str, Value | tuple[Value, ...]]]
    payload: Final[Type | Object | str | None]
    """What the person may add to an approval."""
    grantable: Final[bool]
    """Whether an approval may count for further calls of the session."""

    def __init__(
        self,
        hint: str = "",
        *,
        when: Mapping[str, Value | tuple[Value, ...]] | None = None,
        payload: Type | Object | str | None = None,
        grantable: bool = False,
    ) -> None:
        super().__init__()
        self.hint = hint
        self.when = {} if when is None else when
        self.payload = payload
        self.grantable = grantable


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LongRunning(Clause):
    """The tool may answer later: with an acknowledgement first, with progress, and at last with its Return.

    Example: `d.LongRunning(progress=d.Object(d.Attribute("percent", d.Int, "What is done.", required=True)))`
    """

    ack: Type | Object | str | None = None
    progress: Type | Object | str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Timeout(Clause):
    """The most time that one execution may take: `500ms`, `30s`, `2m` or `1h`, at most 24 hours.

    Example: `d.Timeout("30s")`
    """

    limit: Span


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Sequential(Clause):
    """The tool never runs beside another sequential one: in the process, the session or for one thing.

    Example: `d.Sequential(by="session")`
    """

    by: str | None = None
    """What calls have in common that take turns: `session`, or an argument of the toolset's tools."""


class Terminal(Clause):
    """The result of the tool ends the turn: the model is not asked to put it into words.

    Example: `d.Terminal()`
    """


class Bookkeeping(Clause):
    """Calls of the tool count against no limit of a run.

    Example: `d.Bookkeeping()`
    """


class Needs(Names):
    """Capabilities that the executor uses; a tool whose runtime lacks one is not registered.

    Example: `d.Needs("state", "artifacts")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Instructions(Clause):
    """Instructions for the model, shown with the tool, with all tools of the toolset, or by the agent.

    Example: `d.Instructions("Look for a device before you switch it.")`
    """

    text: Sentence


@dataclass(frozen=True, eq=False, repr=False)
class ResultReminder(Clause):
    """A reminder for the model, shown after each result.

    Example: `d.ResultReminder("Readings are in UTC.")`
    """

    text: Sentence


@dataclass(frozen=True, eq=False, repr=False)
class CallHint(Clause):
    """Text for people while the tool runs; a name in braces stands for an argument.

    Example: `d.CallHint("Searching for {query}")`
    """

    template: Sentence


@dataclass(frozen=True, eq=False, repr=False)
class ResultHint(Clause):
    """Text for people when the tool is done. A name in braces stands for a field of the result.

    Example: `d.ResultHint("{returned} of {total}")`
    """

    template: Sentence


class NativeTool(Clause):
    """A tool that the model's provider runs itself; toolgen passes it on as data.

    Example: `d.NativeTool("openai", "web_search", {"search_context_size": "low"})`
    """

    provider: Final[str]
    kind: Final[str]
    config: Final[Mapping[str, Json]]

    def __init__(self, provider: str, kind: str, config: Mapping[str, Json] | None = None) -> None:
        super().__init__()
        self.provider = provider
        self.kind = kind
        self.config = {} if config is None else config

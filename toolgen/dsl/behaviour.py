"""The behaviour of a tool: approval, time, order, and texts for people and models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from toolgen.contract.json_value import Json

from .clause import Clause, Sentence, Span
from .composites import Object, Type

Value: TypeAlias = bool | int | float | str
"""What an argument is compared with."""


class Confirm(Clause):
    """A person must approve the call, or each call whose arguments have one of these values.

    Example: `Confirm(hint="Reset {device_id}?", when={"mode": ("hard", "factory")})`
    """

    hint: Final[str]
    when: Final[Mapping[str, Value | tuple[Value, ...]]]
    payload: Final[Type | Object | str | None]
    """What the person may add to an approval."""

    def __init__(
        self,
        hint: str = "",
        *,
        when: Mapping[str, Value | tuple[Value, ...]] | None = None,
        payload: Type | Object | str | None = None,
    ) -> None:
        super().__init__()
        self.hint = hint
        self.when = {} if when is None else when
        self.payload = payload


class LongRunning(Clause):
    """The tool may answer later: with an acknowledgement first, with progress, and at last with its Return.

    Example: `LongRunning(progress=Object(Attribute("percent", Int, "How much is done.", required=True)))`
    """

    ack: Final[Type | Object | str | None]
    progress: Final[Type | Object | str | None]

    def __init__(
        self, *, ack: Type | Object | str | None = None, progress: Type | Object | str | None = None
    ) -> None:
        super().__init__()
        self.ack = ack
        self.progress = progress


class Timeout(Clause):
    """The most time that one execution may take: `500ms`, `30s`, `2m` or `1h`, at most 24 hours.

    Example: `Timeout("30s")`
    """

    limit: Final[Span]

    def __init__(self, limit: str) -> None:
        super().__init__()
        self.limit = limit


class Sequential(Clause):
    """The tool never runs beside another sequential one: in the process, the session or for one thing.

    Example: `Sequential(by="session")`
    """

    by: Final[str | None]
    """What calls have in common that take turns: `session`, or an argument of the toolset's tools."""

    def __init__(self, *, by: str | None = None) -> None:
        super().__init__()
        self.by = by


class Terminal(Clause):
    """The result of the tool ends the turn: the model is not asked to put it into words.

    Example: `Terminal()`
    """


class Bookkeeping(Clause):
    """Calls of the tool count against no limit of a run.

    Example: `Bookkeeping()`
    """


class Needs(Clause):
    """Capabilities that the executor uses; a tool whose runtime lacks one is not registered.

    Example: `Needs("state", "artifacts")`
    """

    names: Final[tuple[str, ...]]

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names


class Instructions(Clause):
    """Instructions for the model, shown with the tool, or with all tools of the toolset.

    Example: `Instructions("Look for a device before you switch it.")`
    """

    text: Final[Sentence]

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class ResultReminder(Clause):
    """A reminder for the model, shown after each result.

    Example: `ResultReminder("Readings are in UTC.")`
    """

    text: Final[Sentence]

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class CallHint(Clause):
    """Text for people while the tool runs; a name in braces stands for an argument.

    Example: `CallHint("Searching for {query}")`
    """

    template: Final[Sentence]

    def __init__(self, template: str) -> None:
        super().__init__()
        self.template = template


class ResultHint(Clause):
    """Text for people when the tool is done; a name in braces stands for a field of the result.

    Example: `ResultHint("{returned} of {total}")`
    """

    template: Final[Sentence]

    def __init__(self, template: str) -> None:
        super().__init__()
        self.template = template


class NativeTool(Clause):
    """A tool that the model's provider runs itself; toolgen passes it on as data.

    Example: `NativeTool("openai", "web_search", {"search_context_size": "low"})`
    """

    provider: Final[str]
    kind: Final[str]
    config: Final[Mapping[str, Json]]

    def __init__(self, provider: str, kind: str, config: Mapping[str, Json] | None = None) -> None:
        super().__init__()
        self.provider = provider
        self.kind = kind
        self.config = {} if config is None else config

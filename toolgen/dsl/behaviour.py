"""The behaviour of a tool: approval, time, order, and texts for people and models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolgen.contract.json_value import Json

from .clause import Clause, Names, Sentence, Span
from .composites import Object, Type

Value: TypeAlias = bool | int | float | str
"""Value that an argument is compared with."""


class Confirm(Clause):
    """Require a person's approval before the tool runs.

    toolgen stores the call until somebody answers, and then executes exactly the approved arguments. If
    nobody can be asked, it denies the call. The class of a payload that you write in place is
    `<Tool>Approval`; the executor reads it with `ctx.answered(<Tool>Approval)`. See docs/approvals.md.

    Args:
        hint: Question for the approver; `{name}` stands for an argument. By default, `Run <title>?`.
        when: Request approval only if each of these arguments has the value, or one of the values in a tuple.
        payload: Object with values that the approver can add; a string is the name of a type.
        grantable: Whether one answer can approve further calls of the session. Exclusive with `payload`.

    Example: `d.Confirm(hint="Reset {device_id}?", when={"mode": ("hard", "factory")})`
    """

    hint: Final[str]
    when: Final[Mapping[str, Value | tuple[Value, ...]]]
    payload: Final[Type | Object | str | None]
    grantable: Final[bool]

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
    """Let the tool deliver its result later.

    The executor can return `ToolOutcome.pending(handle, ack)`. The model reads the acknowledgement and
    continues, and `Runtime.suspensions.answer` delivers the result days later, also from another process.
    Objects that you write in place have the classes `<Tool>Ack` and `<Tool>Progress`. See
    docs/long-running.md.

    Args:
        ack: Object that the model receives at once. Without it, the turn waits for the result.
        progress: Object that the tool emits while it works.

    Example: `d.LongRunning(progress=d.Object(d.Attribute("percent", d.Int, "In percent.", required=True)))`
    """

    ack: Type | Object | str | None = None
    progress: Type | Object | str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Timeout(Clause):
    """Limit the time of one execution.

    The runtime cancels an execution that takes longer, and gives it one second to end. The model then reads
    that the call timed out: it can retry a read-only or idempotent tool, and the outcome of any other tool is
    unknown. Time spent waiting for an approval or for a `Sequential` turn does not count.

    Args:
        limit: A number with the unit `ms`, `s`, `m` or `h`, at most 24 hours.

    Example: `d.Timeout("30s")`
    """

    limit: Span


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Sequential(Clause):
    """Run calls of the tool one at a time.

    Calls of sequential tools that share a turn run one after another; other calls run in parallel. An
    executor that outlives its timeout or cancellation keeps its turn until it ends, but the next call waits
    for it at most a minute. Across workers, only the calls of one batch of an agent take turns.

    Args:
        by: Which calls share a turn. By default, all calls of the process; `session` for those of one
            session; the name of an argument for those with the same value, across the tools of the toolset
            that have it.

    Example: `d.Sequential(by="session")`
    """

    by: str | None = None


class Terminal(Clause):
    """End the turn with the result of the tool.

    The model is not called again to comment on the result.

    Example: `d.Terminal()`
    """


class Bookkeeping(Clause):
    """Exclude the tool from the limits of a run.

    Use it for tools that store notes or plans.

    Example: `d.Bookkeeping()`
    """


class Needs(Names):
    """Require capabilities of the runtime.

    The executor uses them through its `ctx`. Registering the tool in a runtime that lacks one raises an
    error.

    Args:
        *names: `state`, `artifacts`, `memory`, or the names of the host's own capabilities.

    Example: `d.Needs("state", "artifacts")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Instructions(Clause):
    """Add instructions for the model.

    In a tool, they are part of its spec. In a toolset, the model reads them with all of its tools. In an
    agent, they replace the description, and `{user:name}` stands for a value of the state. See
    docs/models.md#instructions.

    Args:
        text: The instructions; indentation is removed.

    Example: `d.Instructions("Look for a device before you switch it.")`
    """

    text: Sentence


@dataclass(frozen=True, eq=False, repr=False)
class ResultReminder(Clause):
    """Remind the model of something after each result.

    Args:
        text: The reminder, which the model receives separately from the data.

    Example: `d.ResultReminder("Readings are in UTC.")`
    """

    text: Sentence


@dataclass(frozen=True, eq=False, repr=False)
class CallHint(Clause):
    """Describe a running call to people.

    Args:
        template: Text, in which `{name}` stands for an argument and `{{` for a brace. Long values are
            shortened and absent ones omitted. Injected fields are not available.

    Example: `d.CallHint("Searching for {query}")`
    """

    template: Sentence


@dataclass(frozen=True, eq=False, repr=False)
class ResultHint(Clause):
    """Describe a completed call to people.

    The executor can return a different text with the result.

    Args:
        template: Text, in which `{name}` stands for a field of the result and `{{` for a brace.

    Example: `d.ResultHint("{returned} of {total}")`
    """

    template: Sentence


class NativeTool(Clause):
    """Tool that the model's provider executes.

    It has no arguments, result or executor. The catalog has an entry of the kind `native`, and the package of
    the toolset the constant `NATIVE_TOOLS`. A toolset can consist only of native tools. See
    docs/agents.md#provider-tools.

    Args:
        provider: Name of the provider, for example `openai`.
        kind: Name of the tool at the provider.
        config: Configuration, which toolgen passes to the provider unchanged.

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

"""Hooks: the host's own code before and after tools and models, and where they fail.

A hook says what happens next by one of four values. It says it for the tools that it is for, in the order
in which the hooks were given. One that raises, or says nothing, fails the call and not the process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Set
from typing import Any, ClassVar, Final, TypeAlias

from toolgen.contract.record import record

from ..calls import ToolCall
from ..context import ToolContext
from ..errors import RegistrationError, ToolError
from ..results import ToolResult


@record
class Continue:
    """Go on; with a payload, go on with this one, which is checked again."""

    payload: Any = None


@record
class Answer:
    """This is the result, a typed one or a `ToolOutcome`; what stands in its place does not happen."""

    result: Any


@record
class Deny:
    """The call must not run; the model is told why."""

    message: str


@record
class Abort:
    """The call has failed, with this error."""

    error: ToolError


Verdict: TypeAlias = Continue | Answer | Deny | Abort


class Hook:
    """What stands around calls. Override what is needed; each method goes on as it is.

    The methods of models take and give the host's own requests and responses.
    """

    tools: ClassVar[frozenset[str] | None] = None
    """Ids of the tools that it is for, such as those of a generated `ToolId`; None for all.

    The runtime refuses to serve with an id that no tool has.
    """

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        """Decide before anything runs; injected fields are not there yet."""
        return Continue()

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        """See a result, or put another one in its place with `Answer`; none can be taken away.

        A suspended call comes here when it has its result. A denied one stays denied: `Deny` puts it in
        other words, everything else than `Continue` goes to the log.
        """
        return Continue()

    async def on_tool_error(self, call: ToolCall, error: ToolError, ctx: ToolContext) -> Verdict:
        """See a failure of the tool, or recover from it with `Answer`."""
        return Continue()

    async def before_model(self, request: Any) -> Verdict:
        return Continue()

    async def after_model(self, request: Any, response: Any) -> Verdict:
        return Continue()

    async def on_model_error(self, request: Any, error: BaseException) -> Verdict:
        return Continue()


Step: TypeAlias = Callable[..., Awaitable[Verdict]]

_METHODS: Final = (
    "before_tool",
    "after_tool",
    "on_tool_error",
    "before_model",
    "after_model",
    "on_model_error",
)


def steps(hooks: Iterable[Hook], method: str, tool: str | None = None) -> tuple[Step, ...]:
    """Return the methods of the hooks that were overridden, of those that are for the tool."""
    return tuple(
        getattr(hook, method)
        for hook in hooks
        if getattr(type(hook), method) is not getattr(Hook, method)
        and (tool is None or hook.tools is None or tool in hook.tools)
    )


def checked_hook(hook: Hook) -> Hook:
    """Return the hook.

    Raises:
        RegistrationError: it is a class, or no `Hook`, or what it names are no ids.
    """
    if isinstance(hook, type):
        raise RegistrationError(
            f"hook {hook.__name__} is a class", hint=f"give an instance: {hook.__name__}()"
        )
    if not isinstance(hook, Hook):
        raise RegistrationError(
            f"{type(hook).__name__} is no Hook", hint="derive its class from toolgen.runtime.Hook"
        )
    named: object = hook.tools
    if named is not None and not (
        isinstance(named, Set) and named and all(isinstance(one, str) for one in named)
    ):
        raise RegistrationError(
            f"{type(hook).__name__}.tools is {named!r}, not a frozenset of ids of tools",
            hint='write tools = frozenset({"service.toolset.tool"}), or None for all',
        )
    return hook


async def told(step: Callable[..., Awaitable[object]], *arguments: Any) -> Verdict:
    """Return what a hook says.

    Raises:
        TypeError: it says none of the four, or aborts with what is no `ToolError`.
    """
    verdict = await step(*arguments)
    name = getattr(step, "__qualname__", repr(step))
    if isinstance(verdict, Abort) and not isinstance(verdict.error, ToolError):
        raise TypeError(f"{name} aborts with a {type(verdict.error).__name__}, not a ToolError")
    if not isinstance(verdict, Continue | Answer | Deny | Abort):
        raise TypeError(
            f"{name} returned {type(verdict).__name__}; a hook returns Continue, Answer, Deny or Abort"
        )
    return verdict

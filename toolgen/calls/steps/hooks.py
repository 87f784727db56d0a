"""Hooks: the host's own code before and after tools and models, and where they fail.

A hook says what happens next by one of four values. It says it for the tools that it is for, in the order
in which the hooks were given. One that raises, or says nothing, fails the call and not the process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Set
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar

from toolgen.contract.boundary import run_with_timeout
from toolgen.contract.record import frozen_record, record

from ..errors import RegistrationError, ToolError

if TYPE_CHECKING:
    from ..call import ToolCall
    from ..context import ToolContext
    from ..results import Suspended, ToolResult

C = TypeVar("C")
S = TypeVar("S")
R = TypeVar("R")
T = TypeVar("T")


@record
class Continue:
    """Continue with the next step; a given payload replaces the current one and is validated again."""

    payload: Any = None


@record
class Answer:
    """Use this result, a typed one or a `ToolOutcome`, instead of the step."""

    result: Any


@record
class Deny:
    """Do not run the call; the model gets the reason."""

    message: str


@record
class Abort:
    """End the call with this error."""

    error: ToolError


Verdict: TypeAlias = Continue | Answer | Deny | Abort

STRICTNESS: Final = (Continue, Answer, Abort, Deny)
"""The verdicts, the weakest first."""


class Hook:
    """Code of the host around calls, plannings and runs. Override methods as needed; the others do nothing.

    The methods of models and runs take and give the host's own requests and responses.
    """

    tools: ClassVar[frozenset[str] | None] = None
    """Ids of the tools that its methods of calls are for, such as those of a `ToolId`; None for all.

    The runtime refuses to serve with an id that no tool has.
    """

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        """Decide before anything runs; injected fields are not set yet."""
        return Continue()

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        """Inspect a result, or replace it with `Answer`; it cannot be removed.

        A suspended call comes here when it has its result. A denied one stays denied: `Deny` puts it in
        other words, everything else than `Continue` goes to the log.
        """
        return Continue()

    async def on_tool_error(self, call: ToolCall, error: ToolError, ctx: ToolContext) -> Verdict:
        """Inspect a failure of the tool, or recover from it with `Answer`."""
        return Continue()

    async def on_suspend(self, call: ToolCall, suspension: Suspended, ctx: ToolContext) -> Verdict:
        """Observe that a call waits for an answer. `suspension` has no token; the verdict changes nothing."""
        return Continue()

    async def on_resume(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        """Decide as `before_tool`, after an answer with which the call would go on.

        The arguments stay as a person has seen them.
        """
        return Continue()

    async def on_unknown_tool(self, call: ToolCall) -> Verdict:
        """Inspect a call of a tool that does not exist, or give it a result, which is any JSON."""
        return Continue()

    async def before_run(self, request: Any) -> Verdict:
        """Decide before the first planning of an agent's run; `Continue` cannot replace its request."""
        return Continue()

    async def after_run(self, output: Any) -> Verdict:
        """Hear how an agent's run ended, by its `RunOutput`. A verdict changes nothing."""
        return Continue()

    async def before_model(self, request: Any) -> Verdict:
        return Continue()

    async def after_model(self, request: Any, response: Any) -> Verdict:
        return Continue()

    async def on_model_error(self, request: Any, error: BaseException) -> Verdict:
        return Continue()


HookMethod: TypeAlias = Callable[..., Awaitable[Verdict]]


def overridden_methods(hooks: Iterable[Hook], method: str, tool: str | None = None) -> tuple[HookMethod, ...]:
    """Return the overridden methods of the hooks that apply to the tool, in order."""
    return tuple(
        getattr(hook, method)
        for hook in hooks
        if getattr(type(hook), method) is not getattr(Hook, method)
        and (tool is None or hook.tools is None or tool in hook.tools)
    )


def checked_hook(hook: Hook) -> Hook:
    """Validate a hook and return it.

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
        isinstance(named, Set) and named and all(isinstance(tool, str) for tool in named)
    ):
        raise RegistrationError(
            f"{type(hook).__name__}.tools is {named!r}, not a frozenset of ids of tools",
            hint='write tools = frozenset({"service.toolset.tool"}), or None for all',
        )
    return hook


@record
class Stop(Generic[R]):
    """The result that ends a stage: no further hook runs."""

    result: R


def _keep_subject(around: object, subject: T, payload: object) -> T:
    return subject


@frozen_record
class Stage(Generic[C, S, R]):
    """One point at which hooks run, and the effect of each verdict there.

    Each function takes what the hooks stand around (`C`), what they are asked about (`S`) and what the
    verdict holds. It returns what the next hook is asked about, or `Stop`.
    """

    on_continue: Callable[[C, S, Any], S] = _keep_subject
    on_answer: Callable[[C, S, Any], Awaitable[S | Stop[R]]]
    on_deny: Callable[[C, S, str], S | Stop[R]]
    on_abort: Callable[[C, S, ToolError], S | Stop[R]]

    async def run(
        self,
        hooks: Iterable[HookMethod],
        ask: Callable[[HookMethod, S], Awaitable[Verdict]],
        around: C,
        subject: S,
    ) -> S | Stop[R]:
        """Run the hooks and return the subject with their changes, or the result of the one that stops.

        Raises:
            Exception: what asking a hook raises, or what its verdict means here.
        """
        for hook in hooks:
            left = await self.apply(hook, await ask(hook, subject), around, subject)
            if isinstance(left, Stop):
                return left
            subject = left
        return subject

    async def apply(self, hook: HookMethod, verdict: Verdict, around: C, subject: S) -> S | Stop[R]:
        """Return what the verdict of one hook makes of the subject, or the result that stops.

        Raises:
            Exception: what the verdict means here.
        """
        checked_verdict(hook, verdict)
        match verdict:
            case Continue():
                payload = verdict.payload
                return subject if payload is None else self.on_continue(around, subject, payload)
            case Answer():
                return await self.on_answer(around, subject, verdict.result)
            case Deny():
                return self.on_deny(around, subject, verdict.message)
            case Abort():
                return self.on_abort(around, subject, verdict.error)


def checked_verdict(hook: HookMethod, verdict: object) -> Verdict:
    """Return the verdict of a hook.

    Raises:
        TypeError: it is none of the four, aborts with what is no `ToolError`, or denies without a text.
    """
    if not isinstance(verdict, STRICTNESS):
        raise TypeError(
            f"{_name(hook)} returned {type(verdict).__name__}; a hook returns Continue, Answer, Deny or Abort"
        )
    if isinstance(verdict, Abort) and not isinstance(verdict.error, ToolError):
        raise TypeError(f"{_name(hook)} aborts with a {type(verdict.error).__name__}, not a ToolError")
    if isinstance(verdict, Deny) and not isinstance(verdict.message, str):
        raise TypeError(
            f"{_name(hook)} denies with a {type(verdict.message).__name__}; a message must be a string"
        )
    return verdict


async def notify(hook: HookMethod, called: Awaitable[Verdict], limit_s: float | None) -> None:
    """Run a hook that decides nothing.

    Raises:
        BaseException: what it raises; a TypeError where it returned something else than `Continue()`.
    """
    verdict = checked_verdict(hook, await run_with_timeout(limit_s, called))
    if verdict != Continue():
        raise TypeError(f"{_name(hook)} returned {verdict!r}, which changes nothing; return Continue()")


def _name(hook: Callable[..., object]) -> str:
    return getattr(hook, "__qualname__", repr(hook))

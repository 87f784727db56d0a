"""Hooks: the host's own code around calls, model requests and runs.

A hook returns one of four verdicts. Hooks run in the order in which the host passes them. If a hook raises or
returns anything else, the call fails, and nothing else.
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
    """Continue with the next step."""

    payload: Any = None
    """New arguments, which are validated again; None for no change."""


@record
class Answer:
    """Use this result in place of the step."""

    result: Any
    """Typed result, or a `ToolOutcome`."""


@record
class Deny:
    """Deny the call: it does not run."""

    message: str
    """Reason, for the model."""


@record
class Abort:
    """End the call with an error."""

    error: ToolError
    """Error of the call."""


Verdict: TypeAlias = Continue | Answer | Deny | Abort
"""Return type of hooks."""

STRICTNESS: Final = (Continue, Answer, Abort, Deny)
"""The verdicts, weakest first."""


class Hook:
    """Base class of code around calls, model requests and runs. Override the methods that you need.

    The methods about models and runs receive the requests and outputs of `toolgen.agents`.
    """

    tools: ClassVar[frozenset[str] | None] = None
    """IDs of the tools whose calls the hook is for; None for all.

    If no tool has one of the IDs, the runtime raises `RegistrationError` and executes nothing.
    """

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        """Decide before a call: `Continue(payload=…)` replaces the arguments, any other verdict ends the
        call. Injected fields are not set yet.
        """
        return Continue()

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        """Inspect a result, or replace it with `Answer`. A denied call stays denied: `Deny` changes its
        message. A suspended call gets here when it has a result, and also with the acknowledgement of pending
        work.
        """
        return Continue()

    async def on_tool_error(self, call: ToolCall, error: ToolError, ctx: ToolContext) -> Verdict:
        """Inspect a failure of the tool, replace it with `Abort`, or recover from it with `Answer`."""
        return Continue()

    async def on_suspend(self, call: ToolCall, suspension: Suspended, ctx: ToolContext) -> Verdict:
        """Observe that a call was suspended. `suspension` has no token. Return `Continue()`."""
        return Continue()

    async def on_resume(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        """Decide as in `before_tool`, after an answer and before the executor runs. The arguments cannot be
        replaced, because a person has seen them.
        """
        return Continue()

    async def on_unknown_tool(self, call: ToolCall) -> Verdict:
        """Inspect a call of a tool that does not exist. `Answer` is its result, as any JSON value; `Deny` and
        `Abort` replace the error.
        """
        return Continue()

    async def before_run(self, request: Any) -> Verdict:
        """Decide before the first model request of each run of an agent, also one that answers a call: `Deny`
        and `Abort` fail the run, `Answer` is its first plan.
        """
        return Continue()

    async def after_run(self, output: Any) -> Verdict:
        """Observe the end of a run, with its `RunOutput`. Return `Continue()`."""
        return Continue()

    async def before_model(self, request: Any) -> Verdict:
        """Inspect or replace the request of a planner."""
        return Continue()

    async def after_model(self, request: Any, response: Any) -> Verdict:
        """Inspect or replace the plan of a planner."""
        return Continue()

    async def on_model_error(self, request: Any, error: BaseException) -> Verdict:
        """Inspect a failure of a planner, or recover from it with `Answer`."""
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
        RegistrationError: it is a class or not a `Hook`, or its `tools` are not tool IDs.
    """
    if isinstance(hook, type):
        raise RegistrationError(
            f"hook {hook.__name__} is a class, not an instance", hint=f"pass an instance: {hook.__name__}()"
        )
    if not isinstance(hook, Hook):
        raise RegistrationError(
            f"{type(hook).__name__} is not a Hook", hint="derive the class from toolgen.runtime.Hook"
        )
    named: object = hook.tools
    if named is not None and not (
        isinstance(named, Set) and named and all(isinstance(tool, str) for tool in named)
    ):
        raise RegistrationError(
            f"{type(hook).__name__}.tools is {named!r}, not a frozenset of tool ids",
            hint='write tools = frozenset({"service.toolset.tool"}), or None for all tools',
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

    Each function takes the surrounding object (`C`), the subject of the hooks (`S`) and the value of the
    verdict. It returns the subject for the next hook, or `Stop`.
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
        """Run the hooks and return the subject with their changes, or the result of the hook that stops.

        Raises:
            Exception: an exception of a hook, or the exception that its verdict stands for in this stage.
        """
        for hook in hooks:
            outcome = await self.apply(hook, await ask(hook, subject), around, subject)
            if isinstance(outcome, Stop):
                return outcome
            subject = outcome
        return subject

    async def apply(self, hook: HookMethod, verdict: Verdict, around: C, subject: S) -> S | Stop[R]:
        """Return the subject after the verdict of one hook, or the result that stops.

        Raises:
            Exception: the exception that the verdict stands for in this stage.
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
    """Return the verdict of a hook, checked.

    Raises:
        TypeError: it is not a verdict, `Abort` has no `ToolError`, or `Deny` has no text.
    """
    if not isinstance(verdict, STRICTNESS):
        raise TypeError(
            f"{_name(hook)} returned {type(verdict).__name__}; a hook must return Continue, Answer, "
            "Deny or Abort"
        )
    if isinstance(verdict, Abort) and not isinstance(verdict.error, ToolError):
        raise TypeError(
            f"{_name(hook)} returned Abort whose error has the type {type(verdict.error).__name__}; it "
            "must be a ToolError"
        )
    if isinstance(verdict, Deny) and not isinstance(verdict.message, str):
        raise TypeError(
            f"{_name(hook)} returned Deny whose message has the type {type(verdict.message).__name__}; it "
            "must be a string"
        )
    return verdict


async def notify(hook: HookMethod, called: Awaitable[Verdict], limit_s: float | None) -> None:
    """Run a hook that decides nothing.

    Raises:
        BaseException: an exception of the hook; a TypeError if it returned anything but `Continue()`.
    """
    verdict = checked_verdict(hook, await run_with_timeout(limit_s, called))
    if verdict != Continue():
        raise TypeError(f"{_name(hook)} returned {verdict!r}, which changes nothing; return Continue()")


def _name(hook: Callable[..., object]) -> str:
    return getattr(hook, "__qualname__", repr(hook))

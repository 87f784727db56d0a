"""Toolsets as they are passed to the runtime, and their checks before they serve a call."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from toolgen.contract.limits import DEFAULT_LIMITS, Limits, render_template
from toolgen.contract.names import CALL_META_NAMES
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import service_problems

from ..call import ToolCall
from ..context import ToolContext
from ..errors import RegistrationError
from ..results import Delegated, ToolResult, ToolReturn, Unfinished
from ..steps.hook_tools import HookTools
from ..steps.methods import context_problem, is_async, method_problem
from ..steps.registered_tool import Interceptor, ListDisabled, RegisteredTool, RuntimeOptions, problems_of

if TYPE_CHECKING:
    from toolgen.catalog.entry import ToolsetRecord

    from ..capability import Capability
    from ..specs import NativeTool, ToolSpec
    from ..steps.hooks import Hook, HookMethod
    from ..steps.policy import Policy
    from ..sync_context import ToolMethod

RawExecutor: TypeAlias = Callable[[ToolCall, ToolContext], Awaitable[ToolResult | Unfinished]]
"""Executes every tool of a toolset from the received call (Goa-AI's generic executor)."""


@frozen_record
class ToolsetRegistration:
    """A toolset and its executor. The generated `registration(executor)` creates it."""

    name: str
    """Name of the toolset, such as `home.devices`."""
    specs: Sequence[ToolSpec]
    """Specs of the tools."""
    executor: object
    """Object with one method per tool, an `AgentRoute`, or an async function of the raw call
    (`RawExecutor`)."""
    title: str = ""
    """Name for people."""
    instructions: str = ""
    """Instructions for the model."""
    native: Sequence[NativeTool] = ()
    """Tools that the model's provider executes."""
    is_default: bool = False
    """Whether generated code created the executor. Agents that share such a toolset share its first
    executor."""

    def record(self) -> ToolsetRecord:
        """Return the facts of the toolset in a catalog."""
        from toolgen.catalog.entry import ToolsetRecord

        agent = self.executor.agent if isinstance(self.executor, AgentRoute) else ""
        return ToolsetRecord(title=self.title, instructions=self.instructions, agent=agent)


@frozen_record
class AgentRoute:
    """The agent that implements a toolset; used instead of an executor."""

    agent: str
    """ID of the agent."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Message to the agent by tool ID; `{field}` is replaced with an argument.

    Without an entry, the message is the canonical JSON of the payload.
    """

    def method_of(self, spec: ToolSpec) -> Callable[[Any, ToolContext], Awaitable[Delegated]]:
        """Return the function of one tool; it returns the delegation to a run of the agent."""
        prompt = self.prompts.get(spec.id)

        async def delegate(payload: object, ctx: ToolContext) -> Delegated:
            document: bytes = spec.payload.encode(payload)
            text = document.decode()
            message = text if prompt is None else render_template(prompt, json.loads(document), longest=None)
            return Delegated(agent=self.agent, message=message)

        delegate.starts_run = True  # type: ignore[attr-defined]  # only starts a run: `may_repeat`
        return delegate


@frozen_record
class BoundTool:
    """A tool and its function. `func_tool` creates it."""

    spec: ToolSpec
    """Spec of the tool."""
    execute: ToolMethod[Any, ToolReturn[Any]] | RawExecutor
    """Function that executes the tool, with the payload and the context."""
    preview: Callable[[Any], str | Awaitable[str]] | None = None
    """Function that describes the effect of a payload for an approval."""
    is_raw: bool = False
    """Whether `execute` is a `RawExecutor`."""


def runtime_options(
    interceptors: Iterable[Interceptor],
    hooks: Iterable[Hook],
    capabilities: Iterable[Capability],
    *,
    policy: Policy | None,
    timeout: float | None,
    list_disabled: ListDisabled | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> RuntimeOptions:
    """Return the options of a runtime for every tool, from the host's arguments.

    Raises:
        RegistrationError: an item is not an interceptor or not a hook, an option is not a list, or two
            capabilities have the same name.
    """
    by_name = _by_unique_name(_listed("capabilities", capabilities))
    checked_hooks: tuple[Hook, ...] = tuple(_listed("hooks", hooks))
    unknown_tool_hooks: tuple[HookMethod, ...] = ()
    if checked_hooks:
        from ..steps.hooks import checked_hook, overridden_methods

        checked_hooks = tuple(map(checked_hook, checked_hooks))
        unknown_tool_hooks = overridden_methods(checked_hooks, "on_unknown_tool")
    return RuntimeOptions(
        interceptors=tuple(map(_checked, _listed("interceptors", interceptors))),
        hooks=checked_hooks,
        unknown_tool_hooks=unknown_tool_hooks,
        hook_tools=HookTools(checked_hooks, getattr(policy, "named_tools", ())),
        capabilities=by_name,
        has_policy=policy is not None,
        timeout=timeout,
        list_disabled=list_disabled,
        limits=limits,
    )


def _listed(option: str, values: Any) -> Iterable[Any]:
    """Return the values of an option of `Runtime`, checked.

    Raises:
        RegistrationError: they are not iterable.
    """
    if isinstance(values, Iterable):
        return values
    name = getattr(values, "__name__", type(values).__name__)
    raise RegistrationError(f"{option}= is {name}, not a list", hint=f"pass a list: {option}=[{name}(…)]")


def _checked(interceptor: Interceptor) -> Interceptor:
    """Validate an interceptor and return it.

    Raises:
        RegistrationError: it is a class, it names no fields or fields that the runtime fills, or its method
            `intercept` is missing or not asynchronous.
    """
    name = getattr(interceptor, "__name__", type(interceptor).__name__)
    fills: object = getattr(interceptor, "fills", None)
    if isinstance(interceptor, type):
        raise RegistrationError(
            f"interceptor {name} is a class, not an instance", hint=f"pass an instance: {name}(…)"
        )
    if not isinstance(fills, (frozenset, set)) or not fills:
        raise RegistrationError(
            f"{name}.fills is {fills!r}, not a frozenset of field names",
            hint='write fills = frozenset({"tenant"})',
        )
    if call_facts := fills.intersection(CALL_META_NAMES):
        raise RegistrationError(
            f"{name}.fills contains {', '.join(sorted(call_facts))}, which the runtime fills from the "
            "CallMeta",
            hint="set it in the CallMeta of the call",
        )
    intercept: object = getattr(interceptor, "intercept", None)
    if not is_async(intercept):
        fault = "missing" if intercept is None else "not asynchronous"
        raise RegistrationError(
            f"{name}.intercept is {fault}",
            hint="declare it with `async def intercept(self, call, payload)`",
        )
    return interceptor


def registered_tools(
    registration: ToolsetRegistration, options: RuntimeOptions
) -> tuple[RegisteredTool, ...]:
    """Return one registered tool for each tool of the toolset.

    Raises:
        RegistrationError: a method or a capability is missing, or no interceptor fills an injected field; the
            message lists all problems of the toolset.
    """
    problems: list[str] = []
    tools = _bound(registration, problems)
    of_specs = [problem for spec in registration.specs for problem in problems_of(spec, options)]
    problems += dict.fromkeys(of_specs)
    _raise_problems(registration.name, problems)
    return _register_bound(registration.name, tools, options)


def bound_tools(registration: ToolsetRegistration) -> tuple[BoundTool, ...]:
    """Return the tools of the toolset, each with its method of the executor.

    Raises:
        RegistrationError: methods are missing.
    """
    problems: list[str] = []
    tools = _bound(registration, problems)
    _raise_problems(registration.name, problems)
    return tools


def registered_bound_tools(
    name: str, tools: Iterable[BoundTool], options: RuntimeOptions
) -> tuple[RegisteredTool, ...]:
    """Return one registered tool for each tool that comes with its own function.

    Raises:
        RegistrationError: a capability is missing, or no interceptor fills an injected field.
    """
    tools = tuple(tools)
    problems = [problem for tool in tools for problem in problems_of(tool.spec, options)]
    problems += [problem for tool in tools if (problem := context_problem(tool.spec.name, tool.execute))]
    _raise_problems(name, problems)
    return _register_bound(name, tools, options)


def _register_bound(
    name: str, tools: tuple[BoundTool, ...], options: RuntimeOptions
) -> tuple[RegisteredTool, ...]:
    return tuple(
        RegisteredTool(
            tool.spec, tool.execute, raw=tool.is_raw, toolset=name, options=options, preview=tool.preview
        )
        for tool in tools
    )


def _bound(registration: ToolsetRegistration, problems: list[str]) -> tuple[BoundTool, ...]:
    """Return the tools whose method exists; add a problem for each other tool."""
    executor = registration.executor
    if isinstance(executor, type):
        problems.append(
            f"executor {executor.__name__} is a class, not an instance; pass an instance: "
            f"{executor.__name__}(…)"
        )
        return ()
    problems += service_problems(executor)
    raw = is_async(executor)
    tools: list[BoundTool] = []
    for spec in registration.specs:
        method: object = executor if raw else getattr(executor, spec.method, None)
        if isinstance(executor, AgentRoute):
            method = executor.method_of(spec)
        full_name = f"{type(executor).__name__}.{spec.method}"
        if not callable(method):
            from toolgen.contract.executor_problems import missing_method

            methods = [each.method for each in registration.specs]
            problems.append(missing_method(full_name, executor, spec.method, methods))
            continue
        if not raw and (problem := method_problem(full_name, method)):
            problems.append(problem)
            continue
        preview = None if raw else getattr(executor, f"preview_{spec.method}", None)
        tools.append(BoundTool(spec=spec, execute=method, preview=preview, is_raw=raw))
    return tuple(tools)


def _raise_problems(name: str, problems: list[str]) -> None:
    if problems:
        lines = "".join(f"\n  {problem}" for problem in dict.fromkeys(problems))
        raise RegistrationError(f"toolset {name!r} cannot be registered:{lines}")


def _by_unique_name(capabilities: Iterable[Capability]) -> dict[str, Capability]:
    """Return the capabilities by name.

    Raises:
        RegistrationError: two of them have the same name.
    """
    provided = tuple(capabilities)
    by_name = {capability.name: capability for capability in provided}
    if len(by_name) < len(provided):
        raise RegistrationError("two capabilities have the same name: " + ", ".join(by_name))
    return by_name

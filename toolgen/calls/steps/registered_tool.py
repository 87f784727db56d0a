"""One registered tool, with everything that its calls need resolved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pydantic_core import to_json

from toolgen.contract.limits import DEFAULT_LIMITS, LEAST_RESULT_BYTES, Limits
from toolgen.contract.names import CALL_META_NAMES, CREDENTIALS_CAPABILITY, SESSION
from toolgen.contract.record import frozen_record
from toolgen.shapes.naming import field_name

from ..codec import lacks_validator, missing_file
from .hook_tools import HookTools
from .methods import is_async, takes_sync_context

if TYPE_CHECKING:
    from toolgen.shapes.design.model import ToolModel

    from ..call import CallMeta, ToolCall
    from ..capability import Capability
    from ..specs import ToolSpec
    from .hooks import Hook, HookMethod


class Interceptor(Protocol):
    """Protocol of an object that fills injected fields."""

    fills: frozenset[str]
    """JSON keys of the fields that it sets."""

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        """Set the fields with the setters of the payload, before each call of a tool that has one of them. An
        exception fails the call.
        """


ListDisabled: TypeAlias = "Callable[[], Awaitable[Mapping[str, object]]]"
"""Returns the tools that an operator has disabled, by ID."""


@frozen_record
class RuntimeOptions:
    """The host's options for all tools: hooks, interceptors, capabilities, timeout."""

    interceptors: tuple[Interceptor, ...] = ()
    hooks: tuple[Hook, ...] = ()
    unknown_tool_hooks: tuple[HookMethod, ...] = ()
    """The hooks' methods for calls of tools that do not exist."""
    hook_tools: HookTools = field(default_factory=lambda: HookTools(()))
    """The tools that the hooks name; shared by all toolsets of the runtime."""
    capabilities: Mapping[str, Capability] = field(default_factory=dict)
    has_policy: bool = False
    timeout: float | None = None
    """Seconds for tools whose design sets no timeout."""
    list_disabled: ListDisabled | None = None
    """Lists the disabled tools; None if this runtime cannot disable tools."""
    limits: Limits = DEFAULT_LIMITS


class RegisteredTool:
    """A registered tool: its spec and executor, with everything that a call needs resolved."""

    def __init__(
        self,
        spec: ToolSpec,
        execute: Callable[..., Any],
        *,
        raw: bool,
        toolset: str,
        options: RuntimeOptions,
        preview: Callable[..., Any] | None = None,
    ) -> None:
        self.spec = spec
        self.toolset = toolset
        """Name of the registration that contains the tool."""
        self.execute = execute
        self.raw = raw
        """Whether `execute` takes the call instead of the payload."""
        self.is_async = raw or is_async(execute)
        self.takes_sync_context = not raw and takes_sync_context(execute)
        self.preview = preview
        """Returns a description of a call's effect; takes a copy of the payload, without injected fields."""
        self._set_injection(options)
        self._set_hooks(options)
        self._set_surroundings(options)
        self.starts_run: bool = getattr(execute, "starts_run", False)
        """Whether calls are executed by runs of an agent."""
        self.begins_itself: bool = getattr(execute, "begins_itself", False)
        """Whether the executor itself reports when its work begins, with `ToolContext.begin`."""
        self.may_repeat = spec.may_repeat or self.starts_run
        """Whether a second execution is harmless: according to the design, or because the tool only starts a
        run."""
        self.needs_no_thread_or_lock = self.is_async and not spec.is_sequential
        """Whether calls need neither a thread nor a lock."""
        self.timeout = options.timeout if spec.timeout is None else spec.timeout
        """Seconds for one call; None for no limit."""
        self.is_awaited_directly = self.is_async and not raw and self.timeout is None
        """Whether the executor's method is awaited directly."""
        own = spec.max_result_bytes
        self.result_bytes = options.limits.result_bytes if own is None else own
        """Maximum size of a document for the model, in bytes."""

    def _set_injection(self, options: RuntimeOptions) -> None:
        """Set the interceptors and call facts that fill injected fields."""
        spec = self.spec
        self.interceptors = tuple(
            interceptor
            for interceptor in options.interceptors
            if not interceptor.fills.isdisjoint(spec.injected)
        )
        self.meta_fields = tuple(
            (name, field_name(name)) for name in spec.injected if name in CALL_META_NAMES
        )
        """Injected fields that `CallMeta` fills, with their attributes."""
        self.intercepted_fields = tuple(
            field_name(name) for name in spec.injected if name not in CALL_META_NAMES
        )
        """Attributes that the interceptors must have set."""

    def _set_hooks(self, options: RuntimeOptions) -> None:
        """Set the hook methods that apply to this tool."""
        self.before: tuple[HookMethod, ...] = ()
        self.after: tuple[HookMethod, ...] = ()
        self.on_error: tuple[HookMethod, ...] = ()
        self.on_suspend: tuple[HookMethod, ...] = ()
        self.on_resume: tuple[HookMethod, ...] = ()
        if options.hooks:
            from .hooks import overridden_methods

            self.before = overridden_methods(options.hooks, "before_tool", self.spec.id)
            self.after = overridden_methods(options.hooks, "after_tool", self.spec.id)
            self.on_error = overridden_methods(options.hooks, "on_tool_error", self.spec.id)
            self.on_suspend = overridden_methods(options.hooks, "on_suspend", self.spec.id)
            self.on_resume = overridden_methods(options.hooks, "on_resume", self.spec.id)
        self.has_hooks_after = bool(self.after or self.on_suspend)
        """Whether hooks receive the results of calls, or their suspension."""

    def _set_surroundings(self, options: RuntimeOptions) -> None:
        """Set the steps around the executor, apart from hooks."""
        spec = self.spec
        self.may_need_approval = options.has_policy or spec.confirm is not None
        self.has_checks_before = bool(self.before or self.on_resume) or self.may_need_approval
        """Whether a step between decoding and execution can stop or change a call."""
        reads_call = self.may_need_approval or self.raw or bool(self.interceptors or self.on_error)
        self.has_fixed_payload = False if reads_call else None
        """Whether hooks cannot change the payload and nothing reads its JSON; None until the first call."""
        self.needs_call = reads_call or self.has_checks_before or spec.long_running is not None
        self.is_sensitive = spec.is_sensitive or CREDENTIALS_CAPABILITY in options.capabilities
        """Whether calls can contain sensitive values: in the arguments, the result, or in what the executor
        sends."""
        has_more_around = (
            self.needs_call or self.has_hooks_after or self.is_sensitive or options.list_disabled is not None
        )
        has_more_result = spec.result_hint or spec.reminder or spec.is_terminal
        self.is_direct = not (has_more_around or has_more_result)
        """Whether `SingleCalls` can call the executor without further steps."""

    def with_spec(self, spec: ToolSpec, options: RuntimeOptions) -> RegisteredTool:
        """Return the tool with another spec, for example with another wire name."""
        return RegisteredTool(
            spec, self.execute, raw=self.raw, toolset=self.toolset, options=options, preview=self.preview
        )

    def lock_key(self, payload: object, meta: CallMeta) -> Hashable:
        """Return the key of the lock that a call of a sequential tool has to hold.

        All calls with an unknown session and run share one key.
        """
        spec = self.spec
        by = spec.sequential_by
        if not by:
            return ()
        if by == SESSION:
            return SESSION, meta.session_id or meta.run_id
        value = payload.get(by) if isinstance(payload, Mapping) else getattr(payload, field_name(by), None)
        return spec.id.rpartition(".")[0], by, to_json(value)

    def inject_meta(self, payload: ToolModel, meta: CallMeta) -> None:
        """Set the injected fields from the `CallMeta`.

        Raises:
            RuntimeError: the host's `CallMeta` lacks a fact that the tool needs.
        """
        values = vars(payload)  # written directly, as the generated setters do; runs in every call
        for name, attribute in self.meta_fields:
            value = getattr(meta, name)
            if not value:
                raise RuntimeError(
                    f"{self.spec.id} needs {name!r}, which is empty in the CallMeta of this call"
                )
            values[attribute] = value


def problems_of(spec: ToolSpec, options: RuntimeOptions) -> list[str]:
    """Return the reasons why the tool cannot be registered."""
    filled = frozenset[str]().union(
        CALL_META_NAMES, *(interceptor.fills for interceptor in options.interceptors)
    )
    problems = [
        f"no interceptor fills the injected field {name!r} of {spec.name!r}; pass the Runtime an "
        f"interceptor with fills=frozenset({{{name!r}}})"
        for name in spec.injected
        if name not in filled
    ]
    if lacking := [name for name in spec.needs if name not in options.capabilities]:
        from toolgen.contract.executor_problems import missing_capability  # few runtimes lack one

        problems += [missing_capability(spec.name, name) for name in lacking]
    if spec.sequential_by and not spec.is_sequential:
        problems.append(f"{spec.name!r} has sequential_by={spec.sequential_by!r} but is not sequential")
    elif spec.sequential_by not in ("", SESSION) and not _has_argument(spec, spec.sequential_by):
        problems.append(
            f"{spec.name!r} has sequential_by={spec.sequential_by!r}, which is not one of its "
            f"arguments; name one, or write {SESSION!r}"
        )
    if spec.confirm is not None and spec.confirm.grantable and spec.confirm.payload is not None:
        problems.append(
            f"{spec.name!r} is grantable, but its approval has a payload, which a grant cannot supply; "
            "remove one of them from its ConfirmSpec"
        )
    if spec.max_result_bytes is not None and spec.max_result_bytes < LEAST_RESULT_BYTES:
        problems.append(
            f"{spec.name!r} has max_result_bytes={spec.max_result_bytes}; it must be at least "
            f"{LEAST_RESULT_BYTES}, so that the marker of a truncated result fits"
        )
    codecs = spec.codecs
    problems += [
        f"the schema of {codec.name} of {spec.name!r} has rules that types cannot express, and the "
        "package that validates them is not installed; pip install 'toolgen[jsonschema]'"
        for codec in codecs
        if lacks_validator(codec)
    ]
    problems += {
        f"{missing} with the schemas of its types is missing; ship it with the generated code": None
        for codec in codecs
        if (missing := missing_file(codec))
    }
    return problems


def _has_argument(spec: ToolSpec, name: str) -> bool:
    return name in spec.injected or name in spec.payload.schema.get("properties", {})

"""Toolsets as they are handed to the runtime, and what is checked before they serve a call."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from toolgen.contract.model import ToolModel
from toolgen.contract.names import CALL_META_NAMES, FORMAT
from toolgen.contract.naming import field_name

from .calls import CallMeta, ToolCall
from .codec import lacks_validator
from .context import ToolContext
from .errors import FormatError, RegistrationError
from .results import ToolResult
from .specs import ToolSpec

RawExecutor = Callable[[ToolCall, ToolContext], Awaitable[ToolResult]]
"""Serves every tool of a toolset from the call as it came (Goa-AI's generic executor)."""


class Interceptor(Protocol):
    """Fills injected fields that no call fact fills."""

    fills: frozenset[str]
    """JSON keys of the fields that it sets."""

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        """Set the declared fields through the payload's setters; runs on every call that has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsetRegistration:
    """A toolset and who executes it. Made by the generated `registration`, or by hand."""

    name: str
    """`service.toolset`."""
    specs: Sequence[ToolSpec[Any, Any]]
    executor: object
    """Has one asynchronous method a tool; or is a `RawExecutor`, an async function or callable object."""
    format: int


class Entry:
    """One registered tool, with everything resolved that a call needs."""

    __slots__ = ("call_fields", "execute", "filled", "interceptors", "raw", "spec", "toolset")

    def __init__(
        self,
        spec: ToolSpec[Any, Any],
        execute: Callable[..., Awaitable[Any]],
        *,
        raw: bool,
        interceptors: tuple[Interceptor, ...],
        toolset: str,
    ) -> None:
        self.spec = spec
        self.toolset = toolset
        """Name of the registration that brought it."""
        self.execute = execute
        self.raw = raw
        """`execute` takes the call and not the payload."""
        self.interceptors = interceptors
        self.call_fields = tuple(
            (name, field_name(name)) for name in spec.injected if name in CALL_META_NAMES
        )
        """Injected fields that `CallMeta` fills, with their attributes."""
        self.filled = tuple(field_name(name) for name in spec.injected if name not in CALL_META_NAMES)
        """Attributes that the interceptors must have set."""

    def fill(self, payload: ToolModel, meta: CallMeta) -> None:
        """Set the injected fields that are facts of the call.

        Raises:
            RuntimeError: the host's `CallMeta` does not hold a fact that the tool needs.
        """
        values = vars(payload)  # as the generated setters do, on every call
        for name, attribute in self.call_fields:
            value = getattr(meta, name)
            if not value:
                raise RuntimeError(
                    f"{self.spec.id} needs {name!r}, which the CallMeta of this call leaves empty"
                )
            values[attribute] = value


def checked(interceptor: Interceptor) -> Interceptor:
    """Return the interceptor.

    Raises:
        RegistrationError: it is a class, it names no fields or those that the runtime fills, or it is not
            asynchronous.
    """
    name = getattr(interceptor, "__name__", type(interceptor).__name__)
    fills: object = getattr(interceptor, "fills", None)
    if isinstance(interceptor, type):
        raise RegistrationError(f"interceptor {name} is a class", hint=f"give an instance: {name}(…)")
    if not isinstance(fills, (frozenset, set)) or not fills:
        raise RegistrationError(
            f"{name}.fills is {fills!r}, not a frozenset of field names",
            hint='write fills = frozenset({"tenant"})',
        )
    if known := fills.intersection(CALL_META_NAMES):
        raise RegistrationError(
            f"{name}.fills names {', '.join(sorted(known))}, which the runtime fills from the CallMeta",
            hint="set it in the CallMeta of the call",
        )
    if not _is_async(getattr(interceptor, "intercept", None)):
        raise RegistrationError(
            f"{name}.intercept is not asynchronous",
            hint="declare it with `async def intercept(self, call, payload)`",
        )
    return interceptor


def entries(registration: ToolsetRegistration, interceptors: tuple[Interceptor, ...]) -> tuple[Entry, ...]:
    """Return one entry a tool of the toolset.

    Raises:
        FormatError: the toolset was generated for another format.
        RegistrationError: a method is missing or not asynchronous, or nobody fills an injected field;
            everything that is wrong with the toolset stands in the message.
    """
    if registration.format != FORMAT:
        raise FormatError(
            f"toolset {registration.name!r} was generated in format {registration.format}, "
            f"this runtime reads format {FORMAT}",
            hint="run `toolgen gen` with the toolgen that is installed here",
        )
    problems: list[str] = []
    found = tuple(_entry(registration, spec, interceptors, problems) for spec in registration.specs)
    if problems:
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise RegistrationError(f"toolset {registration.name!r} cannot be registered:{lines}")
    return found


def _entry(
    registration: ToolsetRegistration,
    spec: ToolSpec[Any, Any],
    interceptors: tuple[Interceptor, ...],
    problems: list[str],
) -> Entry:
    executor = registration.executor
    name = spec.method
    raw: bool = _is_async(executor) or _is_async(type(executor).__call__)
    method: Any = executor if raw else getattr(executor, name, None)
    if not raw and not _is_async(method):
        fix = "is not asynchronous; declare it with `async def`" if method else "is missing; add it"
        problems.append(f"{type(executor).__name__}.{name} {fix}")
    known = frozenset[str]().union(CALL_META_NAMES, *(interceptor.fills for interceptor in interceptors))
    problems.extend(
        f"nobody fills the injected field {field!r} of {spec.name!r}; give the Runtime an interceptor with "
        f"fills=frozenset({{{field!r}}})"
        for field in spec.injected
        if field not in known
    )
    codecs = (spec.payload, spec.result, *(artifact.codec for artifact in spec.artifacts.values()))
    problems.extend(
        f"{codec.name} of {spec.name!r} has rules in its schema that no type holds, and the package that "
        "checks them is missing; pip install 'toolgen[jsonschema]'"
        for codec in codecs
        if lacks_validator(codec)
    )
    used = tuple(one for one in interceptors if not one.fills.isdisjoint(spec.injected))
    return Entry(spec, method, raw=raw, interceptors=used, toolset=registration.name)


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function)

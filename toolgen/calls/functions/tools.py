"""Tools from typed Python functions, for prototypes: same codecs, issues and entries as generated tools."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial, update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    TypedDict,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
    overload,
)

from pydantic import BaseModel, GetCoreSchemaHandler, create_model
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

from toolgen.contract.logs import logger
from toolgen.contract.names import RESERVED_CODES, Hint
from toolgen.contract.record import frozen_record
from toolgen.shapes.design.model import ToolModel
from toolgen.shapes.naming import LONGEST_NAME, TOOL_NAME, class_name, field_name
from toolgen.shapes.naming import title as title_of
from toolgen.shapes.python.annotations import without_texts
from toolgen.shapes.python.functions import FunctionParameter, TypedFunction, payload_field, read_function
from toolgen.shapes.python.yielding import with_progress

from ..context import ToolContext
from ..errors import RegistrationError
from ..results import Delegated, Pending, Received, ToolOutcome, Unfinished
from ..specs import ConfirmSpec, ErrorSpec, LongRunningSpec, ToolSpec
from ..steps.methods import is_async, takes_sync_context
from ..sync_context import SyncToolContext
from ..toolsets.dynamic import StaticToolset
from ..toolsets.registration import BoundTool
from .type_codec import TypeCodec, deferred

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json
    from toolgen.contract.tool_facts import Deprecation, Icon

D = TypeVar("D", bound=BaseModel)

_log: Final = logger("toolgen.runtime")

LOCAL: Final = "local.functions"
"""Toolset of functions without a toolset, as part of their IDs."""
_MOST_TYPES: Final = 1_024
"""Maximum number of parameter types, and of result types, that are cached as having a codec."""
_NO_RESULT: Final = (Unfinished, Delegated, Pending, Received)
"""Values that a function can return instead of a result."""


class FunctionPayload(ToolModel):
    """The arguments of a function. Its codec validates exactly, using the types of the parameters."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(source)


class FunctionFacts(TypedDict, total=False):
    """The facts of a `ToolSpec` that cannot be read from a function."""

    title: str
    annotations: Mapping[Hint, bool]
    confirm: ConfirmSpec
    long_running: LongRunningSpec
    icons: tuple[Icon, ...]
    deprecated: Deprecation
    tags: tuple[str, ...]
    meta: Mapping[str, Json]
    example: str
    timeout: float
    is_sequential: bool
    sequential_by: str
    is_terminal: bool
    is_bookkeeping: bool
    instructions: str
    reminder: str
    call_hint: str
    result_hint: str
    needs: tuple[str, ...]
    max_result_bytes: int


def func_tool(
    function: Callable[..., object],
    *,
    name: str | None = None,
    description: str | None = None,
    toolset: str = LOCAL,
    input_schema: Mapping[str, object] | None = None,
    errors: Sequence[ErrorSpec] = (),
    **facts: Unpack[FunctionFacts],
) -> BoundTool:
    """Make a tool from a typed function. A synchronous function runs in a thread.

    A parameter of type `ToolContext` or `SyncToolContext`, or one called `tool_context`, receives the context
    and is hidden from the model; the others are the arguments. A parameter without an annotation accepts any
    JSON value, with a warning. The docstring (Google, NumPy or reST style, several lines with
    `toolgen[docstrings]`) describes the tool, its arguments and its result.

    Args:
        function: Function, bound method or callable object.
        name: Name of the tool; by default that of the function.
        description: Description for the model; by default that of the docstring.
        toolset: Name of the toolset, such as `home.devices`; the first part of the tool's ID.
        input_schema: JSON Schema for the model, in place of that of the parameters (`toolgen[jsonschema]`).
        errors: Errors that the function raises, created by `func_error`.
        facts: Other facts of a `ToolSpec`, such as `annotations`, `confirm`, `timeout` and `needs`.

    Raises:
        RegistrationError: An annotation cannot be evaluated, a type has no JSON Schema, or `input_schema`
            contradicts the parameters. The message lists all problems.
    """
    own = name or str(getattr(function, "__name__", ""))
    read = read_function(function, (ToolContext, SyncToolContext))
    context = SyncToolContext if takes_sync_context(function) and not read.is_async_iterable else ToolContext
    problems = [*_problems(function, own, read, context), *_error_problems(errors)]
    payload = _codec(own, facts.get("title") or title_of(own), read.parameters, input_schema, problems)
    result = _result(own, read, problems)
    if problems or payload is None or result is None:
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise RegistrationError(f"function {own or function!r} cannot be a tool:{lines}")
    for missing in read.unannotated:
        _log.warning("function %s: %s; %s", own, missing.message, missing.hint)
    spec: ToolSpec = ToolSpec(
        id=f"{toolset}.{own}",
        description=description or read.docstring.description or f"{own.replace('_', ' ').capitalize()}.",
        payload=payload.codec,
        result=result,
        errors={error.name: error for error in errors},
        **facts,
    )
    return BoundTool(spec=spec, execute=_executor(function, read, payload.attributes))


@overload
def func_error(name: str, description: str, *, is_retryable: bool = False) -> ErrorSpec[None]: ...
@overload
def func_error(
    name: str, description: str, details: type[D], *, is_retryable: bool = False
) -> ErrorSpec[D]: ...
def func_error(
    name: str, description: str, details: type[BaseModel] | None = None, *, is_retryable: bool = False
) -> ErrorSpec:
    """Declare an error for `func_tool(…, errors=[…])`. Functions raise what its `of` returns.

    Args:
        name: Name of the error, which the model reads as `code`.
        description: Condition of the error.
        details: Class of the details that the model reads in addition to the message.
        is_retryable: Whether the same call can succeed a moment later.

    Raises:
        RegistrationError: The class has no JSON Schema.
    """
    try:
        codec: TypeCodec | None = None
        if details is not None:
            codec = TypeCodec(details, class_name(name), is_result=True)
    except Exception as problem:  # noqa: BLE001 - pydantic calls author code, which may raise anything
        raise RegistrationError(f"the details of {name} have no JSON Schema: {problem}") from None
    return ErrorSpec(name=name, codec=codec, description=description, is_retryable=is_retryable)


def _error_problems(errors: Sequence[ErrorSpec]) -> Iterator[str]:
    names = [error.name for error in errors]
    for name in dict.fromkeys(names):
        if not TOOL_NAME.fullmatch(name):
            yield f"{name!r} is not an error name; use a-z, 0-9 and _"
        if name in RESERVED_CODES:
            yield f"the error name {name!r} is reserved by the runtime; choose another name"
        if names.count(name) > 1:
            yield f"the error {name!r} is declared twice"


def function_toolset(
    name: str, functions: Sequence[Callable[..., object] | BoundTool], *, instructions: str = ""
) -> StaticToolset:
    """Make a toolset from functions and tools of functions.

    Args:
        name: Name of the toolset, such as `home.devices`.
        functions: Functions, or what `func_tool` returns for the same toolset.
        instructions: Instructions for the model.

    Raises:
        RegistrationError: As in `func_tool`.
    """
    bound = tuple(
        tool if isinstance(tool, BoundTool) else func_tool(tool, toolset=name) for tool in functions
    )
    return StaticToolset(name=name, bound=bound, instructions=instructions)


@frozen_record
class _Payload:
    codec: TypeCodec
    attributes: Mapping[str, str]
    """Attribute of the payload's class, by parameter name."""


def _problems(
    function: Callable[..., object],
    name: str,
    read: TypedFunction,
    context: type[ToolContext | SyncToolContext],
) -> Iterator[str]:
    if not TOOL_NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        yield (
            f"{name!r} is not a tool name; use up to {LONGEST_NAME} characters of a-z, 0-9 and _: "
            'func_tool(…, name="…")'
        )
    for misfit in read.misfits:
        yield f"{misfit.message}; {misfit.hint}"
    fitting = (context, ToolContext)  # the context of a synchronous function has the same attributes
    if read.context_types and not any(
        isinstance(kind, type) and issubclass(fit, kind) for kind in read.context_types for fit in fitting
    ):
        shown = " | ".join(_shown(kind) for kind in read.context_types)
        wanted = f"write {read.context}: {context.__name__}"
        if read.context_types == (SyncToolContext,):
            wanted += ", or def"
        yield f"the parameter {read.context!r} is a {shown}; {wanted}"


def _shown(kind: object) -> str:
    """Return the name of a class, with its module if it has the same name as a toolgen context."""
    name = getattr(kind, "__name__", str(kind))
    is_others = name in (ToolContext.__name__, SyncToolContext.__name__) and kind is not SyncToolContext
    return f"{kind.__module__}.{name}" if is_others else name


def _codec(
    name: str,
    title: str,
    parameters: tuple[FunctionParameter, ...],
    schema: Mapping[str, object] | None,
    problems: list[str],
) -> _Payload | None:
    """Return the payload of the arguments; None if a type has no JSON Schema, which is reported."""
    attributes: dict[str, str] = {}
    fields: dict[str, FunctionParameter] = {}
    for parameter in parameters:
        attribute = field_name(parameter.name)
        while attribute in fields:
            attribute += "_"
        attributes[parameter.name], fields[attribute] = attribute, parameter
    codecs: dict[str, TypeCodec] = {}  # all threads share one class

    def create() -> TypeCodec:
        return codecs.get("") or codecs.setdefault("", _payload_codec(name, title, fields))

    try:
        is_known = not problems and all(_is_known(parameter, at) for at, parameter in fields.items())
        codec = deferred(create) if is_known else create()
    except Exception as error:  # noqa: BLE001 - as in `func_error`; it is a problem of the registration
        before = len(problems)
        for parameter in parameters:
            try:
                TypeCodec(parameter.annotation, parameter.name)
            except Exception as failure:  # noqa: BLE001 - as in `func_error`; it is a problem of the registration
                problems.append(f"the type of the parameter {parameter.name!r} has no JSON Schema: {failure}")
        if len(problems) == before:
            problems.append(f"the parameters have no JSON Schema: {error}")
        return None
    if schema is not None:
        from .authored import authored_codec  # few functions need it

        codec = authored_codec(codec, schema, problems)
    return _Payload(codec=codec, attributes=attributes)


def _payload_codec(name: str, title: str, parameters: Mapping[str, FunctionParameter]) -> TypeCodec:
    """Return the codec of a class with an attribute for each parameter."""
    fields: dict[str, Any] = {at: payload_field(parameter, at) for at, parameter in parameters.items()}
    type_name = class_name(name, "payload")
    model = create_model(type_name, __base__=FunctionPayload, __module__=__name__, **fields)
    return TypeCodec(model, type_name, title=title)


def _is_known(parameter: FunctionParameter, attribute: str) -> bool:
    """Return whether a class with such an attribute certainly has a codec, without sensitive values."""
    annotation = without_texts(parameter.annotation)
    facts = (*getattr(annotation, "__metadata__", ()), parameter.default)
    if hasattr(FunctionPayload, attribute) or any(isinstance(fact, FieldInfo) for fact in facts):
        return False
    return _holds(_is_plain, annotation, parameter.default)


def _holds(check: Callable[..., bool], *of: object) -> bool:
    """Return the result of a check; False if it raises, because constructing the codec reports the error."""
    try:
        return check(*of)
    except Exception:  # noqa: BLE001 - as in `func_error`, or unhashable; constructing the codec reports it
        return False


@lru_cache(maxsize=_MOST_TYPES, typed=True)
def _is_plain(annotation: Any, default: Any) -> bool:
    """Return whether the type of a parameter contains nothing sensitive.

    Raises:
        Exception: the type has no codec.
    """
    parameter = FunctionParameter(
        name="value", annotation=annotation, default=default, description="", is_positional=False
    )
    return not _payload_codec("one", "", {"value": parameter}).sensitive


@lru_cache(maxsize=_MOST_TYPES)
def _is_plain_result(type_: object) -> bool:
    """Return whether the type of a result contains nothing sensitive; raises as `_is_plain`."""
    return not TypeCodec(type_, "Result", is_result=True).sensitive


def _result(name: str, read: TypedFunction, problems: list[str]) -> TypeCodec | None:
    try:
        type_ = _plain(read.result)
        type_name, texts = class_name(name or "function", "result"), read.docstring.result
        create: Callable[[], TypeCodec]
        create = partial(TypeCodec, type_, type_name, is_result=True, description=texts)
        return deferred(create) if _holds(_is_plain_result, type_) else create()
    except Exception as error:  # noqa: BLE001 - as in `func_error`; it is a problem of the registration
        problems.append(f"the result type has no JSON Schema: {error}")
        return None


def _plain(annotation: object) -> object:
    """Return the plain result type: `ToolReturn[Report]` and `ToolOutcome[Report]` give `Report`."""
    if get_origin(annotation) is ToolOutcome:
        return get_args(annotation)[0]
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    parts = [(get_origin(part) or part, part) for part in get_args(annotation)]
    if not any(kind in _NO_RESULT or kind is ToolOutcome for kind, _ in parts):
        return annotation
    results = [_plain(part) for kind, part in parts if kind not in _NO_RESULT]
    return Union[tuple(dict.fromkeys(results))]  # noqa: UP007  # the parts are known at run time


def _executor(
    function: Callable[..., Any], read: TypedFunction, attributes: Mapping[str, str]
) -> Callable[..., object]:
    """Return the executor that calls the function with the fields and the context."""
    if yields := read.yielding is not None:
        function = with_progress(function, read.yielding)
    by_place = [attributes[parameter.name] for parameter in read.parameters if parameter.is_positional]
    by_name = [
        (parameter.name, attributes[parameter.name])
        for parameter in read.parameters
        if not parameter.is_positional
    ]
    count = len(by_name)
    optional = frozenset(parameter.name for parameter in read.parameters if parameter.may_be_absent)

    def arguments(payload: Any, ctx: ToolContext | SyncToolContext) -> tuple[list[Any], dict[str, Any]]:
        named = {name: getattr(payload, attribute) for name, attribute in by_name} if by_name else {}
        if optional:
            named = {
                name: value for name, value in named.items() if value is not None or name not in optional
            }
        if read.context:
            named[read.context] = ctx
        args = [getattr(payload, attribute) for attribute in by_place] if by_place else []
        return [ctx.progress, *args] if yields else args, named

    async def execute(payload: Any, ctx: ToolContext) -> Any:
        args, named = arguments(payload, ctx)
        return await function(*args, **named)

    async def execute_by_name(payload: object, ctx: ToolContext) -> Any:
        named = payload.__dict__
        if len(named) != count:  # a hook stored something there
            named = arguments(payload, ctx)[1]
        return await function(**named)

    def execute_in_thread(payload: object, ctx: SyncToolContext) -> Any:
        args, named = arguments(payload, ctx)
        return function(*args, **named)

    if is_async(function):
        if by_place or read.context or yields or optional or any(name != at for name, at in by_name):
            return execute
        return execute_by_name
    # The wrapped function determines which context it gets.
    return update_wrapper(execute_in_thread, function, assigned=(), updated=())

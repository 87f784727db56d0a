"""Typed Python functions, described by their signatures and docstrings."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    NotRequired,
    Required,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from pydantic import Field
from pydantic.fields import FieldInfo

from toolgen.contract.record import frozen_record

from ..fields import MISSING
from .annotations import readable
from .docstrings import PACKAGE, DocstringTexts, read_docstring
from .sensitive import is_marked
from .yielding import Yielding, yielding_of

_VARIADIC: Final[Mapping[object, str]] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
_ABSENT: Final = object()
"""The default of a keyword that can be absent from the call."""
_NAMED_KEYWORDS: Final = "give each argument a name, or annotate it with Unpack[…] of a TypedDict"
_OWNERS: Final = frozenset(["cls", "self"])
_CONTEXT: Final = "tool_context"
"""Name of the context parameter, with or without an annotation; models never fill it."""
_CONTEXTS: Final = frozenset(["context", "ctx"])


@frozen_record
class FunctionParameter:
    """A parameter that a model fills."""

    name: str
    annotation: Any
    """Annotation of the parameter, with None added if None is the default, as authors intend."""
    default: Any
    """`MISSING` when the parameter is required."""
    description: str
    """The text in its `Annotated`, otherwise its text in the docstring."""
    is_positional: bool
    """Whether it is positional-only (PEP 570)."""
    may_be_absent: bool = False
    """Whether the keyword can be absent, like an optional field of a `TypedDict`; its value is then None."""


@frozen_record
class FunctionProblem:
    """The reason why a function cannot be a tool."""

    parameter: str
    """Name of the parameter; empty if the problem concerns the whole function."""
    message: str
    hint: str


@frozen_record
class TypedFunction:
    """A typed function."""

    docstring: DocstringTexts
    parameters: tuple[FunctionParameter, ...]
    """All parameters in the order of the signature, except the owner of a method and the call context."""
    context: str
    """Name of the parameter for the call context; empty if there is none."""
    context_types: tuple[Any, ...]
    """The classes in its annotation, without `Any`; empty without an annotation."""
    result: Any
    """Type of the result; `Any` if it has no annotation."""
    yielding: Yielding | None
    """Type of the yielded values; None for a function that does not yield."""
    misfits: tuple[FunctionProblem, ...]
    """All problems; `parameters` has only parameters that a model can fill."""
    unannotated: tuple[FunctionProblem, ...]
    """Parameters without an annotation, and a result without one: each can be any JSON value."""

    @property
    def is_async_iterable(self) -> bool:
        """Whether its result is iterated in an event loop."""
        return self.yielding is not None and self.yielding.is_async


def read_function(function: Callable[..., object], context_types: tuple[type, ...] = ()) -> TypedFunction:
    """Return the facts of a function: description, parameters, result.

    A parameter is the call context if its annotation is one of `context_types`, if its name is
    `tool_context`, or if its name is `ctx` or `context` and its class is some `…Context`.
    """
    try:
        texts = read_docstring(inspect.getdoc(_unbound(function)))
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise
        message = f"its docstring has several lines, and {PACKAGE}, which reads them, is not installed"
        unread = FunctionProblem(parameter="", message=message, hint="pip install 'toolgen[docstrings]'")
        return _function(DocstringTexts(), (), "", {}, (unread,), ())
    try:
        hints = _hints(function)
    except Exception as error:  # noqa: BLE001 - an annotation may be any code; it is the problem that is returned
        message = f"its annotations cannot be evaluated: {type(error).__name__}: {error}"
        unread = FunctionProblem(
            parameter="", message=message, hint="import the names that they use at run time"
        )
        return _function(texts, (), "", {}, (unread,), ())
    parameters = list(_parameters(function, hints))
    context = next(
        (parameter.name for parameter in parameters if _is_context(parameter.name, hints, context_types)), ""
    )
    sent = [parameter for parameter in parameters if parameter.name != context]
    misfits = [misfit for parameter in sent if (misfit := _misfit(parameter, hints))]
    if any(each.name == context and each.kind is each.POSITIONAL_ONLY for each in parameters):
        message = f"the parameter {context!r} is positional-only, so it cannot be passed by name"
        misfits.append(FunctionProblem(parameter=context, message=message, hint="move it behind the slash"))
    if _is_context_manager(function):
        message, hint = (
            "it is a context manager and has no result",
            "call it in a function that returns a result",
        )
        misfits.append(FunctionProblem(parameter="", message=message, hint=hint))
    refused = {misfit.parameter for misfit in misfits}
    taken = [parameter for parameter in sent if parameter.name not in refused]
    read = tuple(_parameter(parameter, hints.get(parameter.name, Any), texts) for parameter in taken)
    names = [parameter.name for parameter in taken if parameter.name not in hints]
    unannotated = tuple(_unannotated(names, hints))
    return _function(texts, read, context, hints, tuple(misfits), unannotated, yielded(function, hints))


def _function(
    texts: DocstringTexts,
    parameters: tuple[FunctionParameter, ...],
    context: str,
    hints: Mapping[str, object],
    misfits: tuple[FunctionProblem, ...],
    unannotated: tuple[FunctionProblem, ...],
    yielding: Yielding | None = None,
) -> TypedFunction:
    return TypedFunction(
        docstring=texts,
        parameters=parameters,
        context=context,
        context_types=_classes(hints[context]) if context in hints else (),
        result=hints.get("return", Any) if yielding is None else yielding.result,
        yielding=yielding,
        misfits=misfits,
        unannotated=unannotated,
    )


def _unannotated(names: list[str], hints: Mapping[str, object]) -> Iterator[FunctionProblem]:
    for name in names:
        message = f"the parameter {name!r} has no annotation, so it can be any JSON value"
        yield FunctionProblem(parameter=name, message=message, hint=f"write {name}: str")
    if "return" not in hints:
        message = "its result has no annotation, so it can be any JSON value"
        yield FunctionProblem(
            parameter="return", message=message, hint="write -> str, or -> None for no result"
        )


def type_hints(function: Callable[..., object]) -> dict[str, object]:
    """Return the annotations of a function; none if they cannot be evaluated."""
    try:
        return _hints(function)
    except Exception:  # noqa: BLE001 - an annotation may be any code; without one a parameter takes what comes
        return {}


def _hints(function: Callable[..., object]) -> dict[str, object]:
    """Return the annotations of a function, and of the fields of a `TypedDict` for its keywords."""
    hints = get_type_hints(_annotated(function), include_extras=True)
    fields = _unpacked(hints.get(_keywords_of(function), None))
    return {**{name: type_ for name, (type_, _) in fields.items()}, **hints}


def _keywords_of(function: Callable[..., object]) -> str:
    """Return the name of the parameter that takes all further keywords; "" if there is none."""
    with contextlib.suppress(TypeError, ValueError):  # functions in C have no signature
        for parameter in inspect.signature(_unbound(function)).parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                return parameter.name
    return ""


def _unpacked(annotation: object) -> dict[str, tuple[object, bool]]:
    """Return the types of the fields of an unpacked `TypedDict` (PEP 692), and whether each is required."""
    if get_origin(annotation) is not Unpack or not is_typeddict(get_args(annotation)[0]):
        return {}
    (class_,) = get_args(annotation)
    fields: dict[str, tuple[Any, bool]] = {}
    for name, type_ in get_type_hints(class_, include_extras=True).items():
        while get_origin(type_) in (Required, NotRequired):
            (type_,) = get_args(type_)
        fields[name] = type_, name in class_.__required_keys__
    return fields


def yielded(function: Callable[..., object], hints: Mapping[str, Any]) -> Yielding | None:
    """Return the yielded types of a function with these annotations; None if it does not yield."""
    return yielding_of(_annotated(function), hints.get("return", MISSING))


def _unbound(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function inside a `partial`, which has the docstring and the annotations."""
    while isinstance(function, partial):
        function = function.func
    return function


def _annotated(function: Callable[..., object]) -> Any:
    """Return the object with the annotations: for a callable object, its method."""
    function = _unbound(function)
    return function if inspect.isroutine(function) else type(function).__call__


def _parameters(function: Callable[..., object], hints: Mapping[str, object]) -> Iterator[inspect.Parameter]:
    """Yield the free parameters: neither the owner of a method nor bound by a `partial`."""
    bound = set[str]()
    unbound: object = function
    while isinstance(unbound, partial):
        bound.update(unbound.keywords)
        unbound = unbound.func
    for index, parameter in enumerate(inspect.signature(function).parameters.values()):
        is_owner = index == 0 and parameter.name in _OWNERS and parameter.name not in hints
        fields = _unpacked(hints.get(parameter.name)) if parameter.kind in _VARIADIC else {}
        for name, (type_, is_required) in fields.items():
            default = inspect.Parameter.empty if is_required else _ABSENT
            if name not in bound:
                yield inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type_
                )
        if not is_owner and parameter.name not in bound and not fields:
            yield parameter


def _is_context_manager(function: Callable[..., object]) -> bool:
    code = getattr(_unbound(function), "__code__", None)
    return code is not None and code.co_filename == contextlib.__file__


def _is_context(name: str, hints: Mapping[str, object], context_types: tuple[type, ...]) -> bool:
    classes = _classes(hints[name]) if name in hints else ()
    return (
        name == _CONTEXT
        or any(class_ in context_types for class_ in classes)
        or (name in _CONTEXTS and any("Context" in getattr(class_, "__name__", "") for class_ in classes))
    )


def _classes(annotation: object) -> tuple[Any, ...]:
    """Return the classes in an annotation, each class of a union separately, without `None` and `Any`."""
    if get_origin(annotation) is Annotated:
        return _classes(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return tuple(class_ for part in get_args(annotation) for class_ in _classes(part))
    return () if annotation in (Any, NoneType) else (get_origin(annotation) or annotation,)


def _misfit(parameter: inspect.Parameter, hints: Mapping[str, object]) -> FunctionProblem | None:
    name = parameter.name
    if stars := _VARIADIC.get(parameter.kind):
        message = f"{stars}{name} takes any number of arguments, which a schema cannot name"
        hint = _NAMED_KEYWORDS if stars == "**" else f"give each argument a name, or write {name}: list[str]"
        return FunctionProblem(parameter=name, message=message, hint=hint)
    if name not in hints and name in _CONTEXTS:
        message = f"the parameter {name!r} has no annotation"
        return FunctionProblem(parameter=name, message=message, hint=f"write {name}: ToolContext")
    return None


def _parameter(parameter: inspect.Parameter, annotation: Any, texts: DocstringTexts) -> FunctionParameter:
    default = MISSING if parameter.default is inspect.Parameter.empty else parameter.default
    if may_be_absent := default is _ABSENT:
        default = None
    return FunctionParameter(
        name=parameter.name,
        annotation=annotation | None if default is None and hasattr(annotation, "__or__") else annotation,
        default=default,
        description=_annotated_text(annotation) or texts.parameters.get(parameter.name, ""),
        is_positional=parameter.kind is inspect.Parameter.POSITIONAL_ONLY,
        may_be_absent=may_be_absent,
    )


def _annotated_text(annotation: object) -> str:
    """Return the first plain text, or `Doc` of PEP 727, in the metadata of an `Annotated`; "" without one."""
    for fact in getattr(annotation, "__metadata__", ()):
        text = fact if isinstance(fact, str) else getattr(fact, "documentation", None)
        if isinstance(text, str):
            return inspect.cleandoc(text)
    return ""


def payload_field(parameter: FunctionParameter, attribute: str) -> tuple[object, object]:
    """Return the annotation and the default of a parameter's field in the class of the arguments."""
    annotation, default = readable(parameter.annotation), parameter.default
    if isinstance(default, tuple) and get_origin(annotation) is Iterable:
        default = list(default)  # the form in documents, in which it is serialized again
    own_fields = [info for info in (*get_args(annotation), default) if isinstance(info, FieldInfo)]
    facts: dict[str, Any] = {}
    if parameter.description and not any(info.description for info in own_fields):
        facts["description"] = parameter.description
    if is_marked(annotation):
        facts["repr"] = False
    if attribute != parameter.name and not any(info.alias for info in own_fields):
        facts["alias"] = parameter.name
    if facts:
        annotation = Annotated[annotation, Field(**facts)]
    return annotation, ... if default is MISSING else default

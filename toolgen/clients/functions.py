"""The base class of generated clients for services whose methods are Python functions."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from types import CodeType, UnionType
from typing import Annotated, Any, ClassVar, Final, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import from_json, to_json

from toolgen.calls.errors import MalformedResultError, RegistrationError, ToolError, UnfitAnswerError
from toolgen.calls.steps.bridge import CallEndedError
from toolgen.calls.steps.methods import is_async
from toolgen.calls.steps.thread_pool import NoThreadError, ThreadPool
from toolgen.contract.json_value import is_json
from toolgen.contract.tasks import awaited
from toolgen.contract.transport import Function
from toolgen.shapes.design.model import ToolModel
from toolgen.shapes.python.annotations import readable
from toolgen.shapes.python.functions import type_hints, yielded
from toolgen.shapes.python.yielding import ProgressReporter, with_progress
from toolgen.shapes.values import plain

from .call import served_call
from .operation import Operation
from .reading import MisfitError, Reader

P = TypeVar("P", bound=BaseModel)
R = TypeVar("R")

MAX_THREADS: Final = 8
_ANY: Final = TypeAdapter[Any](Any)


class FunctionsClient:
    """A service whose methods are functions: its generated client is a subclass with one method for each.

    A function gets the attributes of the payload by keyword, or by position if it accepts no keyword,
    converted to its parameter types. Absent attributes are omitted if the parameter has a default. A
    synchronous function runs in a thread of the client. Values that a generator yields are the progress of
    the served call.
    """

    operations: ClassVar[tuple[Operation, ...]] = ()
    """Methods of the service; their functions are imported and checked when a client is created."""

    def __init__(self, *, max_threads: int = MAX_THREADS) -> None:
        """Import the functions; at most `max_threads` synchronous functions run concurrently.

        Raises:
            RegistrationError: Functions are missing, or do not accept their payloads; the message lists all
                of them.
        """
        self._threads = ThreadPool(max_threads)
        self._methods: dict[Operation, _FunctionMethod] = {}
        problems: list[str] = []
        for operation in self.operations:
            try:
                self._methods[operation] = _FunctionMethod(operation)
            except _UnfitFunctionError as error:
                problems += error.problems
        _raise_problems(type(self).__name__, problems)

    async def send(self, operation: Operation[P, R], payload: P) -> R:
        """Return the result of a method.

        Raises:
            RegistrationError: Its function is missing, or does not accept the payload.
            MalformedResultError: The function returned a value that is not a result of the method.
            UnfitAnswerError: As before, if the service is lenient.
            ToolError: Too many threads are stuck.
            BaseException: The function raised it.
        """
        method = self._methods.get(operation)
        if method is None:
            try:
                method = self._methods[operation] = _FunctionMethod(operation)
            except _UnfitFunctionError as error:
                _raise_problems(type(self).__name__, error.problems)
                raise
        with _progress_of_call() as report:
            work = method.call(payload, report)
            returned = await (work() if method.is_async else self._in_thread(method.target, work))
        return method.result(returned)  # type: ignore[no-any-return]  # of the operation's class

    async def _in_thread(self, target: str, work: Callable[[], Any]) -> object:
        try:
            returned = await self._threads.run(target, work)
        except NoThreadError as error:
            raise ToolError(
                f"{target} cannot run at the moment: too many threads are stuck in earlier calls that have "
                "not ended"
            ) from error
        return await awaited(returned)


@contextmanager
def _progress_of_call() -> Iterator[ProgressReporter]:
    """Yield a function that reports progress to the served call until it has ended; otherwise to nobody."""
    call, is_over = served_call(), False

    def report(fraction: float | None = None, message: str = "", value: Any = None) -> None:
        if is_over:
            raise CallEndedError("the call of this function has already ended; its progress is discarded")
        if call is not None:
            call.context.progress(fraction, message, value)

    try:
        yield report
    finally:
        is_over = True


class _UnfitFunctionError(Exception):
    def __init__(self, *problems: str) -> None:
        super().__init__(*problems)
        self.problems = problems


class _FunctionMethod:
    """A function, with the mapping of its arguments and result."""

    def __init__(self, operation: Operation) -> None:
        transport = operation.transport
        assert isinstance(transport, Function), "it is an operation of functions"
        self._operation = operation
        self.target: str = transport.target
        self.function = _imported(self.target)
        hints = type_hints(self.function)
        self._yielding = yielded(self.function, hints)
        self._called = (
            self.function if self._yielding is None else with_progress(self.function, self._yielding)
        )
        """Function to call: the function itself, or a wrapper that first receives its progress reports."""
        self.is_async = is_async(self._called)
        self._result: Any = operation.result
        self._reader: Reader[Any] = Reader(operation.result)
        self._fields: dict[str, str] = {}
        """Parameter name by attribute: its Python name, or its key if the function uses that."""
        self._types: dict[str, TypeAdapter[Any]] = {}
        """Adapters that convert a value to the function's type if it differs from the payload's."""
        self._without_null = frozenset[str]()
        """Attributes whose null means absence, because the function does not accept None."""
        self._needed = frozenset[str]()
        """Parameters without a default."""
        self._by_position: Mapping[str, object] = {}
        """Positional-only parameters, with their defaults for absent values."""
        self._is_open = False
        self._named = frozenset[str]()
        """Named parameters, which the free keys of a payload cannot set."""
        self._require_fit(operation.payload.model_fields, hints)

    def _require_fit(self, fields: Mapping[str, FieldInfo], hints: Mapping[str, object]) -> None:
        """Check that the function accepts the payload.

        Raises:
            _UnfitFunctionError: The function does not accept it.
        """
        self._fields = {name: name for name in fields}
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):  # a function in C without a signature
            return
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        named = {parameter.name: parameter for parameter in parameters if parameter.kind not in variadic}
        self._by_position = {
            name: parameter.default
            for name, parameter in named.items()
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY
        }
        self._is_open = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
        self._named = frozenset(named)
        self._needed = frozenset(
            name for name, parameter in named.items() if parameter.default is parameter.empty
        )
        for name, field in fields.items():
            if name not in named and field.serialization_alias in named:
                self._fields[name] = field.serialization_alias
        own = {name: hints[parameter] for name, parameter in self._fields.items() if parameter in hints}
        self._types = dict(_own_types(own, fields))
        self._without_null = frozenset(name for name, type_ in own.items() if not _takes_none(type_))
        problems = [
            f"{self.target} does not take {name!r}, which the payload has; add the parameter"
            for name in self._fields.values()
            if not self._is_open and name not in named
        ]
        problems += [
            f"{self.target} needs {name!r}, which no payload has; give it a default"
            for name in named
            if name in self._needed and name not in self._fields.values()
        ]
        if problems:
            from toolgen.contract.executor_problems import place_of  # needed only for errors

            place = place_of(self.function)
            raise _UnfitFunctionError(*(f"{place}{problem}" for problem in problems))

    def call(self, payload: BaseModel, report: ProgressReporter) -> Callable[[], Any]:
        """Return the function with arguments from a payload and progress reporting.

        Raises:
            ToolError: An argument does not fit the parameter type, or a free key is the name of a parameter.
        """
        arguments = {
            parameter: self._typed(name, value)
            for name, parameter in self._fields.items()
            if (value := getattr(payload, name)) is not None
            or parameter in self._needed
            or (name in payload.model_fields_set and name not in self._without_null)
        }
        by_position = [arguments.pop(name, default) for name, default in self._by_position.items()]
        if self._is_open:
            free = payload.model_extra or {}
            if taken := self._named.intersection(free):
                raise ToolError(
                    f"{min(taken)!r} is another parameter of {self.target} and cannot be a free key"
                )
            arguments |= free
        first = () if self._yielding is None else (report,)
        return partial(self._called, *first, *by_position, **arguments)

    def _typed(self, name: str, value: object) -> object:
        adapter = self._types.get(name)
        if adapter is None or value is None:
            return value
        try:
            if _holds_bytes(plain := _ANY.dump_python(value, by_alias=True, exclude_unset=True)):
                return adapter.validate_python(plain)  # pydantic would accept JSON strings as bytes
            return adapter.validate_json(_ANY.dump_json(value, by_alias=True, exclude_unset=True))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]["msg"]
            reason = first.removeprefix("Value error, ")
            raise ToolError(f"{self._fields[name]!r} does not fit {self.target}: {reason}") from None

    def result(self, returned: object) -> Any:
        """Return the result of a function that returned a model, mapping, dataclass or single value.

        Raises:
            MalformedResultError: The value does not fit.
        """
        if isinstance(self._result, type) and isinstance(returned, self._result):
            return returned
        try:
            documents = list(self._documents(_plain(returned, self._reader)))
        except (TypeError, ValueError, RecursionError) as error:
            raise self._misfit(f"returned a value that has no JSON form: {error}") from None
        misfits = list[MisfitError]()
        for document in documents:
            try:
                return self._reader.read(document, by_name=True)
            except MisfitError as error:
                misfits.append(error)
        if self._operation.is_lenient:
            raise self._unfit(documents, f"{self.target} returned {misfits[0]}")
        raise self._misfit(f"returned {misfits[0]}") from None

    def _unfit(self, documents: Sequence[bytes], message: str) -> UnfitAnswerError:
        """Return the error for an unfit value that a function of a lenient service returned."""
        from toolgen.shapes.parts import PartReader  # needed only if a result does not fit

        document = documents[0] if documents[0].startswith(b"{") else documents[-1]
        if not is_json(value := from_json(document)):  # its text is JSON
            value = document.decode()
            document = to_json(value)
        parts = PartReader(self._result).read(value)
        is_sensitive = self._operation.is_sensitive
        return UnfitAnswerError(message, document, parts.value, parts.issues, is_sensitive=is_sensitive)

    def _misfit(self, problem: str) -> MalformedResultError:
        error = MalformedResultError(f"{self.target} {problem}")
        code: object = getattr(inspect.unwrap(self.function), "__code__", None)
        if type(code) is CodeType:
            error._returned_by = (code, problem)
        return error

    def _documents(self, value: object) -> Iterator[bytes]:
        """Yield the possible documents of a value: the result, or the value of its single attribute."""
        fields = getattr(self._result, "model_fields", {})
        if value is None and not any(field.is_required() for field in fields.values()):
            value = {}
        yield to_json(value)
        if len(fields) == 1:
            yield to_json({next(iter(fields)): value})


def _imported(target: str) -> Callable[..., object]:
    """Import a function by its `package.module:function`.

    Raises:
        _UnfitFunctionError: The function is missing.
    """
    module_name, _, path = target.partition(":")
    try:
        member: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module exists, but one of its imports is missing
        raise _UnfitFunctionError(
            f"the module {module_name!r} of {target} does not exist; install it, or put it below the folder "
            "of pyproject.toml"
        ) from None
    module = member
    for name in path.split("."):
        member = getattr(member, name, None)
    if not callable(member):
        names = [name for name, value in vars(module).items() if callable(value)]
        near = get_close_matches(path, names, n=1)
        fix = f"did you mean {near[0]!r}?" if near else "add it"
        where = f" in {file}" if (file := getattr(module, "__file__", None)) else ""
        raise _UnfitFunctionError(f"the module {module_name!r}{where} has no function {path!r}; {fix}")
    return member  # type: ignore[no-any-return]  # of an author's module


def _own_types(
    own: Mapping[str, Any], fields: Mapping[str, FieldInfo]
) -> Iterator[tuple[str, TypeAdapter[Any]]]:
    """Yield the function's own types by attribute, if they differ from the types of the payload."""
    for name, type_ in own.items():
        if _bare(type_) not in (Any, object, fields[name].annotation):
            try:
                yield name, TypeAdapter(readable(type_))
            except Exception:  # noqa: BLE001 - pydantic cannot read the type; the value is passed unchanged
                continue


def _takes_none(type_: object) -> bool:
    bare = _bare(type_)
    return bare in (Any, object, None, type(None)) or any(_takes_none(part) for part in _branches(bare))


def _bare(type_: object) -> object:
    return get_args(type_)[0] if get_origin(type_) is Annotated else type_


def _branches(type_: Any) -> tuple[object, ...]:
    return get_args(type_) if get_origin(type_) in (Union, UnionType) else ()


def _holds_bytes(value: object) -> bool:
    match value:
        case dict():
            return any(map(_holds_bytes, value.values()))
        case list() | tuple() | set():
            return any(map(_holds_bytes, value))
        case _:
            return isinstance(value, bytes)


def _plain(value: object, reader: Reader[Any]) -> object:
    """Return the JSON form of a value, in which models and dataclasses have attribute names as keys.

    For an author's own model, the alias is the key if the result has an attribute with that alias.

    Raises:
        TypeError: The value has no JSON form.
    """
    match value:
        case BaseModel():
            names = (*type(value).model_fields, *(value.model_extra or {}))
            return {
                _key(value, name, reader): _plain(inner, reader)
                for name in names
                if (inner := getattr(value, name)) is not None
            }
        case Mapping():
            if not all(isinstance(key, str) for key in value):
                raise TypeError("the keys of its mappings are not all strings")
            return {key: _plain(inner, reader) for key, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item, reader) for item in value]
        case _ if dataclasses.is_dataclass(value):
            return {
                field.name: _plain(getattr(value, field.name), reader) for field in dataclasses.fields(value)
            }
        case _:
            return plain(value)


def _key(model: BaseModel, name: str, reader: Reader[Any]) -> str:
    field = type(model).model_fields.get(name)
    alias = None if field is None or isinstance(model, ToolModel) else field.serialization_alias
    return alias if alias is not None and alias in reader.keys else name


def _raise_problems(client: str, problems: Sequence[str]) -> None:
    if problems:
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise RegistrationError(f"{client} cannot call its functions:{lines}")

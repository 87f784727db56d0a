"""`client.py` and `functions.py`: a service that is implemented by HTTP requests, or by functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, ClassVar, Final

from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Error
from toolgen.contract.transport import HTTP, SecurityScheme
from toolgen.dsl.expr.tree import ClientKind, Method, Service
from toolgen.shapes.naming import class_name, constant

from .. import names
from ..imports import Imports
from ..layout import ModuleScope, relative, service_module, service_package
from ..spelling import CLIENTS
from ..text import docstring, literal
from .specs import ConstantView

_BASES: Final[Mapping[ClientKind, str]] = {"client": "HTTPClient", "functions": "FunctionsClient"}
_HOW: Final[Mapping[ClientKind, str]] = {"client": "over HTTP", "functions": "by functions"}


@frozen_record
class ClientMethodView:
    name: str
    payload: str
    result: str
    operation: str


@frozen_record
class ClientView:
    template: ClassVar[str] = "client.py.jinja"
    docstring: str
    imports: str
    schemes: tuple[tuple[str, str], ...]
    """Constant and expression."""
    operations: tuple[ConstantView, ...]
    name: str
    base: str
    service: str
    class_docstring: str
    facts: tuple[tuple[str, str], ...]
    """Attributes of the class, and their expressions."""
    methods: tuple[ClientMethodView, ...]


def client_view(of: Service, kind: ClientKind, scope: ModuleScope) -> ClientView:
    methods = of.methods_of(kind)
    name, operations = names.client(of, kind), {method.name: constant(method.name) for method in methods}
    schemes = _schemes(methods)
    constants = names.apart({key: constant(key) for key in schemes}, operations.values(), "scheme")
    printer = _Printer(of, scope, constants, taken={name, *operations.values(), *constants.values()})
    printer.import_own(methods)
    return ClientView(
        docstring=docstring(f"The service {of.name}, {_HOW[kind]}."),
        schemes=tuple((constants[key], printer.made(scheme)) for key, scheme in schemes.items()),
        operations=tuple(printer.operation(method, operations[method.name]) for method in methods),
        facts=(("servers", printer.value(of.servers)),)
        if kind == "client"
        else (("operations", f"({', '.join(operations.values())}{',' * (len(operations) == 1)})"),),
        base=printer.imported(CLIENTS, _BASES[kind]),
        service=printer.reference(class_name(of.name)),
        name=name,
        class_docstring=docstring(_text(of, methods), 4),
        methods=tuple(
            ClientMethodView(
                name=names.service_method(of, method),
                payload=printer.reference(method.payload.name),
                result=printer.reference(method.result.name),
                operation=operations[method.name],
            )
            for method in methods
        ),
        imports=printer.imports.text(),
    )


def _schemes(methods: Iterable[Method]) -> dict[str, SecurityScheme]:
    """Return the security schemes of the methods by name, in order of first use."""
    return {
        requirement.scheme.name: requirement.scheme
        for method in methods
        if isinstance(method.transport, HTTP)
        for alternative in method.transport.security
        for requirement in alternative
    }


def _text(of: Service, methods: tuple[Method, ...]) -> str:
    """Return the docstring of the class, which names the methods that are left to a subclass."""
    text = of.description or f"The service {of.name}."
    implemented = {method.name for method in methods}
    abstract = [
        f"`{names.service_method(of, method)}`" for method in of.methods if method.name not in implemented
    ]
    if not abstract:
        return text
    return f"{text}\n\nAbstract: a subclass has the methods that it leaves open: {', '.join(abstract)}."


class _Printer:
    """Prints the values of one client, and collects their imports."""

    def __init__(
        self, of: Service, scope: ModuleScope, schemes: Mapping[str, str], *, taken: Collection[str]
    ) -> None:
        """Create the printer; `schemes` has the constants of security schemes, `taken` the module's names."""
        self.imports = Imports()
        self.imports.name("__future__", "annotations")
        self._of, self._package, self._module = of, service_package(of.name), service_module(of.name)
        self._scope, self._schemes = scope, schemes
        self._origins: dict[str, tuple[str, str]] = {name: ("", name) for name in taken}
        """Origin of each name in the client's module: another module, and the name there."""

    def imported(self, module: str, name: str) -> str:
        """Import a name and return it; with leading underscores if the name is taken."""
        origin, alias = (module, name), name
        while self._origins.setdefault(alias, origin) != origin:
            alias = f"_{alias}"
        return self.imports.name(module, name, alias)

    def import_own(self, methods: Iterable[Method]) -> None:
        """Import the names of the design that the methods use, before other imports can take them."""
        self.reference(class_name(self._of.name))
        for method in methods:
            details = [error.type for error in method.errors if error.type]
            errors = [names.error_spec(method, error) for error in method.errors]
            for name in (method.payload.name, method.result.name, *details, *errors):
                self.reference(name)

    def reference(self, name: str) -> str:
        """Return the name of a class, of an error or of the service in the module."""
        return self.imported(relative(self._package, self._scope.modules.get(name, self._module)), name)

    def operation(self, method: Method, name: str) -> ConstantView:
        """Return the constant of a method."""
        maker = self.imported(CLIENTS, "Operation")
        payload, result = self.reference(method.payload.name), self.reference(method.result.name)
        facts = [literal(self._of.name), literal(method.name), self.value(method.transport)]
        facts += [f"payload={payload}", f"result={result}"]
        if self._of.is_lenient:
            facts.append("is_lenient=True")
            if self._scope.sensitive_places(method.result):
                facts.append("is_sensitive=True")
        if method.errors:
            facts.append(f"errors={{{', '.join(self._error(method, error) for error in method.errors)}}}")
        return ConstantView(
            name=name, type=f"{maker}[{payload}, {result}]", value=f"{maker}({', '.join(facts)},)"
        )

    def _error(self, method: Method, error: Error[str]) -> str:
        """Return a declared error with the class of its details."""
        details = self.reference(error.type) if error.type else "None"
        return f"{self.reference(names.error_spec(method, error))}: {details}"

    def value(self, value: Any) -> str:
        """Return the expression of a value in a transport."""
        match value:
            case SecurityScheme():
                return self._schemes[value.name]
            case tuple():
                items = ", ".join(map(self.value, value))
                return f"({items}{',' * (len(value) == 1)})"
            case Mapping():
                return literal(dict(value))
            case None | str() | bool() | int():
                return literal(value)
            case _:
                return self.made(value)

    def made(self, value: Any) -> str:
        """Return the call that creates a value; arguments that are equal to their default are left out."""
        maker = self.imported(CLIENTS, type(value).__name__)
        return f"{maker}({', '.join(self._arguments(value))})"

    def _arguments(self, of: Any) -> Iterator[str]:
        for field in fields(of):
            value, default = getattr(of, field.name), _default(field)
            if default is MISSING and not field.kw_only:
                yield self.value(value)
            elif value != default:
                yield f"{field.name}={self.value(value)}"


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()

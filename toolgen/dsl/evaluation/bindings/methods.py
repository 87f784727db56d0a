"""Methods of services, with the facts that their tools need."""

from __future__ import annotations

from dataclasses import replace

from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Error as CheckedError
from toolgen.shapes import naming
from toolgen.shapes.fields import ObjectType

from ...expr.source import Source
from ...expr.tree import Method as CheckedMethod
from ...structure import Method, Payload, Result
from ..checks.names import check_snake, described
from ..clause_lookup import single_clause
from ..report import Report
from ..tools.errors import method_errors
from ..types.modules import Module
from ..types.payloads import resolve_fields
from ..types.types import Types


@frozen_record
class ResolvedMethod:
    """A method with its clauses, which a tool without Args or Return inherits."""

    service: str
    name: str
    description: str
    clause: Method
    payload_clause: Payload | None
    result_clause: Result | None
    payload: str
    result: str
    """Class names of the payload and the result."""
    module: Module
    errors: tuple[CheckedError[str], ...] = ()
    payload_is_known: bool = True
    result_is_known: bool = True

    @property
    def label(self) -> str:
        return f"{self.service}.{self.name}"

    @property
    def source(self) -> Source:
        return self.clause.source

    @property
    def payload_where(self) -> str:
        return f"the payload of method {self.name!r}"

    @property
    def result_where(self) -> str:
        return f"the result of method {self.name!r}"

    @property
    def payload_type(self) -> ObjectType:
        return self.module.classes[self.payload]

    @property
    def result_type(self) -> ObjectType:
        return self.module.classes[self.result]

    def checked(self) -> CheckedMethod:
        return CheckedMethod(
            name=self.name,
            description=self.description,
            payload=self.payload_type,
            result=self.result_type,
            errors=self.errors,
        )


def operation(
    method: Method,
    service: str,
    common: tuple[CheckedError[str], ...],
    module: Module,
    types: Types,
    report: Report,
) -> ResolvedMethod:
    """Return a method whose payload and result are in the service's module.

    `common` are the errors of all methods in the service; an own error of the method with the same name wins.
    """
    what = f"method {method.name!r}"
    check_snake(report, "a method", method.name, method.source)
    own = method_errors(method, module, types, report)
    drafted = ResolvedMethod(
        service=service,
        name=method.name,
        description=described(report, what, method.description, method.source),
        clause=method,
        payload_clause=single_clause(method, method.children, Payload, report),
        result_clause=single_clause(method, method.children, Result, report),
        payload=naming.class_name(method.name, "payload"),
        result=naming.class_name(method.name, "result"),
        module=module,
        errors=(*own, *(error for error in common if error.name not in {each.name for each in own})),
    )
    are_known = []
    for class_name, clause, where in (
        (drafted.payload, drafted.payload_clause, drafted.payload_where),
        (drafted.result, drafted.result_clause, drafted.result_where),
    ):
        module.reserve(class_name, where, method.source)
        drawn = resolve_fields(clause, where, module, class_name, types, report)
        object_ = ObjectType(
            name=class_name,
            description=drawn.description,
            fields=drawn.fields,
            open=drawn.open,
            foreign=drawn.foreign,
        )
        module.define(object_, drawn.sources)
        module.adopt(object_, where, method.source)
        are_known.append(drawn.is_known)
    return replace(drafted, payload_is_known=are_known[0], result_is_known=are_known[1])

"""The transports of a service: how its client reaches each method."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final, TypeAlias

from toolgen.contract.names import Hint
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import ToolFacts
from toolgen.contract.transport import HTTP as CheckedHTTP
from toolgen.contract.transport import IDEMPOTENT_VERBS, SAFE_VERBS
from toolgen.contract.transport import Function as CheckedFunction
from toolgen.contract.transport import Server as CheckedServer

from ...expr import codes
from ...expr.tree import Binding
from ...http import HTTP
from ...security import NoSecurity, Security
from ...services import Service
from ...structure import Function, Functions
from ..bindings.methods import ResolvedMethod
from ..clause_lookup import single_clause
from ..report import RelatedSource, Report
from ..tools.tools import ToolDraft
from .requests import request_of
from .scope import MethodScope
from .security import SchemeResolver
from .servers import servers_of

Transport: TypeAlias = CheckedHTTP | CheckedFunction | None


@frozen_record(kw_only=False)
class ServiceTransport:
    """The servers of a service, and the transport of each of its methods."""

    servers: tuple[CheckedServer, ...] = ()
    methods: Mapping[str, Transport] = field(default_factory=dict)
    """Transports by the name of the method; None for a method that you implement."""
    is_lenient: bool = False
    """Whether responses that do not fit are passed on."""


NO_TRANSPORT: Final = ServiceTransport()


def transports_of(service: Service, operations: Sequence[ResolvedMethod], report: Report) -> ServiceTransport:
    """Return the transports of a service's methods; report mistakes."""
    servers = servers_of(service, report)
    securities = SchemeResolver(service.name, report)
    common = securities.of(service.children) or ()
    functions = single_clause(service, service.children, Functions, report)
    if functions:
        _check_module(functions, report)
    methods: dict[str, Transport] = {}
    for operation in operations:
        scope, children = MethodScope(operation, report), operation.clause.children
        http = single_clause(operation.clause, children, HTTP, report)
        function = single_clause(operation.clause, children, Function, report)
        own = securities.of(children)
        if http and function:
            related = [RelatedSource(message="the other one is defined here", source=http.source)]
            scope.add(codes.TWO_TRANSPORTS, function.source, related)
        if http:
            if not servers:
                scope.add(codes.NO_SERVER, http.source, service=service.name)
            methods[operation.name] = request_of(scope, http, common if own is None else own)
            continue
        for clause in children:
            if isinstance(clause, Security | NoSecurity):
                scope.add(codes.UNUSED_SECURITY, clause.source, clause=type(clause).__name__)
        if function:
            methods[operation.name] = _function_of(scope, function)
        else:
            target = f"{functions.module}:{operation.name}" if functions else ""
            methods[operation.name] = CheckedFunction(target) if functions else None
    is_lenient = service.answers == "lenient"
    if is_lenient and not any(methods.values()):
        report.add(codes.UNUSED_ANSWERS, service.source, service=service.name)
    return ServiceTransport(servers, methods, is_lenient)


def bound_facts(tool: ToolDraft, binding: Binding, transport: ServiceTransport) -> ToolFacts:
    """Return the facts of a tool that is bound to a method, with the hint of its verb and its leniency."""
    facts = _with_verb_hints(tool.tool.facts, transport.methods.get(binding.method))
    return replace(facts, is_lenient=transport.is_lenient and _passes_on(tool, binding))


def _passes_on(tool: ToolDraft, binding: Binding) -> bool:
    """Return whether a tool passes on its method's result: no renames, no `Return`, no artifacts."""
    sources = [each for each in binding.result.assignments if each.source is not None]
    is_renamed = any(each.source and each.source.name != each.target.name for each in sources)
    return not (tool.has_own_result or is_renamed or binding.artifacts)


def _with_verb_hints(facts: ToolFacts, transport: Transport) -> ToolFacts:
    """Return the facts of a bound tool with the hint that the method's verb implies.

    A safe verb only reads, and an idempotent verb makes the tool idempotent (RFC 9110, section 9.2); the
    author's annotations take precedence.
    """
    if not isinstance(transport, CheckedHTTP) or transport.verb not in IDEMPOTENT_VERBS:
        return facts
    hints = facts.annotations
    hint: Hint = "read_only" if transport.verb in SAFE_VERBS else "idempotent"
    changes = hints.get("destructive") or hints.get("edit")
    if hint in hints or (hint == "read_only" and changes):
        return facts
    return replace(facts, annotations={**hints, hint: True})


def _function_of(scope: MethodScope, clause: Function) -> CheckedFunction:
    """Return the function that a method refers to."""
    module, colon, name = clause.target.partition(":")
    if not (colon and _is_dotted(module) and _is_dotted(name)):
        _refuse(
            clause,
            clause.target,
            "package.module:function",
            'write one such as "rooms:reserve"',
            scope.report,
        )
    return CheckedFunction(clause.target)


def _check_module(clause: Functions, report: Report) -> None:
    """Report a module whose name is not a dotted name."""
    if not _is_dotted(clause.module):
        hint = 'write only the module, such as "rooms"; Function("rooms:reserve") names a function'
        _refuse(clause, clause.module, "package.module", hint, report)


def _is_dotted(name: str) -> bool:
    """Return whether a text consists of identifiers separated by dots."""
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))


def _refuse(clause: Function | Functions, target: str, form: str, hint: str, report: Report) -> None:
    kind = type(clause).__name__
    report.add(codes.BAD_FUNCTION, clause.source, clause=kind, target=target, form=form, hint=hint)

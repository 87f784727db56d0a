"""Typed completions of a service, and the classes of their results."""

from __future__ import annotations

from collections.abc import Sequence

from toolgen.shapes import naming
from toolgen.shapes.fields import ObjectType

from ...agents import Completion
from ...expr import codes
from ...expr.tree import Completion as CheckedCompletion
from ...structure import Return
from ..checks.names import Unique, check_snake, described
from ..clause_lookup import single_clause
from ..report import Report
from ..types.modules import Module
from ..types.payloads import resolve_fields
from ..types.types import Types


def completions_of(
    completions: Sequence[Completion], service: str, module: Module, types: Types, report: Report
) -> tuple[CheckedCompletion, ...]:
    """Return the completions, whose classes are in the module; each name once."""
    unique = Unique(report, f"service {service!r}")
    return tuple(
        _completion(clause, service, module, types, report)
        for clause in completions
        if unique.add("completion", clause.name, clause.source)
    )


def _completion(
    completion: Completion, service: str, module: Module, types: Types, report: Report
) -> CheckedCompletion:
    what = f"completion {completion.name!r}"
    check_snake(report, "a completion", completion.name, completion.source)
    class_name, where = naming.class_name(completion.name, "result"), f"the result of {what}"
    clause = single_clause(completion, completion.children, Return, report)
    if clause is None:
        report.add(codes.NO_RETURN, completion.source, name=completion.name)
    module.names.claim(naming.constant(completion.name), what, completion.source, apart=True)
    for function in naming.completion_functions(completion.name):
        module.names.claim(function, what, completion.source, apart=True)
    module.reserve(class_name, where, completion.source)
    drawn = resolve_fields(clause, where, module, class_name, types, report)
    result = ObjectType(
        name=class_name,
        description=drawn.description,
        fields=drawn.fields,
        open=drawn.open,
        foreign=drawn.foreign,
        examples=drawn.examples,
    )
    module.define(result, drawn.sources)
    module.adopt(result, where, completion.source)
    return CheckedCompletion(
        id=f"{service}.{completion.name}",
        name=completion.name,
        description=described(report, what, completion.description, completion.source),
        result=result,
    )

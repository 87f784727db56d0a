"""Typed completions of a service, and the classes of their results."""

from __future__ import annotations

from collections.abc import Sequence

from toolgen.expr import codes
from toolgen.expr.tree import Completion as CheckedCompletion
from toolgen.shapes import naming
from toolgen.shapes.fields import ObjectType

from ...agents import Completion
from ...structure import Return
from ..checks.names import Unique, check_snake, described
from ..clause_lookup import single_clause
from ..report import Report
from ..types.modules import Module
from ..types.payloads import resolve_fields
from ..types.types import Types


def completions_of(
    words: Sequence[Completion], service: str, module: Module, types: Types, report: Report
) -> tuple[CheckedCompletion, ...]:
    """Return the completions, whose classes stand in the module; each name once."""
    unique = Unique(report, f"service {service!r}")
    return tuple(
        _completion(word, service, module, types, report)
        for word in words
        if unique.add("completion", word.name, word.source)
    )


def _completion(
    word: Completion, service: str, module: Module, types: Types, report: Report
) -> CheckedCompletion:
    what = f"completion {word.name!r}"
    check_snake(report, "a completion", word.name, word.source)
    class_name, where = naming.class_name(word.name, "result"), f"the result of {what}"
    clause = single_clause(word, word.children, Return, report)
    if clause is None:
        report.add(codes.NO_RETURN, word.source, name=word.name)
    module.names.claim(naming.constant(word.name), what, word.source, apart=True)
    for function in naming.completion_functions(word.name):
        module.names.claim(function, what, word.source, apart=True)
    module.reserve(class_name, where, word.source)
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
    module.adopt(result, where, word.source)
    return CheckedCompletion(
        id=f"{service}.{word.name}",
        name=word.name,
        description=described(report, what, word.description, word.source),
        result=result,
    )

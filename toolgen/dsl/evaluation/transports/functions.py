"""Functions behind methods."""

from __future__ import annotations

import keyword

from toolgen.contract.transport import Function as CheckedFunction
from toolgen.expr import codes

from ...transports import Function, Functions
from ..report import Report
from .scope import MethodScope


def function_of(scope: MethodScope, clause: Function) -> CheckedFunction:
    """Return the function that a method names."""
    module, colon, name = clause.target.partition(":")
    if not (colon and is_dotted(module) and is_dotted(name)):
        _refuse(
            clause,
            clause.target,
            "package.module:function",
            'write one such as "rooms:reserve"',
            scope.report,
        )
    return CheckedFunction(clause.target)


def function_in(clause: Functions, method: str) -> CheckedFunction:
    """Return the function of a module that has the name of a method."""
    return CheckedFunction(f"{clause.module}:{method}")


def check_module(clause: Functions, report: Report) -> None:
    """Report a module whose name is no dotted one."""
    if not is_dotted(clause.module):
        hint = 'write the module alone, such as "rooms"; Function("rooms:reserve") names a function'
        _refuse(clause, clause.module, "package.module", hint, report)


def is_dotted(name: str) -> bool:
    """Return whether a text is made of identifiers with dots between them."""
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))


def _refuse(clause: Function | Functions, target: str, form: str, hint: str, report: Report) -> None:
    kind = type(clause).__name__
    report.add(codes.BAD_FUNCTION, clause.source, clause=kind, target=target, form=form, hint=hint)

"""The behaviour of a tool, checked against its arguments and its result."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any as Anything
from typing import Final, TypeAlias

from toolgen.expr import codes
from toolgen.expr.source import Source
from toolgen.expr.tree import Behaviour, Confirmation
from toolgen.expr.tree import LongRunning as CheckedLongRunning
from toolgen.shapes import naming

from ...behaviour import (
    Bookkeeping,
    CallHint,
    Confirm,
    Instructions,
    LongRunning,
    Needs,
    ResultHint,
    ResultReminder,
    Sequential,
    Terminal,
    Timeout,
)
from ...composites import Object, Type
from ...structure import Tool
from ..checks.names import check_snake
from ..clause_lookup import single_clause
from ..report import Report
from ..types.constraints import Subject
from ..types.modules import UNKNOWN, Module
from ..types.types import Types
from .conditions import Arguments, condition
from .durations import seconds
from .templates import TemplateNames, template

_Part: TypeAlias = "Type | Object | str | None"
_WORDS: Final = {"approval": "Approval", "ack": "Acknowledgement", "progress": "Progress"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseScope:
    """The names that the clauses of a tool may refer to."""

    arguments: Arguments
    shown: TemplateNames
    """Of the arguments."""
    result: TemplateNames


class Behaviours:
    """Resolves the behaviour of tools."""

    def __init__(self, report: Report, types: Types) -> None:
        self._report = report
        self._types = types

    def of(self, clause: Tool, module: Module, sides: ClauseScope) -> Behaviour:
        """Return the behaviour of a tool; classes that are made for it go into the module."""
        report, name = self._report, clause.name
        terminal = single_clause(clause, clause.children, Terminal, report)
        confirmation = self._confirmation(clause, module, sides)
        long_running = self._long_running(clause, module)
        if terminal and long_running:
            report.add(codes.TERMINAL_LONG_RUNNING, terminal.source, tool=name)
        return Behaviour(
            confirmation=confirmation,
            long_running=long_running,
            timeout=self._timeout(clause),
            is_sequential=single_clause(clause, clause.children, Sequential, report) is not None,
            is_terminal=terminal is not None,
            is_bookkeeping=single_clause(clause, clause.children, Bookkeeping, report) is not None,
            needs=self._needs(clause),
            instructions=instructions_of(clause, report),
            result_reminder=_text(single_clause(clause, clause.children, ResultReminder, report)),
            call_hint=self._hint(clause, CallHint, sides.shown),
            result_hint=self._hint(clause, ResultHint, sides.result),
        )

    def _hint(self, tool: Tool, kind: type[CallHint] | type[ResultHint], of: TemplateNames) -> str:
        clause: CallHint | ResultHint | None = single_clause(tool, tool.children, kind, self._report)
        if clause is None:
            return ""
        return template(clause.template, kind.__name__, tool.name, of, clause.source, self._report)

    def _timeout(self, tool: Tool) -> float | None:
        clause = single_clause(tool, tool.children, Timeout, self._report)
        what = f"Timeout of tool {tool.name!r}"
        return seconds(clause.limit, what, clause.source, self._report) if clause else None

    def _confirmation(self, tool: Tool, module: Module, sides: ClauseScope) -> Confirmation | None:
        clause = single_clause(tool, tool.children, Confirm, self._report)
        if clause is None:
            return None
        source, report = clause.source, self._report
        return Confirmation(
            hint=template(clause.hint, "the hint of Confirm", tool.name, sides.shown, source, report),
            when=condition(clause, tool.name, sides.arguments, report),
            payload=self._class(clause.payload, tool, "approval", module, source),
        )

    def _long_running(self, tool: Tool, module: Module) -> CheckedLongRunning | None:
        clause = single_clause(tool, tool.children, LongRunning, self._report)
        if clause is None:
            return None
        return CheckedLongRunning(
            ack=self._class(clause.ack, tool, "ack", module, clause.source),
            progress=self._class(clause.progress, tool, "progress", module, clause.source),
        )

    def _class(self, type_: _Part, clause: Tool, part: str, module: Module, source: Source) -> str | None:
        """Return the class of a clause's type; an inline object is named after the tool and the part."""
        if type_ is None:
            return None
        subject = Subject(what=f"the {part} of tool {clause.name!r}", source=source, report=self._report)
        class_name = naming.class_name(clause.name, part)
        description = f"{_WORDS[part]} of {clause.name}."
        found = self._types.object_type(type_, module, class_name, subject, description)
        return None if found == UNKNOWN.name else found

    def _needs(self, tool: Tool) -> tuple[str, ...]:
        clause = single_clause(tool, tool.children, Needs, self._report)
        names: Iterable[str] = clause.names if clause else ()
        for name in names:
            check_snake(self._report, "a capability", name, clause.source if clause else tool.source)
        return tuple(dict.fromkeys(names))


def instructions_of(clause: Anything, report: Report) -> str:
    """Return the instructions of a tool or a toolset."""
    return _text(single_clause(clause, clause.children, Instructions, report))


def _text(clause: Instructions | ResultReminder | None) -> str:
    return inspect.cleandoc(clause.text).strip() if clause else ""

"""The clauses by which a call waits: for an approval, or for an answer that comes later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from toolgen.contract.tool_facts import Confirmation
from toolgen.contract.tool_facts import LongRunning as CheckedLongRunning
from toolgen.expr import codes
from toolgen.expr.source import Source
from toolgen.shapes import naming

from ...behaviour import Confirm, LongRunning, Terminal
from ...composites import Object, Type
from ...structure import Tool
from ..clause_lookup import clauses_of_kind, single_clause
from ..report import Report
from ..types.constraints import Subject
from ..types.modules import UNKNOWN, Module
from ..types.types import Types
from .conditions import Arguments, condition
from .templates import TemplateNames, template

_Part: TypeAlias = "Type | Object | str | None"
_WORDS: Final = {"approval": "Approval", "ack": "Acknowledgement", "progress": "Progress"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseScope:
    """The names that the clauses of a tool may refer to."""

    arguments: Arguments
    shown: TemplateNames
    """The arguments that a template may show."""
    result: TemplateNames


class Behaviours:
    """Resolves the confirmations and the later answers of tools; classes made for them go into the module."""

    def __init__(self, report: Report, types: Types) -> None:
        self._report = report
        self._types = types

    def confirmation(self, tool: Tool, module: Module, sides: ClauseScope) -> Confirmation[str] | None:
        """Return the confirmation of a tool's calls."""
        clause = single_clause(tool, tool.children, Confirm, self._report)
        if clause is None:
            return None
        source, report = clause.source, self._report
        return Confirmation(
            hint=template(clause.hint, "the hint of Confirm", tool.name, sides.shown, source, report),
            when=condition(clause, tool.name, sides.arguments, report),
            payload=self._class(clause.payload, tool, "approval", module, source),
        )

    def long_running(self, tool: Tool, module: Module) -> CheckedLongRunning[str] | None:
        """Return how a tool answers later; one that ends the turn may not."""
        clause = single_clause(tool, tool.children, LongRunning, self._report)
        if clause is None:
            return None
        for terminal in clauses_of_kind(tool.children, Terminal):
            self._report.add(codes.TERMINAL_LONG_RUNNING, terminal.source, tool=tool.name)
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
        made = self._types.object_type(type_, module, class_name, subject, description)
        return None if made == UNKNOWN.name else made

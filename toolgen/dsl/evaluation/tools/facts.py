"""The facts of tools and toolsets that are plain values: behavior, time limits and replacements."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any as Anything
from typing import Final, TypeAlias

from toolgen.contract.executor_problems import close_capability
from toolgen.contract.json_value import Json
from toolgen.contract.names import Hint
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import (
    Confirmation,
    Deprecation,
    ToolFacts,
    is_icon_size,
    is_icon_source,
    is_image_type,
)
from toolgen.contract.tool_facts import Icon as CheckedIcon
from toolgen.contract.tool_facts import LongRunning as CheckedLongRunning
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
from ...expr import codes
from ...expr.source import Source
from ...expr.tree import Tool as CheckedTool
from ...structure import Tool
from ...tool_clauses import Annotations, Deprecated, Icon, Meta, Suppress, Tags
from ..checks.names import check_snake, described
from ..clause_lookup import clauses_of_kind, single_clause
from ..report import Report, source_text, suggestion
from ..types.constraints import Subject
from ..types.jsonvalues import json_value
from ..types.modules import UNKNOWN, Module
from ..types.types import Types
from .conditions import ConditionArguments, condition, grantable, sequential_by
from .templates import TemplateNames, template

_Part: TypeAlias = "Type | Object | str | None"
_WORDS: Final = {"approval": "Approval", "ack": "Acknowledgement", "progress": "Progress"}


def facts_of(
    clause: Tool,
    title: str,
    tags: tuple[str, ...],
    meta: Mapping[str, Json],
    sides: ClauseScope,
    report: Report,
) -> ToolFacts:
    """Return the facts of a tool; `tags` and `meta` are the facts of its toolset."""

    def has(kind: type[Terminal] | type[Bookkeeping]) -> bool:
        return single_clause(clause, clause.children, kind, report) is not None

    sequential = single_clause(clause, clause.children, Sequential, report)

    return ToolFacts(
        title=title,
        description=described(report, f"tool {clause.name!r}", clause.description, clause.source),
        icons=_icons(clause, report),
        deprecated=deprecation(single_clause(clause, clause.children, Deprecated, report)),
        tags=tuple(dict.fromkeys((*tags, *tags_of(clause, report)))),
        annotations=_annotations(clause, report),
        meta={**meta, **meta_of(clause, report)},
        timeout=_timeout(clause, report),
        is_sequential=sequential is not None,
        sequential_by=sequential_by(sequential, clause.name, sides.arguments, report) if sequential else "",
        is_terminal=has(Terminal),
        is_bookkeeping=has(Bookkeeping),
        instructions=instructions_of(clause, report),
        reminder=_text(single_clause(clause, clause.children, ResultReminder, report)),
        call_hint=_hint(clause, CallHint, sides.shown, report),
        result_hint=_hint(clause, ResultHint, sides.result, report),
        needs=_needs(clause, report),
    )


def tags_of(owner: Anything, report: Report) -> tuple[str, ...]:
    """Return the labels of a tool or a toolset."""
    clause = single_clause(owner, owner.children, Tags, report)
    return clause.names if clause else ()


def meta_of(owner: Anything, report: Report) -> Mapping[str, Json]:
    """Return the data of a tool or a toolset for other programs."""
    clause = single_clause(owner, owner.children, Meta, report)
    facts = json_value(clause.facts) if clause else {}
    return facts if isinstance(facts, dict) else {}


def suppressed_of(owner: Anything) -> Mapping[str, str]:
    """Return the reasons why lint rules do not apply to a tool or a toolset, by code."""
    return {clause.rule: clause.reason for clause in clauses_of_kind(owner.children, Suppress)}


def instructions_of(owner: Anything, report: Report) -> str:
    """Return the instructions of a tool or a toolset."""
    return _text(single_clause(owner, owner.children, Instructions, report))


def _icons(clause: Tool, report: Report) -> tuple[CheckedIcon, ...]:
    """Return the icons of a tool in the form of MCP 2025-11-25, in their order; report mistakes."""
    return tuple(_icon(icon, clause.name, report) for icon in clauses_of_kind(clause.children, Icon))


def _icon(clause: Icon, tool: str, report: Report) -> CheckedIcon:
    def refuse(argument: str, value: str, fault: str, hint: str) -> None:
        report.add(
            codes.BAD_ICON,
            clause.source,
            argument=argument,
            tool=tool,
            value=source_text(value),
            fault=fault,
            hint=hint,
        )

    if not is_icon_source(clause.src):
        hint = 'write a URL such as "https://example.org/lamp.svg"'
        refuse("src", clause.src, "is neither an http or https URL nor a data URI of an image", hint)
    if clause.mime_type is not None and not is_image_type(clause.mime_type):
        refuse("mime_type", clause.mime_type, "is not an image type", 'write mime_type="image/png"')
    for size in clause.sizes:
        if not is_icon_size(size):
            fault = "is neither any nor a width and a height"
            refuse("sizes", size, fault, 'write sizes=("48x48",), or sizes=("any",) for a drawing')
    return CheckedIcon(
        src=clause.src, mime_type=clause.mime_type or "", sizes=tuple(clause.sizes), theme=clause.theme
    )


def _annotations(tool: Tool, report: Report) -> Mapping[Hint, bool]:
    clause = single_clause(tool, tool.children, Annotations, report)
    if clause is None:
        return {}
    hints: Mapping[Hint, bool] = clause.hints  # type: ignore[assignment]  # its keywords are the hints
    if hints.get("read_only"):
        for name in ("destructive", "edit"):
            if hints.get(name):
                report.add(codes.ANNOTATIONS_CONFLICT, clause.source, tool=tool.name, hint_name=name)
    return hints


def _timeout(tool: Tool, report: Report) -> float | None:
    clause = single_clause(tool, tool.children, Timeout, report)
    return seconds(clause.limit, f"Timeout of tool {tool.name!r}", clause.source, report) if clause else None


def _hint(tool: Tool, kind: type[CallHint] | type[ResultHint], of: TemplateNames, report: Report) -> str:
    clause: CallHint | ResultHint | None = single_clause(tool, tool.children, kind, report)
    return template(clause.template, kind.__name__, tool.name, of, clause.source, report) if clause else ""


def _needs(tool: Tool, report: Report) -> tuple[str, ...]:
    clause = single_clause(tool, tool.children, Needs, report)
    if clause is None:
        return ()
    for name in clause.names:
        check_snake(report, "a capability", name, clause.source)
        if meant := close_capability(name):
            report.add(codes.CLOSE_CAPABILITY, clause.source, tool=tool.name, name=name, meant=meant)
    return tuple(dict.fromkeys(clause.names))


def _text(clause: Instructions | ResultReminder | None) -> str:
    return inspect.cleandoc(clause.text).strip() if clause else ""


_SPAN: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|s|m|h)")
_DAYS: Final = re.compile(r"\s*([0-9.]+)\s*(d|days?|w|weeks?)\s*", re.IGNORECASE | re.ASCII)
_MILLISECONDS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_LONGEST: Final = 24 * 3600
"""Maximum duration, in seconds; longer work delivers its result later, see `LongRunning`."""


def seconds(text: str, what: str, source: Source, report: Report) -> float | None:
    """Return the seconds of a duration; None if it was reported."""
    fault, hint, match = "", "", _SPAN.fullmatch(text)
    span = float(match[1]) * _MILLISECONDS[match[2]] / 1000 if match else 0.0
    if not match:
        fault, hint = "is not a number with a unit", _repair_hint(text)
        if days := _DAYS.fullmatch(text):
            fault = (
                f"is in {'weeks' if days[2][0].lower() == 'w' else 'days'}, but the units are ms, s, m and h"
            )
    elif span <= 0:
        fault, hint = "is not above 0", 'write a duration above 0, such as "30s"'
    elif span > _LONGEST:
        fault, hint = "is longer than 24 hours", 'write at most "24h"; for longer work, use LongRunning'
    else:
        return span
    report.add(codes.BAD_DURATION, source, what=what, value=source_text(text), fault=fault, hint=hint)
    return None


def _repair_hint(text: str) -> str:
    number = re.match(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", text.lower())
    unit = {"": "s", "sec": "s", "seconds": "s", "second": "s", "min": "m", "minutes": "m", "hours": "h"}
    meant = number and unit.get(number[2], number[2])
    if number and meant in _MILLISECONDS and number.end() == len(text.rstrip()):
        return f'write "{number[1]}{meant}"'
    if _DAYS.fullmatch(text):
        return 'write hours, at most "24h"; for longer work, use LongRunning'
    return 'write a duration such as "500ms", "30s", "2m" or "1h"'


def deprecation(clause: Deprecated | None) -> Deprecation | None:
    """Return the deprecation of a tool, with the replacement as it is written."""
    if clause is None:
        return None
    return Deprecation(reason=clause.reason.strip(), replacement=clause.replacement or "")


def replaced(
    tool: CheckedTool, clause: Deprecated, tools: Mapping[str, CheckedTool], report: Report
) -> CheckedTool:
    """Return the tool with the id of its replacement; report an invalid replacement.

    `tools` are all tools of the design, by id.
    """
    written = clause.replacement
    if tool.facts.deprecated is None or not written:
        return tool
    toolset = tool.id.rpartition(".")[0]
    id_ = written if "." in written else f"{toolset}.{written}"
    replacement, fault, hint = tools.get(id_), "", ""
    if replacement is None:
        fault, hint = f"is {written!r}, which is not a tool of the design", _meant(written, toolset, tools)
    elif id_ == tool.id:
        fault, hint = "is the tool itself", "name another tool, or omit the replacement"
    elif replacement.facts.deprecated is not None:
        fault, hint = f"is {written!r}, which is deprecated too", f"name the replacement of {written!r}"
    if fault:
        report.add(codes.BAD_REPLACEMENT, clause.source, tool=tool.name, fault=fault, hint=hint)
        return tool
    facts = replace(tool.facts, deprecated=replace(tool.facts.deprecated, replacement=id_))
    return replace(tool, facts=facts)


def _meant(written: str, toolset: str, ids: Collection[str]) -> str:
    """Return the hint for an unknown tool: another toolset might have it."""
    elsewhere = next((id_ for id_ in ids if id_.rpartition(".")[2] == written), None)
    if elsewhere is not None:
        return f"write {elsewhere!r}, which is in another toolset"
    own = [id_.removeprefix(f"{toolset}.") for id_ in ids if id_.startswith(f"{toolset}.")]
    return suggestion(written, ids if "." in written else own, "omit the replacement")


@frozen_record
class ClauseScope:
    """The names that the clauses of a tool can refer to."""

    arguments: ConditionArguments
    shown: TemplateNames
    """The arguments that a template can show."""
    result: TemplateNames


class Behaviours:
    """Resolves the confirmations and long-running clauses of tools; their classes are added to the module."""

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
            grantable=grantable(clause, tool.name, report, has_payload=clause.payload is not None),
        )

    def long_running(self, tool: Tool, module: Module) -> CheckedLongRunning[str] | None:
        """Return the long-running behavior of a tool; report a tool that ends the turn."""
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
        type_name = self._types.object_type(type_, module, class_name, subject, description)
        return None if type_name == UNKNOWN.name else type_name

"""Runs the rules over tools, with the settings of a project and `Suppress` clauses."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from toolgen.contract.findings import Code, Finding, Severity
from toolgen.contract.json_value import compact
from toolgen.contract.record import frozen_record

from .rule import LintProblem
from .rules import RULES
from .tool import LintedTool

Setting: TypeAlias = Literal["off", "warning", "error"]

SIMILAR_TOOLS: Final = Code(
    "similar-tools",
    "Two tools have the same description, or differ only in their names, so a model cannot decide which one "
    "to use. Describe the difference, or remove one.",
    "warning",
    is_suppressible=True,
)
UNUSED_SUPPRESS: Final = Code(
    "unused-suppress",
    "A Suppress names a rule that finds nothing at its tool, or that does not exist. Remove it, because it "
    "would hide later findings.",
    "warning",
)
CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        **{rule.code: Code(rule.code, rule.explanation, "warning", True) for rule in RULES.values()},
        **{code.name: code for code in (SIMILAR_TOOLS, UNUSED_SUPPRESS)},
    }
)
"""Every code of the linter, for `toolgen explain`."""


@frozen_record
class LintSettings:
    """The settings of a project for the rules; both are empty without settings."""

    levels: Mapping[str, Setting] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)

    def level(self, code: str) -> Setting:
        """Return the level of a rule."""
        default: Setting = "warning" if code not in RULES or RULES[code].is_on else "off"
        return self.levels.get(code, default)

    def limit(self, code: str) -> int:
        return self.limits.get(code, RULES[code].limit)


@frozen_record
class Linted:
    """The findings of the rules."""

    findings: tuple[Finding, ...]
    suppressed: tuple[tuple[str, str, str], ...]
    """Tool, code and reason of each suppressed finding."""


def lint(tools: Iterable[LintedTool], settings: LintSettings | None = None) -> Linted:
    """Return the findings of the rules, in the order of the tools and of the rules.

    A `Suppress` of a toolset is unused if none of these tools needs it; these findings come last.
    """
    settings = settings or LintSettings()
    listed = list(tools)
    findings: list[Finding] = []
    suppressed: list[tuple[str, str, str]] = []
    alike = _similar(listed) if settings.level(SIMILAR_TOOLS.name) != "off" else {}
    unused = {tool.toolset: dict(tool.toolset_context.suppressed) for tool in listed}
    for tool in listed:
        own, toolset_suppressed = dict(tool.suppressed), tool.toolset_context.suppressed
        for code, problem in _problems(tool, settings, alike):
            if code in tool.suppressed:
                own.pop(code, None)
                suppressed.append((tool.id, code, tool.suppressed[code]))
            elif code in toolset_suppressed:
                unused[tool.toolset].pop(code, None)
                suppressed.append((tool.id, code, toolset_suppressed[code]))
            else:
                findings.append(_finding(tool, code, problem, settings))
        findings += (_unused(tool, code, settings) for code in own)
    for toolset, tool in {tool.toolset: tool for tool in listed}.items():
        for code in unused[toolset]:
            finding = _unused(tool, code, settings)
            message = f"toolset {toolset!r}: {finding.message}"
            findings.append(replace(finding, message=message, tool="", place=tool.toolset_context.place))
    if settings.level(UNUSED_SUPPRESS.name) == "off":
        findings = [finding for finding in findings if finding.code != UNUSED_SUPPRESS.name]
    return Linted(findings=tuple(findings), suppressed=tuple(dict.fromkeys(suppressed)))


def _problems(
    tool: LintedTool, settings: LintSettings, alike: Mapping[str, str]
) -> Iterator[tuple[str, LintProblem]]:
    for code, rule in RULES.items():
        if settings.level(code) != "off":
            for problem in rule.check(tool, settings.limit(code)):
                yield code, problem
    if other := alike.get(tool.id):
        message = f"a model cannot tell it from {other!r}: both have the same description"
        yield SIMILAR_TOOLS.name, LintProblem(message, "describe the difference, or remove one")


def _similar(tools: Iterable[LintedTool]) -> dict[str, str]:
    """Return, for each tool that shares its description with others, the first of them."""
    seen: dict[str, str] = {}
    alike: dict[str, str] = {}
    for tool in tools:
        text = " ".join(tool.description.lower().split())
        key = text or compact(dict(tool.payload))
        if (other := seen.setdefault(key, tool.id)) != tool.id:
            alike[tool.id] = other
    return alike


def _unused(tool: LintedTool, code: str, settings: LintSettings) -> Finding:
    if code not in CODES:
        near = difflib.get_close_matches(code, CODES, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        problem = LintProblem(
            f"its Suppress has an unknown rule: {code!r}", f"{hint}toolgen lint --rules lists them"
        )
    elif settings.level(code) == "off":
        problem = LintProblem(f"its Suppress names the rule {code!r}, which is off", "remove the Suppress")
    else:
        problem = LintProblem(f"its Suppress of {code!r} suppresses nothing", "remove the Suppress")
    return _finding(tool, UNUSED_SUPPRESS.name, problem, settings)


def _finding(tool: LintedTool, code: str, problem: LintProblem, settings: LintSettings) -> Finding:
    severity: Severity = "error" if settings.level(code) == "error" else "warning"
    return Finding(
        code=code,
        message=problem.message,
        severity=severity,
        place=replace(tool.place, pointer=problem.pointer or None),
        tool=tool.id,
        hint=problem.hint,
        is_suppressible=CODES[code].is_suppressible,
    )

"""`toolgen lint`: runs the linter over the tools of the project or of a catalog."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, get_args

from toolgen.catalog.reader import CatalogError, load_catalog
from toolgen.checks.linting import (
    CODES,
    RULES,
    LintedTool,
    LintSettings,
    Setting,
    ToolsetContext,
    lint,
    tool_of_entry,
)
from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Format, Place
from toolgen.contract.printable import printable
from toolgen.dsl import build
from toolgen.dsl.expr.source import Source
from toolgen.dsl.expr.tree import Design
from toolgen.shapes.tree.schema import SchemaParts

from .config import Project
from .load import load_design
from .outcome import Outcome, reported
from .terminal import counted

_LEVELS: Final[Mapping[str, Setting]] = {level: level for level in get_args(Setting)}


def lint_tools(project: Project | None, file: Path | None, format: Format, *, is_strict: bool) -> Outcome:
    """Return the findings about the tools of a catalog, or of the project's design.

    The exit code is 1 if a finding is an error or, with `is_strict`, if there are any.

    Raises:
        ToolgenError: there is no such file, catalog or design.
    """
    if file:
        tools = _listed(file)
    else:
        assert project is not None
        evaluation = build(load_design(project))
        if evaluation.design is None:
            summary = "the design has errors; nothing was linted"
            return reported(evaluation.diagnostics, format, code=1, summary=summary)
        tools = list(_designed(evaluation.design))
    linted = lint(tools, lint_settings(project))
    errors = sum(not finding.is_warning for finding in linted.findings)
    warnings = len(linted.findings) - errors
    notes = [printable(f"{tool}: {code} is suppressed: {reason}") for tool, code, reason in linted.suppressed]
    counts = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}, {len(notes)} suppressed"
    summary = f"{counted(len(tools), 'tool')}: {counts}"
    code = 1 if errors or (is_strict and warnings) else 0
    return reported(linted.findings, format, code=code, notes=notes, summary=summary)


def rules_text(settings: LintSettings) -> str:
    """Return a line for each rule: its code, its level in a project, and its limit."""
    lines = []
    for code in CODES:
        limit = f"  more than {settings.limit(code)}" if code in RULES and RULES[code].limit else ""
        lines.append(f"{code:24}{settings.level(code):8}{limit}".rstrip())
    return "\n".join(lines)


def _listed(file: Path) -> list[LintedTool]:
    """Return the tools of a catalog, without the tools that a provider runs, because they have no schema."""
    try:
        entries = load_catalog(file).tools
        tools = [tool_of_entry(entry) for entry in entries if entry.get("kind") != "native"]
    except CatalogError as error:
        raise ToolgenError(f"{file} {error}", hint="pass a tool_schemas.json") from error
    except OSError as error:
        raise ToolgenError(f"cannot read {file}: {error.strerror}", hint="correct the path") from error
    except (ValueError, RecursionError) as error:
        raise ToolgenError(f"{file} is not JSON: {error}", hint="pass a tool_schemas.json") from error
    except (LookupError, TypeError, AttributeError) as error:
        raise ToolgenError(
            f"{file} is not a tool catalog: one of its tools has no name or no schema",
            hint="pass a tool_schemas.json",
        ) from error
    return [replace(tool, place=Place(file=str(file))) for tool in tools]


def _designed(design: Design) -> Iterator[LintedTool]:
    schemas = SchemaParts()
    for toolset in (toolset for service in design.services for toolset in service.toolsets):
        toolset_context = ToolsetContext(suppressed=toolset.suppressed, place=_place(toolset.source))
        objects = {**design.shared, **{object_.name: object_ for object_ in toolset.objects}}
        for tool in toolset.tools:
            yield LintedTool(
                id=tool.id,
                name=toolset.prefix + tool.name,
                toolset=f"{toolset.service}.{toolset.name}",
                description=tool.facts.description,
                payload=schemas.schema(tool.payload, objects),
                result=schemas.schema(tool.result, objects),
                has_examples=bool(tool.examples),
                is_bounded=tool.bounded is not None,
                has_annotations=bool(tool.facts.annotations),
                place=_place(tool.source),
                suppressed=tool.suppressed,
                toolset_context=toolset_context,
            )


def _place(source: Source | None) -> Place:
    return replace(source.located(), excerpt="") if source else Place()


def lint_settings(project: Project | None) -> LintSettings:
    """Return the settings in `[tool.toolgen.lint]`: levels of rules, or limits, which turn rules on.

    Raises:
        ToolgenError: a rule or its value is unknown.
    """
    levels: dict[str, Setting] = {}
    limits: dict[str, int] = {}
    if project is None:
        return LintSettings()
    for code, value in project.lint.items():
        has_limit = code in RULES and RULES[code].limit > 0
        match value:
            case _ if code not in CODES:
                near = difflib.get_close_matches(code, CODES, n=1)
                hint = f"did you mean {near[0]!r}?" if near else "toolgen lint --rules lists them"
                raise ToolgenError(
                    f"{project.file}: [tool.toolgen.lint] has an unknown rule {code!r}", hint=hint
                )
            case str() if value in _LEVELS:
                levels[code] = _LEVELS[value]
            case int() if not isinstance(value, bool) and value > 0 and has_limit:
                levels[code], limits[code] = "warning", value
            case _:
                number = ", or a number above 0" if has_limit else ""
                raise ToolgenError(
                    f"{project.file}: [tool.toolgen.lint] {code} {value!r} is not a level",
                    hint=f'write "off", "warning" or "error"{number}',
                )
    return LintSettings(levels=levels, limits=limits)

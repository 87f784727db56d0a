"""A design module for the tools of a source: clauses if possible, schema files for the rest.

The user owns the text from then on. It builds without diagnostics: names, classes and limits that a design
would reject are replaced here and reported as findings.
"""

from __future__ import annotations

import builtins
import datetime as dt
import keyword
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from decimal import Decimal
from typing import Any, Final, Literal

from toolgen.contract.findings import Code, Finding
from toolgen.contract.json_value import compact, indented
from toolgen.contract.printable import hides
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Icon
from toolgen.dsl.words import PREFIXES
from toolgen.shapes import naming
from toolgen.shapes.fields import Foreign
from toolgen.shapes.foreign.filling import filler_of
from toolgen.shapes.foreign.normal_form import UnsafeError, normal_form, safe_text
from toolgen.shapes.foreign.reader import Reading, read
from toolgen.shapes.python.sensitive import MARK

from . import codes
from .boundary import each
from .clauses_built import NotExpressibleError, check_tool
from .clauses_layout import MODULES, ClauseCall, CodeValue, Named, Part, Text, call, flat, literal, parts_in
from .codes import finding_at
from .contradictions import contradictions
from .design_attributes import AttributesWriter, is_sensitive, without_sensitive_marks
from .design_functions import BoundTools
from .design_objects import required_defaults, root_schema_clause, to_clauses
from .design_types import TypeTable
from .enum_labels import with_labelled_values
from .ledger import lost_notes
from .names import RENAMED, RENAMED_HINT, DesignNames, identifier
from .tool import ImportedTool, ReaderResult

Side = Literal["args", "result"]

_CLASSES: Final[dict[Side, str]] = {"args": "payload", "result": "result"}
_CLAUSE_NAMES: Final[dict[Side, str]] = {"args": "Args", "result": "Return"}


@frozen_record
class DesignFiles:
    """A design module and its schema files."""

    files: dict[str, str]
    """Texts by relative path, the module first; lines are not broken yet."""
    findings: tuple[Finding, ...]
    imported: int
    """Number of tools in the design."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Assigned names, by identity in the source."""


def design_files(
    source: ReaderResult, *, name: str, service: str, names: Mapping[str, str] | None = None
) -> DesignFiles:
    """Return the design module `<name>.py` with one toolset, and the schema files that it refers to.

    Tools keep their names if possible; otherwise `Meta(name=…)` contains the original name. `names` are the
    names of the last import.
    """
    toolset = identifier(name, "tools")[: naming.LONGEST_NAME].rstrip("_")
    return _Module(source, toolset, service, DesignNames(names)).files()


class _Module:
    def __init__(self, source: ReaderResult, toolset: str, service: str, names: DesignNames) -> None:
        self._source = source
        self._toolset = toolset
        self._names = names
        names.assign("toolset", toolset)
        has_methods = bool(source.module)
        self._service = names.assign("service" if has_methods else "package", service, f"{service}_service")
        self._types = TypeTable(self._names)
        self._bound = BoundTools(self._service, source.module, self._names)
        self._findings: list[Finding] = []
        self._schemas: dict[str, str] = {}

    def files(self) -> DesignFiles:
        tools = [part for tool, name in self._named() for part in self._written(tool, name)]
        return DesignFiles(
            files={f"{self._toolset}.py": self._module(tools), **self._schemas} if tools else {},
            findings=tuple(self._findings),
            imported=len(tools),
            names=self._names.assigned,
        )

    def _named(self) -> list[tuple[ImportedTool, str]]:
        """Return the tools with their names in the design, except tools whose names are too long."""
        wanted: dict[str, tuple[ImportedTool, str]] = {}
        alike = Counter[str]()
        for tool in self._source.tools:
            name = identifier(tool.name, "tool")
            if len(name) <= naming.LONGEST_NAME:
                identity = f"tool {tool.name}"
                while identity in wanted:  # a source can contain several tools with one name
                    alike[tool.name] += 1
                    identity = f"tool {tool.name} {alike[tool.name] + 1}"
                wanted[identity] = tool, name
                continue
            message = f"has a name of {len(name)} characters; providers accept at most {naming.LONGEST_NAME}"
            self._find(codes.LONG_NAME, tool, tool.pointer, message, "shorten the name in the source")
        names = self._names.assign_all({identity: [name] for identity, (_, name) in wanted.items()})
        for identity, (tool, name) in wanted.items():
            if names[identity] != name:
                message = RENAMED.format(names[identity], name)
                self._find(codes.RENAMED, tool, tool.pointer, message, RENAMED_HINT)
        return [(tool, names[identity]) for identity, (tool, _) in wanted.items()]

    def _written(self, tool: ImportedTool, name: str) -> Iterator[Part]:
        """Yield the clause for a tool, unless it is left out."""
        for part in each(self._tool(tool, name), tool.pointer, tool.name):
            if isinstance(part, Finding):
                self._findings.append(part)
                for side in _CLAUSE_NAMES:
                    self._schemas.pop(self._path(name, side), None)
            else:
                yield part

    def _tool(self, tool: ImportedTool, name: str) -> Iterator[Part]:
        normal = self._normal(tool)
        if normal is None:
            return
        source_schema: dict[Side, object] = {"args": tool.arguments, "result": tool.result}
        tool = normal
        readings: dict[Side, Reading | None] = {
            "args": self._read(tool, tool.arguments, tool.arguments_pointer, name, "args"),
            "result": self._read(tool, tool.result, tool.result_pointer, name, "result"),
        }
        if readings["args"] is None or (tool.result is not None and readings["result"] is None):
            return
        description = tool.description.strip()
        if not description:
            description = f"{naming.title(name)}."
            hint = "describe in the design when to use the tool"
            self._find(codes.NO_DESCRIPTION, tool, tool.pointer, "has no description", hint)
        clauses = [
            clause
            for side, reading in readings.items()
            if (clause := self._object(tool, reading, name, side, source_schema[side])) is not None
        ]
        if tool.function:
            clauses = list(self._bound.bind(tool, name, description, clauses))
        title = tool.title.strip()
        is_telling = bool(title) and naming.words(title) != naming.words(name)
        yield call(
            "Tool",
            literal(name),
            Text(description),
            *clauses,
            *fact_clauses(tool, name),
            *([Named("title", Text(title))] if is_telling else ()),
        )

    def _normal(self, tool: ImportedTool) -> ImportedTool | None:
        """Return a tool with schemas and texts in normal form; None if it is left out."""
        if tool.formats_are_types:  # the author's own functions
            return tool
        pointer = tool.pointer
        try:
            if hides(tool.name):
                raise UnsafeError("", "has a name with invisible characters")
            pointer = tool.arguments_pointer
            arguments = normal_form(with_labelled_values(tool.arguments))
            pointer = tool.result_pointer
            result = normal_form(with_labelled_values(tool.result))
        except UnsafeError as error:
            hint = "correct it in the source if you trust the source"
            self._find(codes.UNSAFE, tool, pointer + error.pointer, error.fault, hint)
            return None
        texts = {"title": tool.title, "description": tool.description, "deprecated": tool.deprecated}
        safe: dict[str, Any] = {name: safe_text(text) for name, text in texts.items()}
        return replace(tool, arguments=arguments, result=result, **safe)

    def _read(
        self, tool: ImportedTool, schema: object, pointer: str, name: str, side: Side
    ) -> Reading | None:
        if side == "result" and schema is None:
            return None
        class_name = naming.class_name(name, _CLASSES[side])
        reading = read(schema, name=class_name, arguments=side == "args")
        for problem in reading.problems:
            code = codes.ODD_SCHEMA if problem.is_warning else codes.BAD_SCHEMA
            code = codes.REPAIRED_SCHEMA if problem.is_repair else code
            self._find(code, tool, pointer + problem.pointer, problem.message, problem.hint)
        if reading.foreign is None:
            return None
        for place, fault, hint in contradictions(schema, pointer):
            self._find(codes.ODD_SCHEMA, tool, place, fault, hint)
        return reading

    def _object(
        self, tool: ImportedTool, reading: Reading | None, name: str, side: Side, source_schema: object
    ) -> Part | None:
        """Return `Args` or `Return` of a tool; None if it can be omitted."""
        word = _CLAUSE_NAMES[side]
        foreign = reading.foreign if reading else None
        if foreign is None or reading is None:
            return call(word, call("JSONSchema", literal({})))
        class_name = naming.class_name(name, _CLASSES[side])
        pointer = tool.arguments_pointer if side == "args" else tool.result_pointer
        properties = source_schema.get("properties", {}) if isinstance(source_schema, dict) else {}
        if tool.function and any(map(is_sensitive, properties.values())):
            return self._in_attributes(tool, class_name, word, source_schema, pointer)
        defaults = list(required_defaults(foreign.schema))
        try:
            if side == "args" and defaults and filler_of(compact(foreign.schema)) is not None:
                raise NotExpressibleError(
                    "a codec from clauses does not fill defaults of required properties"
                )
            written = to_clauses(foreign, class_name, self._types, formats_are_types=tool.formats_are_types)
            clause = call(word, *written.parts)
            types = [(type_.name, type_.text) for type_ in written.types]
            schemas = check_tool(self._toolset, call("Tool", literal(name), Text("T."), clause), types)
        except NotExpressibleError:
            if tool.function:
                return self._in_attributes(tool, class_name, word, source_schema, pointer)
            self._find_lost_notes(tool, source_schema, reading.schema, pointer)
            return call(word, self._schema(foreign, reading.schema, name, side))
        self._types.add(written)
        for place, message in defaults:
            hint = "a required property needs no default"
            self._find(codes.LEFT_OUT, tool, pointer + place, message, hint)
        for message in written.lost_keywords:
            self._find(codes.LEFT_OUT, tool, pointer, message, "add it to the design if you need it")
        self._find_lost_notes(tool, source_schema, schemas[side == "result"], pointer)
        return clause if written.parts else None

    def _in_attributes(
        self, tool: ImportedTool, class_name: str, word: str, source_schema: object, pointer: str
    ) -> Part:
        """Return `Args` or `Return` of a function with schemas as types of some attributes."""
        clause = call(word, *AttributesWriter(self._toolset, class_name, self._types).of(source_schema))
        types = [(type_.name, type_.text) for type_ in self._types.types]
        schemas = check_tool(self._toolset, call("Tool", literal("tool"), Text("T."), clause), types)
        self._find_lost_notes(
            tool, without_sensitive_marks(source_schema), schemas[word == "Return"], pointer
        )
        return clause

    def _find_lost_notes(
        self, tool: ImportedTool, source_schema: object, written: object, pointer: str
    ) -> None:
        """Report the annotations in the source's schema that the design leaves out."""
        lost = [pointer + place for place in lost_notes(source_schema, written, tool.name)]
        if tool.formats_are_types:
            lost = [place for place in lost if not place.endswith("/format")]
        reported = {finding.place.pointer for finding in self._findings} if lost else set()
        if unknown := [place.removeprefix(pointer) for place in lost if place not in reported]:
            message = f"has notes that the design leaves out: {', '.join(unknown)}"
            hint = "add it to a description if models should read it"
            if any(place.endswith(f"/{MARK}") for place in unknown):
                hint = "set sensitive=True on the attributes of these classes"
            self._find(codes.NOTE_LEFT_OUT, tool, pointer + unknown[0], message, hint)

    def _schema(self, foreign: Foreign, schema: object, name: str, side: Side) -> Part:
        """Return the clause for a schema that remains a schema, inline or in a file."""
        self._names.claim(foreign.classes)
        try:
            word: Part = root_schema_clause(foreign)
        except NotExpressibleError:
            path = self._path(name, side)
            self._schemas[path] = json_text(schema)
            word = call("JSONSchema", literal(path))
        return word

    def _path(self, name: str, side: Side) -> str:
        """Return the path of the schema file for a tool's side, relative to the design module."""
        return f"{self._toolset}_schemas/{name}.{side}.json"

    def _module(self, tools: list[Part]) -> str:
        toolset = self._toolset
        taken = keyword.iskeyword(toolset) or hasattr(builtins, toolset) or toolset in ("design", *MODULES)
        variable = f"{toolset}_tools" if taken else toolset
        description = self._source.description.strip() or f"{naming.title(toolset)}."
        types = [(type_.name, type_.text) for type_ in (*self._types.types, *self._bound.types)]
        group = call("Toolset", literal(toolset), Text(description), *tools)
        service = call("Service", literal(self._service), Text(description), *self._bound.parts(), variable)
        design = call("Design", literal(toolset), Text(description), service)
        about = f"The tools of {toolset}: `toolgen gen` reads `design` and writes their types and codecs."
        return module_text(about, [*types, (variable, group), ("design", design)])

    def _find(self, code: Code, tool: ImportedTool, pointer: str, message: str, hint: str) -> None:
        self._findings.append(finding_at(code, pointer, message, hint=hint, tool=tool.name))


def fact_clauses(tool: ImportedTool, name: str) -> Iterator[ClauseCall]:
    """Yield the clauses for a tool's behaviour and its name in the source."""
    hints = dict(tool.annotations)
    if hints.get("read_only"):
        hints.pop("destructive", None)  # in MCP it only has a meaning if the tool is not read-only
    if hints:
        yield call("Annotations", *(Named(hint, literal(is_so)) for hint, is_so in hints.items()))
    if tool.tags:
        yield call("Tags", *map(literal, tool.tags))
    if tool.deprecated:
        yield call("Deprecated", Text(tool.deprecated))
    if tool.is_confirmed:
        yield call("Confirm")
    yield from map(_icon, tool.icons)
    if name != tool.name:
        yield call("Meta", Named("name", literal(tool.name.strip())))


def _icon(of: Icon) -> ClauseCall:
    texts = {"mime_type": of.mime_type, "theme": of.theme}
    named = [Named(name, literal(text)) for name, text in texts.items() if text]
    sizes = [Named("sizes", literal(list(of.sizes)))] if of.sizes else []
    return call("Icon", literal(of.src), *named, *sizes)


def module_text(about: str, statements: list[tuple[str, ClauseCall]]) -> str:
    """Return a design module with these variables and the imports that they need."""
    used = {name for _, part in statements for name in modules_in(part)}
    lines = [line for name, line in MODULES.items() if name in used]
    groups = [line for line in lines if "toolgen" not in line], [line for line in lines if "toolgen" in line]
    head = [f'"""{about}"""', *("\n".join(group) for group in groups if group)]
    return "\n\n".join([*head, *(f"{name} = {flat(part)}" for name, part in statements)]) + "\n"


def modules_in(part: Part) -> Iterable[str]:
    """Yield the modules that an expression needs: for clauses, dates, durations and decimals."""
    for inner in parts_in(part):
        word = inner.clause if isinstance(inner, ClauseCall) else inner
        if isinstance(word, str) and word in PREFIXES:
            yield PREFIXES[word]
        elif isinstance(inner, CodeValue):
            values = inner.value if isinstance(inner.value, tuple) else (inner.value,)
            yield from ("dt" for value in values if isinstance(value, dt.date | dt.timedelta))
            yield from ("decimal" for value in values if isinstance(value, Decimal))


def json_text(schema: Any) -> str:
    return indented(schema) + "\n"

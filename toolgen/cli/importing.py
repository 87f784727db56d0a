"""`toolgen import`: writes a design module for tools that are described elsewhere."""

from __future__ import annotations

import ast
import gc
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from toolgen.codegen.write import Edit
from toolgen.codegen.write.output import replace_files
from toolgen.codegen.write.staging import formatted
from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Finding
from toolgen.contract.record import frozen_record
from toolgen.importers.codes import is_loss
from toolgen.importers.design import DesignFiles, design_files
from toolgen.importers.names import identifier
from toolgen.importers.openapi import openapi_files
from toolgen.importers.reimport.conflicts import accepted_addresses, refuse_addresses
from toolgen.importers.reimport.lock import LOCK_SUFFIX, ImportLock, design_path, digest, lock_path, lock_text
from toolgen.importers.reimport.source_text import SourceText
from toolgen.importers.reimport.targets import targets_in
from toolgen.shapes.naming import LONGEST_NAME

from .import_changes import contract_changes, sent_credentials
from .import_place import remembered
from .import_request import (
    ImportRequest,
    OpenAPIChoices,
    is_address,
    is_name,
    located_source,
    name_of,
    require_file,
)
from .import_sources import address_name, api_at, api_file, read_source
from .new_files import write_new_files
from .outcome import Outcome, reported
from .reimporting import TAKE_LOCK, Update, counts_of, planned_update, stored_lock
from .terminal import ProgressLine, counted, show_progress

_LARGE_BYTES: Final = 500_000
_THRESHOLD: Final = (400_000, 10)
"""Thresholds of the garbage collector: new objects per collection (some 40 MB), collections per older one."""
_LACKING: Final = "parts of the source could not be imported (--allow-losses exits 0)"
_EDITED: Final = "changes of the source conflict with your edits (--allow-losses exits 0)"


@contextmanager
def _rarely_collecting() -> Iterator[None]:
    """Collect garbage rarely: an import creates no cycles, except in the merge with an edited design."""
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_rarely_collecting()
def import_tools(request: ImportRequest) -> Outcome:
    """Write the design module and the schemas beside it, or report why this is not possible.

    The exit code is 1 if no tool could be imported, or if parts of the source could not be imported and
    `may_lose` is not set. With `is_strict`, nothing is written if a tool is missing.

    Raises:
        ToolgenError: the source cannot be read, a name does not fit, or a file already exists.
    """
    _require_names(request)
    if request.kind != "openapi":
        require_file(request.source, request.kind)
    _announce(request)
    source = _designed(request)
    design = source.design
    findings = [_in_file(finding, request.source) for finding in design.findings]
    errors = [finding for finding in findings if not finding.is_warning]
    faults = _counted(errors, findings)
    if not design.imported or (errors and request.is_strict):
        reason = "--strict" if design.imported else "no tool could be imported"
        summary = f"{reason}: {faults or 'the source has none'}; nothing was written"
        return reported(findings, request.format, code=1, summary=summary)
    conflicts = source.last.open if source.last else {}
    if unknown := set(request.resolved).difference(conflicts):
        raise _not_open(unknown, conflicts)
    if source.last is not None:
        return _follow(source, source.last, request, findings, set(_unread(errors, design.names)))
    _require_lock(source)
    if request.is_check:
        hint = "import it without --check first, and keep the .import.json beside the design"
        raise ToolgenError(
            f"{request.source} was not imported before, so there is nothing to compare", hint=hint
        )
    lock, schemas, tree = source.lock()
    stored = {file.name: text for file, text in source.stored.items() if text is not None}
    texts = {source.file.name: lock.module, **schemas, **stored, lock_path(source.file).name: lock_text(lock)}
    write_new_files(source.file.parent, texts, is_forced=request.is_forced)
    replace_files({file: edit for file, edit in source.edits().items() if edit.new is None})
    is_failed = any(map(is_loss, findings)) and not request.may_lose
    counts = f"imported {counted(design.imported, 'tool')}"
    parts = [counts, faults, _unnamed_server(source.file), _LACKING if is_failed else ""]
    return reported(
        findings,
        request.format,
        code=1 if is_failed else 0,
        notes=[*sent_credentials(tree), *_next_steps(source.file, list(schemas))],
        summary="; ".join(filter(None, parts)),
    )


def _require_names(request: ImportRequest) -> None:
    """Raise if a name on the command line cannot be the name of a toolset or a service."""
    for option, text in (("--name", request.name), ("--service", request.service)):
        if text and not is_name(text):
            raise ToolgenError(
                f"{option} {text!r} must begin with a lowercase letter, consist of lowercase letters, digits "
                f"and '_', have at most {LONGEST_NAME} characters, and not be a Python keyword",
                hint=f"{option} {name_of(text)}",
            )


def _unread(errors: Iterable[Finding], names: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of tools that were left out, in the source and in the design."""
    for tool in {finding.tool for finding in errors}:
        yield from (tool, names.get(f"tool {tool}") or identifier(tool, "tool"))


def _announce(request: ImportRequest) -> None:
    """Print the name of a large file before it is read."""
    file = request.source
    if request.kind != "python" and os.path.isfile(file) and (size := os.path.getsize(file)) >= _LARGE_BYTES:
        show_progress(f"reading {request.source}, {size / 1_000_000:.1f} MB…")


def _require_lock(source: _Imported) -> None:
    """Raise if a design exists without the lock of its import."""
    if source.file.exists() and not source.request.is_forced:
        raise ToolgenError(
            f"{source.file.name} already exists, but the lock of its import, {lock_path(source.file)}, is "
            "missing; nothing was written",
            hint=TAKE_LOCK,
        )


def follow_imports(request: ImportRequest) -> Iterator[Outcome]:
    """Repeat the imports of all designs with a lock in a folder, or of one design, and yield the outcomes.

    Raises:
        ToolgenError: there is no lock, or a source or a design cannot be read.
    """
    out = request.out
    locks = [Path(lock_path(out))] if out.suffix == ".py" else sorted(out.glob(f"*{LOCK_SUFFIX}"))
    if not any(map(Path.exists, locks)):
        hint = "pass the folder of the design with --out, or KIND and SOURCE for a new import"
        raise ToolgenError(f"no lock of an import (*{LOCK_SUFFIX}) in {out}", hint=hint)
    stored = {file: stored_lock(file) for file in locks}
    places = [place for lock in stored.values() for place in lock.open]
    if unknown := set(request.resolved).difference(places):
        raise _not_open(unknown, places)
    for file, lock in stored.items():
        source = located_source(lock.kind, lock.source, file.parent)
        resolved = tuple(place for place in request.resolved if place in lock.open)
        again = replace(
            request, kind=lock.kind, source=source, out=Path(design_path(file)), resolved=resolved
        )
        yield import_tools(again)


def _not_open(places: Iterable[str], conflicts: Iterable[str]) -> ToolgenError:
    names = ", ".join(map(repr, sorted(places)))
    open_conflicts = ", ".join(map(repr, conflicts))
    closed = (
        "the lock has no open conflicts; toolgen import updates the design and the lock, and reports new ones"
    )
    hint = f"open conflicts: {open_conflicts}" if open_conflicts else closed
    return ToolgenError(f"--resolve {names}: the lock has no such open conflict", hint=hint)


def _follow(
    source: _Imported, last: ImportLock, request: ImportRequest, findings: list[Finding], unread: set[str]
) -> Outcome:
    """Merge the current source into a design that was imported before, or report what would change.

    The exit code is 1 in the same cases as for a first import, if there are conflicts with edits of the
    author, and with `is_check` if anything would change.
    """
    lock, schemas = source.lock()[:2]
    unresolved = {place: each for place, each in last.open.items() if place not in request.resolved}
    last = replace(last, open=unresolved)
    update = planned_update(
        source.file, last, lock, schemas, unread, chosen=source.chosen(lock.module), is_check=request.is_check
    )
    effects = update.effects
    stuck = [effect for effect in effects if effect.kind in ("conflict", "gone")]
    is_open = any(effect.place for effect in effects)
    changes = [
        effect.finding(request.format) for effect in effects if request.format != "text" or effect in stuck
    ]
    notes = [effect.note for effect in effects if request.format == "text" and effect not in stuck]
    if effects:
        notes += [*_new_credentials(source.file, update), *_breaking(source, last, lock, schemas)]
    file = _shown(source.file)
    counts = ", ".join(counts_of(effects))
    if request.is_check and not effects:
        return Outcome(code=0, summary=f"{file} is up to date with {source.shown}", is_current=True)
    if request.is_check:
        summary = f"{source.shown} has changed: {counts}; run without --check to update the design"
        if all(effect.is_old for effect in effects):
            conflicts = counted(len(effects), "open conflict")
            summary = f"{file} is up to date with {source.shown}, but has {conflicts}"
        return reported(changes, request.format, code=1, notes=notes, summary=summary)
    if stuck and request.is_strict:
        summary = f"--strict: {counts}; nothing was written"
        return reported([*findings, *changes], request.format, code=1, notes=notes, summary=summary)
    replace_files({**source.edits(), **update.edits})
    lacking = _LACKING if any(map(is_loss, findings)) else _EDITED if stuck else ""
    parts = [f"imported {counted(source.design.imported, 'tool')}", counts or f"{file} is up to date"]
    parts += [_unnamed_server(source.file)]
    parts += [_counted([each for each in findings if not each.is_warning], findings)]
    advice = "resolve the conflicts with --resolve" if is_open else "" if request.may_lose else lacking
    return reported(
        [*findings, *changes],
        request.format,
        code=1 if advice else 0,
        notes=notes,
        summary="; ".join(filter(None, [*parts, advice])),
    )


def _new_credentials(design: Path, update: Update) -> Iterator[str]:
    """Yield a line for each credential that a design sends only after an update."""
    if (edit := update.edits.get(design)) is not None and edit.old is not None and edit.new is not None:
        before, after = (ast.parse(text.decode("utf-8-sig")) for text in (edit.old, edit.new))
        lines = sent_credentials(before)
        yield from (line for line in sent_credentials(after) if line not in lines)


def _breaking(
    source: _Imported, last: ImportLock, lock: ImportLock, schemas: Mapping[str, str]
) -> Iterable[str]:
    """Return a line for each change that affects users of the tools."""
    texts = {path: _text_of(source.file.parent / path) for path in last.files}
    schemas_before = {path: text for path, text in texts.items() if text is not None}
    before, after = ({source.file.name: each.module} for each in (last, lock))
    return contract_changes(before | schemas_before, {**after, **schemas})


def _text_of(file: Path) -> str | None:
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError):
        return None


def _unnamed_server(design: Path) -> str:
    """Return a hint for the summary if a server of the design has no host; "" otherwise."""
    if not re.search(r'\bServer\(\s*"/', _text_of(design) or ""):
        return ""
    return f"calls fail until you set the server: --server URL, or Server(…) in {_shown(design)}"


def _in_file(finding: Finding, source: str) -> Finding:
    return replace(finding, place=replace(finding.place, file=source))


@frozen_record
class _Imported:
    """A source in its current state, and its last import."""

    request: ImportRequest
    """Options of the command, completed with the options of the last import."""
    design: DesignFiles
    file: Path
    """The design module."""
    last: ImportLock | None
    command_options: OpenAPIChoices
    """Options of this command only."""
    stored: Mapping[Path, str | None]
    """Text of a fetched document, by the file that stores it; None deletes the file."""

    @property
    def shown(self) -> str:
        """Name of the source in messages; a check reads the stored document."""
        is_stored = self.request.is_check and is_address(self.request.source)
        return f"the stored document of {self.request.source}" if is_stored else self.request.source

    def chosen(self, module: str) -> list[str]:
        """Return the addresses of a module that the command names with --server."""
        return accepted_addresses(SourceText(module).tree) if self.command_options.server else []

    def edits(self) -> dict[Path, Edit]:
        """Return the edits that store the document of an address."""
        olds = {file: file.read_bytes() if file.is_file() else None for file in self.stored}
        news = {file: None if text is None else text.encode() for file, text in self.stored.items()}
        edits = {file: Edit(old=olds[file], new=news[file]) for file in olds}
        return {file: edit for file, edit in edits.items() if edit.old != edit.new}

    def lock(self) -> tuple[ImportLock, dict[str, str], ast.AST]:
        """Return the lock of this import, with its module formatted, the schemas beside it, and its tree."""
        module, *paths = self.design.files
        schemas = {path: self.design.files[path] for path in paths}
        text = self.design.files[module]
        options = self.request.stored()
        accepted = self.request.openapi.accepted
        if accepted and not self.command_options.is_accepted:
            text = refuse_addresses(SourceText(text), accepted)
        if accepted or self.command_options.is_accepted:
            options["accept-server"] = accepted_addresses(SourceText(text).tree)
        text = formatted([text])[0]
        tree = SourceText(text).tree
        lock = ImportLock(
            kind=self.request.kind,
            source=self.request.stored_source(self.file.parent),
            options=options,
            module=text,
            targets=targets_in(tree),
            files={path: digest(text) for path, text in schemas.items()},
            names=dict(self.design.names),
        )
        return lock, schemas, tree


def _designed(request: ImportRequest) -> _Imported:
    """Return the design of a source, with values of its last import for options that are not set."""
    command_options = request.openapi
    stored: Mapping[Path, str | None] = {}
    if request.kind == "openapi":
        api = None if is_address(request.source) else api_file(request.source)
        name = api.document.name if api else address_name(request.source)
        request, file, last = remembered(request, name)
        api = api or api_at(request.source, file, is_check=request.is_check)
        stored = api.stored
        with ProgressLine() as progress:
            design = openapi_files(
                api.document,
                api.read,
                name=request.name,
                service=request.service or request.name,
                options=request.openapi.options(),
                names=last.names if last else None,
                progress=progress,
            )
    else:
        source = read_source(request.kind, request.source)
        request, file, last = remembered(request, source.name)
        service, names = request.service or request.name, last.names if last else None
        design = design_files(source, name=request.name, service=service, names=names)
        design = replace(design, findings=(*source.findings, *design.findings))
    return _Imported(
        request=request, design=design, file=file, last=last, command_options=command_options, stored=stored
    )


def _next_steps(file: Path, schemas: list[str]) -> tuple[str, ...]:
    out, module = file.parent, file.stem
    lines = [f"{_shown(file)}: the design module; edit it freely, it is not generated again"]
    lines.append(
        f"{_shown(Path(lock_path(file)))}: the record of this import, by which the next one keeps your edits"
    )
    if schemas:
        count = counted(len(schemas), "schema")
        lines.append(f"{_shown((out / schemas[0]).parent)}: {count} that clauses cannot express")
    dotted = [part for part in Path(_shown(out)).parts if part not in (os.curdir, os.sep)]
    inside = all(part.isidentifier() for part in dotted)
    name = ".".join([*dotted, module]) if inside else module
    lines.append(f'next: set design = "{name}" in [tool.toolgen] of pyproject.toml, then run: toolgen gen')
    return tuple(lines)


def _shown(path: Path) -> str:
    """Return the path relative to the working directory, if it is below that directory."""
    shown = os.path.relpath(path)
    return str(path) if shown.startswith(os.pardir) else shown


def _counted(errors: list[Finding], findings: list[Finding]) -> str:
    warnings = len(findings) - len(errors)
    parts = [counted(len(errors), "error")] if errors else []
    parts += [counted(warnings, "warning")] if warnings else []
    return ", ".join(parts)

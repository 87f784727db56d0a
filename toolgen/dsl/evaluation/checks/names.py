"""Rules about names, versions and descriptions, and the identifiers derived from names."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Hashable
from typing import Final

from toolgen.shapes import naming

from ...expr import codes
from ...expr.source import Source
from ...services import Design
from ..report import RelatedSource, Report, source_text

_IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DESIGN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

TAKEN_MODULES: Final = {
    "types": "the module of the shared types",
    "self": "the first argument of every method",
}
"""The object that a service would shadow, by the name of the service's module."""


def check_snake(report: Report, what: str, name: str, source: Source) -> None:
    """Check the name of a toolset, a tool, a method or an artifact: `like_this`."""
    if not _check_pattern(report, what, name, source, naming.TOOL_NAME, "like_this", naming.snake):
        return
    check_length(report, what, name, source, "the name")


def check_identifier(report: Report, what: str, name: str, source: Source) -> None:
    """Check the name of a service, a type or an enum: an identifier, by convention `LikeThis`."""
    if not _check_pattern(report, what, name, source, _IDENTIFIER, "LikeThis", naming.class_name):
        return
    check_length(report, what, name, source, "the name")
    if keyword.iskeyword(naming.class_name(name)):
        report.add(
            codes.RESERVED_NAME,
            source,
            name=name,
            what=what,
            taken_by="Python",
            proposal=naming.class_name(name, "value"),
        )


def check_service(report: Report, name: str, source: Source) -> None:
    check_identifier(report, "a service", name, source)
    taken_by = TAKEN_MODULES.get(naming.module_name(name))
    if taken_by:
        report.add(
            codes.RESERVED_NAME,
            source,
            name=name,
            what="a service",
            taken_by=taken_by,
            proposal=naming.class_name(name, "service"),
        )


def check_design(report: Report, name: str, source: Source) -> None:
    _check_pattern(report, "the design", name, source, _DESIGN, "like-this", naming.snake)


def check_key(report: Report, what: str, name: str, source: Source) -> bool:
    """Check a JSON key: the name of an attribute, a tag or a branch; return whether it is valid."""
    fault = key_fault(name)
    if fault:
        report.add(
            codes.BAD_NAME,
            source,
            name=name,
            what=what,
            fault=fault,
            hint=_name_hint(name, _key(name), "write a JSON key"),
        )
    return not fault


def key_fault(name: str) -> str:
    """Return the reason why a name cannot be a JSON key; "" for a valid one."""
    if name.isascii() and name.isidentifier():
        return ""
    if not name:
        return "is empty"
    if re.search(r"\s", name):
        return "contains a space"
    return "" if name.isprintable() else "contains a character that cannot be printed"


def _key(name: str) -> str:
    """Return a valid key close to an invalid one; empty if there is none."""
    return naming.snake(name) if name.isascii() and naming.words(name) else ""


def check_length(report: Report, what: str, name: str, source: Source, part: str) -> None:
    """Check a name against the maximum length that all model providers accept."""
    surplus = len(name) - naming.LONGEST_NAME
    if surplus > 0:
        report.add(
            codes.NAME_TOO_LONG,
            source,
            what=what,
            name=name,
            length=len(name),
            limit=naming.LONGEST_NAME,
            part=part,
            excess=surplus,
            plural="s" if surplus > 1 else "",
        )


def described(report: Report, what: str, description: str | None, source: Source) -> str:
    """Return the description without indentation, "" for None; report an empty one."""
    if description is None:
        return ""
    text = (inspect.cleandoc(description) if "\n" in description else description.expandtabs()).strip()
    if not text:
        report.add(codes.MISSING_DESCRIPTION, source, what=what)
    return text


def surface(toolset: str) -> dict[str, str]:
    """Return the identifiers that a toolset's package always has, each with its description."""
    what = f"toolset {toolset!r}"
    return {
        naming.class_name(toolset, "executor"): f"the executor of {what}",
        naming.class_name("bound", toolset, "executor"): f"the bound executor of {what}",
        "SPECS": f"the list of the tools of {what}",
        "ToolId": f"the type of the ids of {what}",
    }


class Unique:
    """Names that must be unique in one scope."""

    def __init__(self, report: Report, where: str) -> None:
        self._report = report
        self._where = where
        self._first: dict[Hashable, Source] = {}

    def add(self, what: str, name: str, source: Source, hint: str = "rename one of them") -> bool:
        """Add a name; return whether it was free, and report it if it was not."""
        first = self._first.get((what, name))
        if first is None:
            self._first[what, name] = source
            return True
        same = first.place == source.place
        if first is source:
            hint = "list it once"
        elif same:
            hint = f"this line creates several of them: give each {what} its own name"
        self._report.add(
            codes.DUPLICATE_NAME,
            source,
            related=[] if same else [RelatedSource(message="first defined here", source=first)],
            what=what,
            name=name,
            where=self._where,
            hint=hint,
        )
        return False


class Identifiers:
    """Identifiers of one generated scope, each with the name that it derives from."""

    def __init__(self, report: Report, where: str, outer: Identifiers | None = None) -> None:
        self._report = report
        self._where = where
        self._outer = outer
        self._taken: dict[str, tuple[str, Source]] = {}

    def claim(self, identifier: str, what: str, source: Source, *, apart: bool = False) -> bool:
        """Claim an identifier; return whether it was free, and report it with both names if it was not.

        `apart` means that it never occurs together with identifiers of the outer scope.
        """
        outer = None if apart or self._outer is None else self._outer._taken.get(identifier)
        taken = self._taken.get(identifier) or outer
        if not taken:
            self._taken[identifier] = what, source
            return True
        other, place = taken
        self._report.add(
            codes.IDENTIFIER_CLASH,
            source,
            related=[RelatedSource(message=f"{other} is defined here", source=place)],
            what=what,
            other=other,
            identifier=identifier,
            where=self._where,
        )
        return False


def _check_pattern(
    report: Report,
    what: str,
    name: str,
    source: Source,
    pattern: re.Pattern[str],
    form: str,
    repaired: Callable[[str], str],
) -> bool:
    if pattern.fullmatch(name):
        return True
    fault = (
        "is empty" if not name else "contains a space" if re.search(r"\s", name) else f"is not written {form}"
    )
    proposal = repaired(name)
    hint = _name_hint(
        name,
        proposal if name.isascii() and pattern.fullmatch(proposal) else "",
        "use letters from a to z, digits and underscores, and begin with a letter",
    )
    report.add(codes.BAD_NAME, source, name=name, what=what, fault=fault, hint=hint)
    return False


def _name_hint(name: str, proposal: str, otherwise: str) -> str:
    if re.search(r"\s", name):
        return f"is a comma missing? if not, write {proposal!r}" if proposal else "is a comma missing?"
    return f"write {proposal!r}" if proposal else otherwise


_NUMBER: Final = "0|[1-9][0-9]*"
_PART: Final = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION: Final = re.compile(
    rf"(?:{_NUMBER})\.(?:{_NUMBER})\.(?:{_NUMBER})"
    rf"(?:-{_PART}(?:\.{_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_LIKE: Final = re.compile(r"[vV]?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?")


def version_of(clause: Design, report: Report) -> str:
    """Return the version of a design (semver.org 2.0.0); "" if there is none, or it was reported."""
    if clause.version is None or _VERSION.fullmatch(clause.version):
        return clause.version or ""
    like = _LIKE.fullmatch(clause.version.strip())
    meant = ".".join(str(int(part or "0")) for part in like.groups()) if like else ""
    hint = f'write version="{meant}"' if meant else 'write three numbers, such as version="1.0.0"'
    report.add(
        codes.BAD_VERSION, clause.source, name=clause.name, value=source_text(clause.version), hint=hint
    )
    return ""

"""Reads docstrings: of the whole, of each parameter, of the result (Google, NumPy or Sphinx style)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class DocstringTexts:
    """The texts of a docstring; sections about anything else are left out."""

    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    result: str = ""


_PARAMETERS: Final = frozenset("args arguments keyword-args other-parameters parameters params".split())
_RESULTS: Final = frozenset("return returns yield yields".split())
_OTHERS: Final = frozenset(
    "attributes example examples note notes raises references see-also todo warning warnings warns".split()
)
_GOOGLE: Final = re.compile(r"([A-Z][A-Za-z ]*):\s*$")
_SPHINX: Final = re.compile(r":(\w+)(?:\s+([^:]*))?:\s*(.*)")
_TYPED: Final = re.compile(r"(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)", re.DOTALL)
_NAMED: Final = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_RESULT_TYPE: Final = re.compile(
    r"[A-Za-z_][\w.]*(?:\[[^\]]*\]+)?(?:\s*\|\s*[\w.\[\], ]+)?\s*:\s+(.*)", re.DOTALL
)


def read_docstring(text: str | None) -> DocstringTexts:
    """Return the parsed docstring; one of no known style is all description."""
    if not text or not text.strip():
        return DocstringTexts()
    lines = inspect.cleandoc(text).splitlines()
    description: list[str] = []
    parameters: dict[str, str] = {}
    result = ""
    for kind, name, block in _blocks(lines):
        if kind == "text":
            description += block
        elif kind == "result":
            result = result or _one_line("\n".join(block))
        elif kind == "parameter" and (described := _one_line("\n".join(block))):
            parameters[name] = described
    return DocstringTexts(description="\n".join(description).strip(), parameters=parameters, result=result)


def _blocks(lines: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the parts of a docstring in their order: kind, name of the parameter, lines."""
    at = 0
    while at < len(lines):
        if (key := _numpy(lines, at)) is not None:
            end = next((n for n in range(at + 2, len(lines)) if _numpy(lines, n) is not None), len(lines))
            yield from _section(key, lines[at + 2 : end], is_numpy=True)
        elif (key := _google(lines, at)) is not None:
            end = _end_of_indented(lines, at + 1)
            yield from _section(key, lines[at + 1 : end], is_numpy=False)
        elif match := _SPHINX.match(lines[at]):
            end = max(_end_of_indented(lines, at + 1), _end_of_paragraph(lines, at + 1))
            yield _sphinx(match, lines[at + 1 : end])
        else:
            end = at + 1
            yield "text", "", lines[at:end]
        at = end


def _numpy(lines: list[str], at: int) -> str | None:
    """Return the key of a heading that is underlined; None where there is none."""
    is_underlined = at + 1 < len(lines) and re.fullmatch("-{3,}", lines[at + 1].strip())
    return _section_kind(lines[at]) if is_underlined else None


def _google(lines: list[str], at: int) -> str | None:
    match = _GOOGLE.fullmatch(lines[at])
    is_section = match and _end_of_indented(lines, at + 1) > at + 1
    return _section_kind(match[1]) if match and is_section else None


def _section_kind(heading: str) -> str | None:
    """Return the key of a section's heading; None for a line of text."""
    key = heading.strip().lower().replace("keyword arguments", "keyword args").replace(" ", "-")
    return key if key in _PARAMETERS | _RESULTS | _OTHERS else None


def _section(key: str, lines: list[str], *, is_numpy: bool) -> Iterator[tuple[str, str, list[str]]]:
    items = list(_items(inspect.cleandoc("\n".join(["", *lines])).splitlines()))
    if key in _PARAMETERS:
        for head, body in items:
            pattern = _NAMED if is_numpy else _TYPED
            if match := pattern.fullmatch(head):
                for name in match[1].split(","):
                    yield "parameter", name.strip().lstrip("*"), [*([] if is_numpy else [match[2]]), *body]
    elif key in _RESULTS and is_numpy:
        # A type, or a name and a type, with the text below it; the text alone where nothing is below.
        yield "result", "", items[0][1] or [head for head, _ in items] if items else []
    elif key in _RESULTS:
        text = "\n".join("\n".join([head, *body]) for head, body in items)
        match = _RESULT_TYPE.fullmatch(text)
        yield "result", "", [match[1] if match else text]


def _sphinx(match: re.Match[str], more: list[str]) -> tuple[str, str, list[str]]:
    field_name, argument, text = match[1], match[2] or "", match[3]
    if field_name in ("param", "parameter", "arg", "argument", "key", "keyword") and argument:
        return "parameter", argument.split()[-1].lstrip("*"), [text, *more]
    return ("result" if field_name in _RESULTS else "other"), "", [text, *more]


def _items(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each line that is not indented, with those below it that are."""
    item: tuple[str, list[str]] | None = None
    for line in lines:
        if line.strip() and not line[0].isspace():
            if item:
                yield item
            item = (line, [])
        elif item:
            item[1].append(line)
    if item:
        yield item


def _end_of_indented(lines: list[str], at: int) -> int:
    """Return where the indented lines end, blank ones between them counted."""
    end = at
    for number in range(at, len(lines)):
        line = lines[number]
        if line.strip():
            if not line[0].isspace():
                break
            end = number + 1
    return end


def _end_of_paragraph(lines: list[str], at: int) -> int:
    """Return the line after the continuation lines of a Sphinx field."""
    ends = (n for n in range(at, len(lines)) if not lines[n].strip() or _SPHINX.match(lines[n]))
    return next(ends, len(lines))


def _one_line(text: str) -> str:
    """Return the text with spaces for line breaks, which come from the width of the source."""
    return " ".join(text.split())

"""Text of the design as TypeScript source: literals, property names, TSDoc comments, wrapped lines."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.contract.printable import visible

WIDTH: Final = 100
"""Maximum columns of a line that can be broken."""

_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_TAG: Final = re.compile(r"(?<![\w\\])@(?=[A-Za-z])")
"""Text that TSDoc would read as a tag, or the compiler as a directive such as `@ts-ignore`."""
_MOST: Final = 2**53 - 1
"""`Number.MAX_SAFE_INTEGER`."""


def quote(text: str) -> str:
    """Return a string literal, with invisible characters escaped."""
    return visible(json.dumps(text, ensure_ascii=False)).replace("\x7f", r"\u007f")


def literal(value: Json) -> str:
    """Return the literal of a JSON value, on one line."""
    return visible(json.dumps(value, ensure_ascii=False))


def value(of: Json, indent: int = 0) -> str:
    """Return a JSON value as TypeScript source, on several lines if it is long."""
    match of:
        case dict() if of:
            items = [f"{property_name(key)}: {value(inner, indent + 2)}" for key, inner in of.items()]
            return _bracketed("{ ", items, " }", indent)
        case list() if of:
            return _bracketed("[", [value(inner, indent + 2) for inner in of], "]", indent)
        case _:
            return literal(of)


def _bracketed(start: str, items: list[str], end: str, indent: int) -> str:
    line = f"{start}{', '.join(items)}{end}"
    if indent + len(line) <= WIDTH // 2 and "\n" not in line:
        return line
    margin = " " * indent
    body = "".join(f"{margin}  {item},\n" for item in items)
    return f"{start.strip()}\n{body}{margin}{end.strip()}"


def literal_type(value: str | int | float | bool) -> str:
    """Return the type of one value; `number` for a number that JavaScript cannot represent exactly."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value != value or abs(value) > _MOST:
        return "number"
    return repr(int(value)) if value == int(value) else repr(value)


def is_exact(value: float) -> bool:
    """Return whether JavaScript represents every integer up to this one exactly."""
    return abs(value) <= _MOST


def property_name(key: str) -> str:
    """Return the key of an object as written in a type."""
    return key if _NAME.fullmatch(key) else quote(key)


def union(members: Sequence[str], *, indent: int, taken: int) -> str:
    """Return the union of types, one type per line if it does not fit on the rest of the line.

    `taken` is the number of columns of the line that are already used.
    """
    line = " | ".join(members)
    if len(members) == 1 or indent + taken + len(line) <= WIDTH:
        return f" {line}"
    margin = "\n" + " " * (indent + 2)
    return "".join(f"{margin}| {member}" for member in members)


def comment(text: str, tags: Iterable[tuple[str, str]] = (), *, indent: int = 0) -> str:
    """Return a TSDoc comment without its first indent; "" if it would be empty.

    `tags` are block tags, for example `deprecated`, with their texts, which are escaped like `text`.
    """
    lines = _lines(text, indent)
    of_tags = [line for tag, about in tags for line in _tag(tag, about, indent)]
    if lines and of_tags:
        lines.append("")
    lines += of_tags
    if not lines:
        return ""
    margin = " " * indent
    if len(lines) == 1 and indent + len(lines[0]) + 7 <= WIDTH:
        return f"/** {lines[0]} */"
    body = "".join(f"{margin} * {line}".rstrip() + "\n" for line in lines)
    return f"/**\n{body}{margin} */"


def _tag(tag: str, text: str, indent: int) -> list[str]:
    lines = _lines(text, indent + len(tag) + 2)
    return [f"@{tag}", *lines] if len(lines) > 1 else [f"@{tag} {''.join(lines)}".rstrip()]


def _lines(text: str, indent: int) -> list[str]:
    """Return the lines of a text for a comment, escaped so that none ends it or is a tag or directive."""
    lines = (
        wrapped
        for line in text.strip().replace("\r\n", "\n").split("\n")
        for wrapped in _wrapped(_harmless(line.expandtabs().rstrip()), WIDTH - indent - 3)
    )
    return list(lines) if text.strip() else []


def _harmless(line: str) -> str:
    return _TAG.sub(r"\\@", visible(line)).replace("*/", r"*\/")


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line of prose wrapped at spaces; a line that begins with spaces is code and unchanged."""
    if len(line) <= width or line.startswith(" "):
        return [line]
    return textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)

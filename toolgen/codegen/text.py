"""Text of the design as Python source: string literals, docstrings, JSON values."""

from __future__ import annotations

import re
from typing import assert_never

from toolgen.contract.json_value import Json

_QUOTES = {r"\'": "'", '"': r"\""}


def quote(text: str) -> str:
    """Return a string literal, in the quotes that need fewer escapes; unprintable characters are escaped."""
    body = _escaped(text)
    if '"' not in body and "\\" not in body:
        return f'"{body}"'
    if text.count('"') > text.count("'"):
        return f"'{body}'"
    return '"' + re.sub(r'\\.|"', lambda match: _QUOTES.get(match[0], match[0]), body) + '"'


def docstring(text: str, indent: int = 0) -> str:
    """Return a docstring literal; all lines except the first are indented by `indent` spaces."""
    lines = [_escaped(line).replace(r"\'", "'") for line in text.strip().split("\n")]
    body = "\n".join((" " * indent + line).rstrip() for line in lines)[indent:]
    body = re.sub(r'"""|"\Z', lambda match: r"\"" * len(match[0]), body)
    end = "\n" + " " * indent if len(lines) > 1 else ""
    return f'"""{body}{end}"""'


def literal(value: Json) -> str:
    """Return the Python literal of a JSON value."""
    match value:
        case None | bool() | int() | float():
            return repr(value)
        case str():
            return quote(value)
        case list():
            return f"[{', '.join(map(literal, value))}]"
        case dict():
            return f"{{{', '.join(f'{quote(key)}: {literal(item)}' for key, item in value.items())}}}"
        case _:
            assert_never(value)


def strings(values: tuple[str, ...]) -> str:
    """Return a tuple literal of strings."""
    return f"({', '.join(map(quote, values))}{',' * (len(values) == 1)})"


def _escaped(text: str) -> str:
    """Return the body of a literal in single quotes."""
    return repr(f'"{text}')[2:-1]  # the leading double quote makes `repr` choose single ones

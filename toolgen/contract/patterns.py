"""Regular expressions: from ECMA-262, which JSON Schema names, to Rust's regex, which pydantic runs.

Both dialects read the same text differently: Rust's `\\d`, `\\w`, `\\s` and `\\b` know all of
Unicode, its `.` stops only at a line feed, and `[` and `&&` mean something inside a class. The
translation writes out what ECMA-262 means; what Rust cannot say is refused by name.
"""

from __future__ import annotations

from typing import Final

from pydantic_core import SchemaError, SchemaValidator, core_schema

_SPACE: Final = (
    r"\t\n\x0B\x0C\r \x{A0}\x{FEFF}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
)
_CLASSES: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": _SPACE}
_CONTROLS: Final = frozenset("nrtfv")
_META: Final = frozenset(r"\.+*?()|[]{}^$-/")


class PatternError(ValueError):
    """The pattern does not compile, or cannot mean the same in both dialects; the text says why."""


def to_rust(pattern: str) -> str:
    """Return the pattern in Rust's dialect, with the meaning that ECMA-262 gives it.

    Raises:
        PatternError: it does not compile, or uses look-around, back-references, inline flags,
            named groups, Unicode properties or an escape outside the common ground.
    """
    translated = _Translator(pattern).run()
    try:
        SchemaValidator(core_schema.str_schema(pattern=translated))
    except SchemaError as error:
        raise PatternError(f"does not compile: {str(error).strip().splitlines()[-1].strip()}") from None
    return translated


class _Translator:
    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._in_class = False

    def run(self) -> str:
        out = []
        while self._at < len(self._text):
            out.append(self._next())
        return "".join(out)

    def _next(self) -> str:
        char = self._text[self._at]
        self._at += 1
        if char == "\\":
            return self._escape()
        if self._in_class:
            if char == "]":
                self._in_class = False
            return rf"\{char}" if char in "[&~" else char
        if char == "[":
            return self._open_class()
        if char == "(":
            self._check_group()
        return r"[^\n\r\x{2028}\x{2029}]" if char == "." else char

    def _open_class(self) -> str:
        self._in_class = True
        rest = self._text[self._at :]
        if rest.startswith(("]", "^]")):
            raise PatternError("has an empty class; Rust's regex reads `[]` differently")
        if rest.startswith("^"):
            self._at += 1
            return "[^"
        return "["

    def _check_group(self) -> None:
        rest = self._text[self._at :]
        if rest.startswith("?") and not rest.startswith("?:"):
            kind = (
                "look-around"
                if rest[1:2] in ("=", "!") or rest[:3] in ("?<=", "?<!")
                else "a named group or flag"
            )
            raise PatternError(f"uses {kind} `({rest[:3]}`, which the codecs cannot hold")

    def _escape(self) -> str:
        if self._at == len(self._text):
            raise PatternError("ends in a backslash")
        char = self._text[self._at]
        self._at += 1
        if char in _CLASSES:
            return _CLASSES[char] if self._in_class else f"[{_CLASSES[char]}]"
        if char.lower() in _CLASSES and char.isupper():
            return f"[^{_CLASSES[char.lower()]}]"
        if char in "bB" and not self._in_class:
            return rf"(?-u:\{char})"
        if char in _CONTROLS:
            return rf"\{char}"
        if char in _META:
            return rf"\{char}"
        if char in "xu":
            return self._code_point(2 if char == "x" else 4)
        raise PatternError(rf"uses `\{char}`, which does not mean the same in ECMA-262 and in Rust's regex")

    def _code_point(self, digits: int) -> str:
        code = self._text[self._at : self._at + digits]
        if len(code) != digits or not all(char in "0123456789abcdefABCDEF" for char in code):
            raise PatternError(f"has an escape that needs {digits} hexadecimal digits")
        self._at += digits
        return rf"\x{{{code}}}"

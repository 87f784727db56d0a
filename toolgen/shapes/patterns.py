"""Regular expressions: from ECMA-262, which JSON Schema specifies, to Rust's regex, which pydantic runs.

Both dialects interpret the same text differently: Rust's `\\d`, `\\w`, `\\s` and `\\b` match all of Unicode,
its `.` stops only at a line feed, and `[` and `&&` are special inside a class. The translation spells out the
meaning of ECMA-262; an error names each part that Rust cannot express.
"""

from __future__ import annotations

import re
import string
from typing import Final

from pydantic_core import SchemaError, SchemaValidator, core_schema

_SPACE: Final = (
    r"\t\n\x0B\x0C\r \x{A0}\x{FEFF}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
)
_SETS: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": _SPACE}
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_SYNTAX: Final = frozenset(r"^$\.*+?()[]{}|/")
"""Characters that a backslash can escape under ECMA-262's `u` flag."""
_TIMES: Final = re.compile(r"\{[0-9]+(,[0-9]*)?\}")


class PatternError(ValueError):
    """The pattern does not compile, or cannot mean the same in both dialects; the text has the reason."""


def to_rust(pattern: str) -> str:
    """Return the pattern in Rust's dialect, with the meaning that ECMA-262 gives it under its `u` flag.

    Raises:
        PatternError: it does not compile, or uses look-around, back-references, inline flags,
            named groups, Unicode properties or an escape outside the common ground.
    """
    text = translated(pattern)
    try:
        SchemaValidator(core_schema.str_schema(pattern=text))
    except SchemaError as error:
        raise PatternError(f"does not compile: {str(error).strip().splitlines()[-1].strip()}") from None
    return text


def translated(pattern: str) -> str:
    """Return the pattern in Rust's dialect, without checking that it compiles.

    Raises:
        PatternError: as for `to_rust`, except if it does not compile.
    """
    return _Translator(pattern).run()


class _Translator:
    """Translates the pattern from left to right, one term at a time."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._repeats = False
        """Whether a quantifier can follow the last term."""

    def run(self) -> str:
        out = []
        while self._at < len(self._text):
            out.append(self._term())
        return "".join(out)

    def _term(self) -> str:
        char = self._take()
        if char in "*+?{":
            return self._quantifier(char)
        self._repeats = char not in "^$|("
        match char:
            case "\\":
                return self._escape()
            case "[":
                return self._class()
            case "(":
                return self._group()
            case ".":
                return r"[^\n\r\x{2028}\x{2029}]"
            case "]" | "}":
                raise PatternError(f"has a `{char}` that has no opening counterpart; write `\\{char}`")
            case _:
                return char

    def _quantifier(self, char: str) -> str:
        if char == "{":
            times = _TIMES.match(self._text, self._at - 1)
            if times is None:
                raise PatternError("has a `{` that does not start a quantifier; write `\\{`")
            self._at = times.end()
            char = times[0]
        if not self._repeats:
            raise PatternError(f"repeats nothing with `{char}`")
        self._repeats = False
        return char + ("?" if self._skip("?") else "")

    def _group(self) -> str:
        if self._skip("?:"):
            return "(?:"
        rest = self._text[self._at : self._at + 3]
        if rest.startswith("?"):
            kind = (
                "look-around"
                if rest[1:2] in ("=", "!") or rest in ("?<=", "?<!")
                else "a named group or flag"
            )
            raise PatternError(f"uses {kind} `({rest}`, which the codecs do not support")
        return "("

    def _escape(self) -> str:
        char = self._take("ends in a backslash")
        if char in "bB":
            self._repeats = False
            return rf"(?-u:\{char})"
        if char.lower() in _SETS:
            return f"[{'^' if char.isupper() else ''}{_SETS[char.lower()]}]"
        return _escaped(self._escaped_char(char, _SYNTAX))

    def _class(self) -> str:
        negated = "^" if self._skip("^") else ""
        if self._skip("]"):
            raise PatternError("has an empty class; Rust's regex reads `[]` differently")
        out = []
        while not self._skip("]"):
            low, is_set = self._class_atom()
            if self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 : self._at + 2] != "]":
                self._at += 1
                high, ends_in_set = self._class_atom()
                if is_set or ends_in_set or ord(low) > ord(high):
                    raise PatternError(f"has an invalid range in a class, before `{self._text[self._at :]}`")
                out.append(f"{_escaped(low)}-{_escaped(high)}")
            else:
                out.append(low if is_set else _escaped(low))
        return f"[{negated}{''.join(out)}]"

    def _class_atom(self) -> tuple[str, bool]:
        """Return one character, or the Rust text of a set of them and True."""
        char = self._take("has an unterminated class")
        if char != "\\":
            return char, False
        char = self._take("ends in a backslash")
        if char in _SETS:
            return _SETS[char], True
        if char.lower() in _SETS:
            return f"[^{_SETS[char.lower()]}]", True
        return ("\b" if char == "b" else self._escaped_char(char, _SYNTAX | {"-"})), False

    def _escaped_char(self, char: str, syntax: frozenset[str]) -> str:
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in syntax:
            return char
        if char in "xu":
            digits = 2 if char == "x" else 4
            code = self._text[self._at : self._at + digits]
            if len(code) != digits or not all(digit in string.hexdigits for digit in code):
                raise PatternError(f"has an escape that needs {digits} hexadecimal digits")
            self._at += digits
            return chr(int(code, 16))
        raise PatternError(rf"uses `\{char}`, which does not mean the same in ECMA-262 and in Rust's regex")

    def _take(self, otherwise: str = "") -> str:
        if self._at == len(self._text):
            raise PatternError(otherwise)
        self._at += 1
        return self._text[self._at - 1]

    def _skip(self, text: str) -> bool:
        is_next = self._text.startswith(text, self._at)
        self._at += len(text) if is_next else 0
        return is_next


def _escaped(char: str) -> str:
    """Return the character as a literal in Rust's regex, inside and outside of a class."""
    if char.isascii() and (char.isalnum() or char in " _"):
        return char
    if char.isascii() and char.isprintable():
        return rf"\{char}"
    return rf"\x{{{ord(char):X}}}"

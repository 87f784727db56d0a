"""Text of a design as Python source: whatever an author writes comes out as it was."""

from __future__ import annotations

import ast
import inspect

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from tests.golden import formatted
from toolgen.codegen.imports import Imports, sorted_names
from toolgen.codegen.text import docstring, literal, quote
from toolgen.contract.json_value import Json

AWKWARD = [
    "",
    '"',
    "'",
    "\\",
    'ends in a quote"',
    "ends in a backslash\\",
    '"""',
    '""""',
    '\\"""',
    "'\"",
    "{braces} {{ }} {% %} %s",
    "two\nlines",
    "two\n\n    indented\nand back\n",
    "tab\tand\rreturn",
    "\x00\x07\x7f\u200b\u2028\ufeff\ud800",
    "日本語 émoji 🎉",
    r"\n \x41 \N{DASH} \u0041",
]


@pytest.mark.parametrize("text", AWKWARD)
def test_a_literal_is_its_text(text: str) -> None:
    assert ast.literal_eval(quote(text)) == text


@pytest.mark.exhaustive
@given(st.text(st.characters() | st.sampled_from("\"'\\\n{}")))
@example('\\"')
def test_any_literal_is_its_text(text: str) -> None:
    assert ast.literal_eval(quote(text)) == text
    assert quote(text).isprintable()


@given(st.text(st.sampled_from("ab \"'\\\n{}\t\u200b")))
def test_any_docstring_holds_its_text(text: str) -> None:
    source = f"def f():\n    {docstring(text, 4)}\n"
    assert shown(source) == cleaned(text)


def test_docstrings_survive_the_formatter() -> None:
    sources = {f"{number}.py": f"def f():\n    {docstring(text, 4)}\n" for number, text in enumerate(AWKWARD)}
    for text, source in zip(AWKWARD, formatted(sources).values(), strict=True):
        assert shown(source) == cleaned(text), source


def shown(source: str) -> str:
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    return cleaned(ast.get_docstring(function, clean=False) or "")


def cleaned(text: str) -> str:
    """Return the text without what no docstring keeps: spaces around lines that stand at the margin."""
    lines = inspect.cleandoc(text.strip().replace("\t", "⇥")).strip().split("\n")
    return "\n".join(line.rstrip() for line in lines)


def test_json_is_a_python_literal() -> None:
    value: Json = {"a": [1, 2.5, None, True, False, "it's"], "": {}}
    assert ast.literal_eval(literal(value)) == value


def test_imports_are_sorted_as_isort_sorts_them() -> None:
    imports = Imports({"Field"})
    for module, name in [
        ("typing", "Literal"),
        (".", "types"),
        ("toolgen.runtime", "given"),
        ("toolgen.runtime", "ToolModel"),
        ("....types", "Part10"),
        ("....types", "Part2"),
        ("pydantic", "Field"),
        ("uuid", "UUID"),
        ("__future__", "annotations"),
        (".specs", "SPECS"),
    ]:
        imports.name(module, name)
    imports.module("datetime", "dt")
    assert imports.text() == (
        "from __future__ import annotations\n\n"
        "import datetime as dt\nfrom typing import Literal\nfrom uuid import UUID\n\n"
        "from pydantic import Field as _Field\nfrom toolgen.runtime import ToolModel, given\n\n"
        "from ....types import Part2, Part10\nfrom . import types\nfrom .specs import SPECS"
    )


def test_names_are_sorted_as_ruff_sorts_all() -> None:
    assert sorted_names(["b", "A1", "A10", "A2", "SPECS", "a"]) == ["A1", "A2", "A10", "SPECS", "a", "b"]

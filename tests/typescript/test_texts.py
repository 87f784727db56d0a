"""What a design says in words cannot leave its comment, its literal or its name."""

from __future__ import annotations

import json
import re

import pytest

from tests.checked import built
from toolgen.codegen.typescript import generate
from toolgen.codegen.typescript.text import WIDTH, comment, literal_type, property_name, quote, value
from toolgen.dsl import (
    Args,
    Attribute,
    Deprecated,
    Enum,
    Error,
    Example,
    Int,
    Object,
    Return,
    Service,
    String,
    Tool,
    Toolset,
)

HOSTILE = (
    "Ends */ export const evil = 1; /* here",
    "*/",
    "/* opens",
    "two\nlines\r\nthree\u2028four\u2029five",
    "@ts-ignore",
    "first\n@ts-expect-error",
    "@deprecated it is not",
    "{@link javascript:alert(1)}",
    "\u202ereversed\u202c and a zero\u200bwidth",
    "a bell \x07, an escape \x1b[31m and a NUL \x00",
    "`backticks` ${and} braces",
    "*/" * 200,
    "eslint-disable-next-line\nsourceMappingURL=x",
)
CODE = re.compile(r"/\*.*?\*/", re.DOTALL)


def generated(text: str) -> dict[str, str]:
    """Return the tree of a design that says the text everywhere."""
    tool = Tool(
        "find",
        text,
        Args(
            Attribute("query", String, text, required=True),
            Attribute("kind", Enum("Kind", text, "a", "b"), text, default="a"),
            Attribute("inner", Object(Attribute("secret", Int, text, sensitive=True)), text),
        ),
        Return(Attribute("found", String, text)),
        Error("missing", Object(Attribute("why", String, text)), text),
        Deprecated(text.replace("\x00", "")),
    )
    service = Service("things", text, Toolset("finding", text, tool))
    return generate(built(service), module="tests.hostile")


def code_of(tree: dict[str, str]) -> dict[str, str]:
    """Return the files without their comments and without spaces, which is what a compiler reads."""
    return {path: "".join(CODE.sub("", text).split()) for path, text in tree.items()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_changes_comments_alone(text: str) -> None:
    tree = generated(text)
    assert code_of(tree) == code_of(generated("Plain."))
    for path, written in tree.items():
        written.encode()  # no surrogates
        assert all(char == "\n" or char.isprintable() for char in written), path
        assert not re.search(r"^\s*(//|/?\*+)\s*@(ts-|deprecated it)", written, re.MULTILINE)


def test_comments_have_lines_that_can_be_read() -> None:
    assert comment("") == ""
    assert comment("One line.") == "/** One line. */"
    assert comment("a" * 200) == f"/**\n * {'a' * 200}\n */"
    lines = comment("word " * 60, [("deprecated", "Use another.")], indent=2).split("\n")
    assert lines[0] == "/**"
    assert lines[-3:] == ["   *", "   * @deprecated Use another.", "   */"]
    assert max(map(len, lines)) <= WIDTH
    assert comment("Code:\n    a  =  1") == "/**\n * Code:\n *     a  =  1\n */"


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("name", "name"),
        ("class", "class"),
        ("$id", "$id"),
        ("a-b", '"a-b"'),
        ("2fa", '"2fa"'),
        ("", '""'),
        ('"];evil', '"\\"];evil"'),
        ("日本", '"日本"'),
        ("line\u2028", '"line\\u2028"'),
    ],
)
def test_property_names_are_quoted_where_they_have_to_be(key: str, written: str) -> None:
    assert property_name(key) == written


def test_literals_are_those_of_json() -> None:
    for text in (*HOSTILE, "a lone surrogate \ud800", 'a "quoted" \\ text', "émoji 🎉"):
        assert json.loads(quote(text)) == text
        assert quote(text).isprintable()
    values: tuple[str | float, ...] = ("a", 1, -1, 1.5, 2.0, True, 2**53 - 1, 2**53, 1e300)
    assert [*map(literal_type, values)] == [
        *('"a"', "1", "-1", "1.5", "2", "true", "9007199254740991", "number", "number")
    ]
    assert value({"a-b": [1, {"c": None}], "d": "*/"}) == '{ "a-b": [1, { c: null }], d: "*/" }'


def test_an_example_is_typed_as_an_author_would_type_it() -> None:
    arguments = {"query": "a long text */ that ends a comment, or would", "limit": 5}
    tool = Tool(
        "find",
        "Find.",
        Args(Attribute("query", String, "What.", required=True), Attribute("limit", Int, "How many.")),
        Example(arguments),
    )
    text = generate(built(Service("things", "Things.", Toolset("finding", "Finding.", tool))), module="d")
    assert (
        "   * await client.tools.finding.find({\n"
        '   *   query: "a long text *\\/ that ends a comment, or would",\n'
        "   *   limit: 5,\n"
        "   * });\n"
    ) in text["things/finding.ts"]

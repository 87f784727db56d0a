"""Random files of authors: what is inserted keeps every byte of theirs, and the result imports."""

from __future__ import annotations

import ast

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.golden import design, formatted
from tests.selection import volume
from tests.test_stub_edits import (
    MODULE,
    PACKAGE,
    TOOLSET,
    TOOLSETS,
    check,
    imported,
    without_insertions,
)
from toolgen.codegen import stub
from toolgen.codegen.stubs.stubs import read_stub

DRAWING = settings(
    max_examples=volume(100, lab=400),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

IMPORTS = {
    f"from {TOOLSETS} import from_": "from_.FromExecutor",
    f"from {TOOLSETS} import from_ as __made": "__made.FromExecutor",
    f"import {MODULE}": f"{MODULE}.FromExecutor",
    f"import {MODULE} as made": "made.FromExecutor",
    f"from {PACKAGE}.lambda_ import toolsets\nfrom {TOOLSETS} import from_": "toolsets.from_.FromExecutor",
    f"from {MODULE} import FromExecutor": "FromExecutor",
    f"from {MODULE}.executor import FromExecutor as Base": "Base",
    f"from {MODULE} import executor": "executor.FromExecutor",
    f"from {MODULE} import *": "FromExecutor",
    "from .gen.lambda_.toolsets import from_": "from_.FromExecutor",
    f"try:\n    from {TOOLSETS} import from_\nexcept ImportError:\n    from_ = None": "from_.FromExecutor",
    f"if 1:\n    from {TOOLSETS} import from_": "from_.FromExecutor",
    f"import importlib\nmade = importlib.import_module({MODULE!r})": "made.FromExecutor",
    f"from {MODULE} import FromExecutor, TypesPayload, registration": "FromExecutor",
}

CONTEXTS = [
    "",
    "from toolgen.runtime import ToolContext",
    "from toolgen.runtime import (ToolContext as C)",
    "import toolgen.runtime",
    "from toolgen import runtime as rt; x = 1",
    "import typing\nif typing.TYPE_CHECKING:\n    from toolgen.runtime import ToolContext",
    "ToolContext = None",
    "from toolgen.runtime import ToolContext\ndel ToolContext",
    "class ToolContext: pass",
]

HEADS = [
    "class From({base}):",
    "class From({base}):  # é",
    "class From(\n    {base},  # the base\n):",
    "@keep\n# between\n@keep\nclass From({base}):",
    "class From({base}, object):",
    "class From(Mixin, {base}):",
    "class From({base}, Hidden.__base__):",
]

STATEMENTS = [
    '"""Text."""',
    '"""Text,\non lines of é,\n    odd ones.\n"""',
    "pass",
    "...",
    "x = 1; y = 2",
    "x = 1;",
    "x = (\n1,\n    2)",
    "x = 1 + \\\n  2",
    "from_ = ToolContext = made = 3",
    "import toolgen",
    "class Inner:\n    async def types_(self): ...",
    "def sync(self): return 1",
    "@property\ndef x(self):\n    return 1  # last",
    "f = lambda self: (yield)",
    "for i in 1, 2: j = i",
    "if 1:\n    async def types_(self, payload, ctx): return 1\nelse:\n    types_ = None",
    "async def registration_(self, payload: int, ctx): return 1",
    "@keep\nasync def registration_(\n    self, payload, ctx\n): return 1",
    "async def specs_(self, payload, ctx):\n    # nothing\n    raise NotImplementedError",
    "specs_ = types_ = None",
    "registration_: int",
]

LOOSE = ["", "# é", "        # deep", "\f", "# \f\v\x1c\x85\u2028 no end of a line", "\t", "  # é: noqa"]

WRAPPERS = ["", "if 1:", "class Outer:", "def make():", "with open('/dev/null'):", "try:"]

REST = [
    "",
    "z = 1",
    "# end",
    "\n\n\nclass Loud(From):\n    pass",
    "\nclass Second({base}): pass",
    "\nclass Second({base}):\n  # first\n  x = 1\n  # last",
    "def f():\n    global from_, ToolContext\n    from_ = 1",
]

CODINGS = {"utf-8": "", "utf-8-sig": "", "latin-1": "# -*- coding: latin-1 -*-", "cp1252": "# coding=cp1252"}


def indented(text: str, by: str) -> str:
    """Return the text deeper by that much; what is inside a string literal stays."""
    inside = {
        number
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for number in range(node.lineno + 1, (node.end_lineno or 0) + 1)
    }
    lines = text.split("\n")
    return "\n".join(line if n in inside or not line else by + line for n, line in enumerate(lines, 1))


@st.composite
def class_bodies(draw: st.DrawFn, indent: str) -> str:
    statements = draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=4))
    lines: list[str] = []
    for one in statements:
        lines += [indented(one.replace("    ", indent), indent)]
        lines += [comment if comment[:1] != "#" else indent + comment for comment in draw(loose())]
    return "\n".join(lines)


def loose() -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(LOOSE), max_size=2)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Draw a file with executors of the toolset; it imports."""
    encoding = draw(st.sampled_from(list(CODINGS)))
    imports = draw(st.sampled_from(list(IMPORTS)))
    base, indent = IMPORTS[imports], draw(st.sampled_from(["    ", "  ", "\t", " "]))
    head = draw(st.sampled_from(HEADS)).format(base=base)
    body = f"{head}\n{draw(class_bodies(indent))}"
    wrapper = draw(st.sampled_from([one for one in WRAPPERS if "__" not in base or "class" not in one]))
    if wrapper:
        body = f"{wrapper}\n{indented(body, indent)}"
        body += {"try:": "\nfinally:\n    pass", "def make():": "\nmake()"}.get(wrapper, "")
    rest = draw(st.sampled_from(REST)).format(base=base)
    parts = [
        *([CODINGS[encoding]] if CODINGS[encoding] else []),
        *draw(st.sampled_from([[], ['"""Of é."""'], ["from __future__ import annotations"]])),
        *draw(st.permutations([imports, draw(st.sampled_from(CONTEXTS))])),
        "class Mixin: pass",
        "Hidden = Mixin",
        "def keep(it): return it",
        *draw(loose()),
        body,
        rest if wrapper in ("", "if 1:", "try:") or "From" not in rest.replace(base, "") else "",
    ]
    text = "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n"]))
    data = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    return data.encode(encoding, "ignore")


@pytest.mark.volume
@DRAWING
@given(files())
def test_no_byte_is_lost_and_the_result_imports(data: bytes) -> None:
    imported(data)
    imported(check(data).updated)


FRESH = formatted({"stub.py": stub(design("names"), TOOLSET, PACKAGE)})["stub.py"]


@st.composite
def edits(draw: st.DrawFn) -> bytes:
    """Draw a new stub after somebody was busy in it; it may not even parse."""
    lines = FRESH.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(lines) - 1)) if lines else 0
        to = draw(st.integers(at, len(lines)))
        change = draw(st.sampled_from(["delete", "repeat", "comment", "indent", "join", "character"]))
        match change:
            case "delete":
                lines[at:to] = []
            case "repeat":
                lines[to:to] = lines[at:to]
            case "comment":
                lines[at:to] = [f"# {line}" for line in lines[at:to]]
            case "indent":
                lines[at:to] = [f"    {line}" for line in lines[at:to]]
            case "join":
                lines[at:to] = [
                    "".join(lines[at:to]).replace("\n", draw(st.sampled_from(["; ", " ", "\\\n"])))
                ]
            case _:
                lines[at:at] = [draw(st.sampled_from("()[]{}:;#\\\"'\f\t\r\n\0é "))]
    return "".join(lines).encode()


@pytest.mark.filterwarnings("ignore:.*escape sequence")  # of what the edits make of docstrings
@pytest.mark.volume
@DRAWING
@given(edits())
def test_an_edited_stub_loses_nothing(data: bytes) -> None:
    try:
        imported(data)
    except Exception:
        stub = read_stub(data, TOOLSET, PACKAGE)
        assert without_insertions(stub) == data
        if stub.insertions:
            ast.parse(stub.updated)
    else:
        imported(check(data).updated)

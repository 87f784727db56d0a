"""What is inserted into an author's file: only that, never where it is not sure, and so that it imports."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from types import ModuleType

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.golden import design, formatted
from toolgen.codegen import stub
from toolgen.codegen.stubs.stubs import Stub, read_stub
from toolgen.expr.tree import Toolset

PACKAGE = "tests.cases.names.gen"
TOOLSETS = f"{PACKAGE}.lambda_.toolsets"
MODULE = f"{TOOLSETS}.from_"
METHODS = ("import_", "types_", "registration_", "specs_", "tool_method", "abstractmethod")

RUN = "run: toolgen gen"

DRAWING = settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def described(text: str) -> Toolset:
    """Return the toolset `lambda.from`, its second tool described by the text."""
    (toolset,) = design("names").services[0].toolsets
    tools = list(toolset.tools)
    tools[1] = replace(tools[1], description=text)
    return replace(toolset, tools=tuple(tools))


TOOLSET = described("Zwölf Boxkämpfer → 日本 🎉,\n\n\teach on a line.")


def followed(text: str, *present: str) -> str:
    """Return the text after the methods of the tools that are not present were inserted."""
    toolset = replace(
        TOOLSET, tools=tuple(tool for tool in TOOLSET.tools if tool.name in ("specs", *present))
    )
    return read_stub(text.encode(), toolset, PACKAGE).followed.decode()


def imported(data: bytes) -> ModuleType:
    """Return the module, imported as one that lies beside the generated tree."""
    module = ModuleType("stub")
    module.__package__ = PACKAGE.rpartition(".")[0]
    exec(compile(data, "stub.py", "exec", dont_inherit=True), module.__dict__)
    return module


def without_insertions(stub: Stub) -> bytes:
    """Return what was inserted taken out again."""
    data = stub.followed
    for one in stub.insertions:
        assert data[one.offset : one.offset + len(one.data)] == one.data
        data = data[: one.offset] + data[one.offset + len(one.data) :]
    return data


def check(data: bytes) -> Stub:
    """Hold the promises of an insertion against a file that imports."""
    stub = read_stub(data, TOOLSET, PACKAGE)
    assert without_insertions(stub) == data
    again = read_stub(stub.followed, TOOLSET, PACKAGE)
    assert again.insertions == ()
    assert again.followed == stub.followed
    added = [finding for finding in again.findings if finding.line in stub.added_lines]
    promised = [finding for finding in stub.findings if finding.text.endswith(f"; {RUN}")]
    assert bool(stub.insertions) == bool(promised)
    assert [finding.state for finding in added] == ["unimplemented"] * len(promised)
    return stub


BASE = f"""\
from {TOOLSETS} import from_
from toolgen.runtime import ToolContext

class From(from_.FromExecutor):
"""
METHOD = '''
    async def specs_(self, payload: from_.SpecsPayload, ctx: ToolContext) -> from_.SpecsResult:
        """Another module; its constant is taken."""
        raise NotImplementedError("specs returns SpecsResult")
'''


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        ("    pass\n", ""),
        ('    """Text."""\n', ""),
        ("    x = 1; y = 2  # odd\n", "\n\n# of the module\nz = 3\n"),
        ("    x = 1\n    # about x\n\n        # deeper\n", "  # shallower\n"),
        ("    class Inner:\n        pass\n", "\n    \nz = 3"),
        ("    if True:\n        x = 1\n    else:\n        x = 2\n", "\f\nclass Next: pass\n"),
        ('    x = """\nclass Not(from_.FromExecutor):\n    pass\n"""\n', ""),
        ("    @property\n    def x(self): return 1\n\n\n\n    # the end\n", "\n\n\n"),
    ],
)
def test_a_method_is_added_at_the_end_of_its_class(body: str, rest: str) -> None:
    assert followed(BASE + body + rest) == BASE + body + METHOD + rest
    imported(followed(BASE + body + rest).encode())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("indent", ["  ", "\t", "   "])
def test_it_is_written_as_the_class_is(end: str, indent: str) -> None:
    def own(text: str) -> bytes:
        return text.replace("    ", indent).replace("\n", end).encode()

    (toolset, found) = (replace(TOOLSET, tools=TOOLSET.tools[3:4]), own(BASE + "    pass\n\nx = 1\n"))
    assert read_stub(found, toolset, PACKAGE).followed == own(BASE + "    pass\n" + METHOD + "\nx = 1\n")


def test_a_missing_final_newline_stays_missing() -> None:
    assert followed(BASE + "    pass") == BASE + "    pass\n" + METHOD.rstrip("\n")


def test_several_classes_gain_it_each() -> None:
    head = "class From(from_.FromExecutor):"
    text = f"if x:\n  {head}\n    x = 1\nelse:\n  {head}\n    pass\n"
    stub = read_stub(text.encode(), TOOLSET, PACKAGE)
    assert len(stub.insertions) == 2
    found = ast.parse(stub.followed)
    classes = [node for node in ast.walk(found) if isinstance(node, ast.ClassDef)]
    assert [
        [one.name for one in node.body[1:] if isinstance(one, ast.AsyncFunctionDef)] for node in classes
    ] == [
        list(METHODS),
        list(METHODS),
    ]


def test_a_class_inside_another_gains_it_first() -> None:
    inner = "    class Inner(from_.FromExecutor):\n        x = 1"
    deeper = METHOD.replace("\n    ", "\n        ").rstrip("\n")
    assert followed(f"{BASE}{inner}\n") == f"{BASE}{inner}\n{deeper}\n{METHOD}"
    assert followed(f"{BASE}{inner}") == f"{BASE}{inner}\n{deeper}\n{METHOD}".rstrip("\n")


def test_what_an_encoding_cannot_write_is_escaped() -> None:
    data = f"# coding: latin-1\n{BASE}    'é'\n".encode("latin-1")
    stub = check(data)
    assert r"Zwölf Boxkämpfer \u2192 \u65e5\u672c \U0001f389".encode("latin-1") in stub.followed
    assert "→ 日本 🎉" in imported(stub.followed).From.types_.__doc__


@pytest.mark.parametrize(
    ("imports", "base", "signature"),
    [
        (
            f"from {TOOLSETS} import from_ as made\nfrom toolgen.runtime import ToolContext as C",
            "made.FromExecutor",
            "payload: made.SpecsPayload, ctx: C) -> made.SpecsResult",
        ),
        (
            f"import {MODULE}, toolgen.runtime as rt",
            f"{MODULE}.FromExecutor",
            f"payload: {MODULE}.SpecsPayload, ctx: rt.ToolContext) -> {MODULE}.SpecsResult",
        ),
        (
            f"from {MODULE} import FromExecutor, SpecsPayload\nimport {MODULE} as m\nimport toolgen.runtime",
            "FromExecutor",
            "payload: SpecsPayload, ctx: toolgen.runtime.ToolContext) -> m.SpecsResult",
        ),
        (
            "from .gen.lambda_.toolsets import from_",
            "from_.FromExecutor",
            'payload: "from_.SpecsPayload", ctx: "ToolContext") -> "from_.SpecsResult"',
        ),
        (
            f"from __future__ import annotations\nfrom {MODULE} import FromExecutor as Base",
            "Base",
            "payload: from_.SpecsPayload, ctx: ToolContext) -> from_.SpecsResult",
        ),
        (
            f"from {MODULE}.executor import FromExecutor\nfrom_ = 1",
            "FromExecutor",
            f'payload: "{MODULE}.SpecsPayload", ctx: "ToolContext") -> "{MODULE}.SpecsResult"',
        ),
    ],
)
def test_names_are_spelled_as_the_file_imports_them(imports: str, base: str, signature: str) -> None:
    text = followed(f"{imports}\nclass From({base}):\n    pass\n")
    (node,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.AsyncFunctionDef))
    assert ast.unparse(node).startswith(f"async def specs_(self, {signature}:".replace('"', "'"))
    imported(text.encode())


@pytest.mark.parametrize(
    ("rest", "lacks"),
    [
        ("", ("from toolgen.runtime import ToolContext",)),
        ("\nToolContext = 1", ("import toolgen.runtime",)),
        (
            "\ndef f():\n  from toolgen.runtime import ToolContext",
            ("from toolgen.runtime import ToolContext",),
        ),
        ("\nif x:\n  from toolgen.runtime import ToolContext", ()),
    ],
)
def test_imports_that_the_methods_need_are_named(rest: str, lacks: tuple[str, ...]) -> None:
    text = f"from {TOOLSETS} import from_\nclass From(from_.FromExecutor):\n  pass{rest}"
    assert read_stub(text.encode(), TOOLSET, PACKAGE).lacks == lacks


@pytest.mark.parametrize(
    "body",
    [
        " pass",
        " \\\n    pass",
        " \\\npass",
    ],
)
def test_where_no_place_is_sure_nothing_changes(body: str) -> None:
    data = f"{BASE.rstrip()}{body}".encode()
    stub = read_stub(data, TOOLSET, PACKAGE)
    assert stub.followed == data
    assert {finding.state for finding in stub.findings} == {"missing"}


def test_an_inserted_method_is_what_a_new_stub_has() -> None:
    """Without ruff: what is inserted is formatted already."""
    fresh = stub(design("names"), TOOLSET, PACKAGE)
    assert formatted({"stub.py": fresh})["stub.py"] == re.sub(r"\n\n\n\n*", "\n\n\n", fresh)
    head = fresh[: fresh.index("\n    async def")]
    assert read_stub(head.encode(), TOOLSET, PACKAGE).followed.decode().rstrip() == fresh.rstrip()


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


@DRAWING
@given(files())
def test_no_byte_is_lost_and_the_result_imports(data: bytes) -> None:
    imported(data)
    imported(check(data).followed)


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
@DRAWING
@given(edits())
def test_an_edited_stub_loses_nothing(data: bytes) -> None:
    try:
        imported(data)
    except Exception:
        stub = read_stub(data, TOOLSET, PACKAGE)
        assert without_insertions(stub) == data
        if stub.insertions:
            ast.parse(stub.followed)
    else:
        imported(check(data).followed)

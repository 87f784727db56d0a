"""What is inserted into an author's file: only that, never where it is not sure, and so that it imports."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from types import ModuleType

import pytest

from tests.golden import design, formatted
from tests.selection import diagonal
from toolgen.codegen import stub
from toolgen.codegen.stubs.stubs import Stub, read_stub
from toolgen.dsl.expr.tree import Toolset

PACKAGE = "tests.cases.names.gen"
TOOLSETS = f"{PACKAGE}.lambda_.toolsets"
MODULE = f"{TOOLSETS}.from_"
METHODS = ("import_", "types_", "registration_", "specs_", "tool_method", "abstractmethod")

RUN = "run: toolgen gen"


def described(text: str) -> Toolset:
    """Return the toolset `lambda.from`, its second tool described by the text."""
    (toolset,) = design("names").services[0].toolsets
    tools = list(toolset.tools)
    tools[1] = replace(tools[1], facts=replace(tools[1].facts, description=text))
    return replace(toolset, tools=tuple(tools))


TOOLSET = described("Zwölf Boxkämpfer → 日本 🎉,\n\n\teach on a line.")


def followed(text: str, *present: str) -> str:
    """Return the text after the methods of the tools that are not present were inserted."""
    toolset = replace(
        TOOLSET, tools=tuple(tool for tool in TOOLSET.tools if tool.name in ("specs", *present))
    )
    return read_stub(text.encode(), toolset, PACKAGE).updated.decode()


def imported(data: bytes) -> ModuleType:
    """Return the module, imported as one that lies beside the generated tree."""
    module = ModuleType("stub")
    module.__package__ = PACKAGE.rpartition(".")[0]
    exec(compile(data, "stub.py", "exec", dont_inherit=True), module.__dict__)
    return module


def without_insertions(stub: Stub) -> bytes:
    """Return what was inserted taken out again."""
    data = stub.updated
    for one in stub.insertions:
        assert data[one.offset : one.offset + len(one.data)] == one.data
        data = data[: one.offset] + data[one.offset + len(one.data) :]
    return data


def check(data: bytes) -> Stub:
    """Hold the promises of an insertion against a file that imports."""
    stub = read_stub(data, TOOLSET, PACKAGE)
    assert without_insertions(stub) == data
    again = read_stub(stub.updated, TOOLSET, PACKAGE)
    assert again.insertions == ()
    assert again.updated == stub.updated
    added = [finding for finding in again.statuses if finding.line in stub.added_lines]
    promised = [finding for finding in stub.statuses if finding.text.endswith(f"; {RUN}")]
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


@pytest.mark.parametrize(("end", "indent"), diagonal(["\n", "\r\n", "\r"], ["  ", "\t", "   "]))
def test_it_is_written_as_the_class_is(end: str, indent: str) -> None:
    def own(text: str) -> bytes:
        return text.replace("    ", indent).replace("\n", end).encode()

    (toolset, found) = (replace(TOOLSET, tools=TOOLSET.tools[3:4]), own(BASE + "    pass\n\nx = 1\n"))
    assert read_stub(found, toolset, PACKAGE).updated == own(BASE + "    pass\n" + METHOD + "\nx = 1\n")


def test_a_missing_final_newline_stays_missing() -> None:
    assert followed(BASE + "    pass") == BASE + "    pass\n" + METHOD.rstrip("\n")


def test_several_classes_gain_it_each() -> None:
    head = "class From(from_.FromExecutor):"
    text = f"if x:\n  {head}\n    x = 1\nelse:\n  {head}\n    pass\n"
    stub = read_stub(text.encode(), TOOLSET, PACKAGE)
    assert len(stub.insertions) == 2
    found = ast.parse(stub.updated)
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
    assert r"Zwölf Boxkämpfer \u2192 \u65e5\u672c \U0001f389".encode("latin-1") in stub.updated
    assert "→ 日本 🎉" in imported(stub.updated).From.types_.__doc__


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
    assert stub.updated == data
    assert {finding.state for finding in stub.statuses} == {"missing"}


def test_an_inserted_method_is_what_a_new_stub_has() -> None:
    """Without ruff: what is inserted is formatted already."""
    fresh = stub(design("names"), TOOLSET, PACKAGE)
    assert formatted({"stub.py": fresh})["stub.py"] == re.sub(r"\n\n\n\n*", "\n\n\n", fresh)
    head = fresh[: fresh.index("\n    async def")]
    assert read_stub(head.encode(), TOOLSET, PACKAGE).updated.decode().rstrip() == fresh.rstrip()

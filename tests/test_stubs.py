"""How an author's executor file stands to the design: what is open, changed or left over, and where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toolgen.codegen.stubs.stubs import read_stub, stub_path
from toolgen.contract.tool_facts import Artifact, LongRunning, ToolFacts
from toolgen.dsl.expr.tree import Binding, ObjectMapping, Tool, Toolset
from toolgen.shapes.fields import ObjectType

MAPPING = ObjectMapping(source="Empty", target="Empty", assignments=())


def tool(name: str, *, bound: bool = False, artifact: bool = False) -> Tool:
    return Tool(
        id=f"S.devices.{name}",
        name=name,
        facts=ToolFacts(description=""),
        payload=ObjectType(name=f"{name.title()}Payload", description="", fields=()),
        result=ObjectType(name=f"{name.title()}Result", description="", fields=()),
        binding=Binding(service="S", method=name, payload=MAPPING, result=MAPPING) if bound else None,
        artifacts=(Artifact(kind="plan", description="", type="Plan"),) if artifact else (),
    )


def toolset(*tools: Tool) -> Toolset:
    return Toolset(name="devices", title="", description="", service="HomeService", tools=tools, objects=())


BOTH = toolset(tool("find"), tool("list", bound=True))
OPEN = toolset(tool("find"))
FIND = "class Devices has no method 'find' (tool S.devices.find)"
LIST = "class Devices has no method 'list' (tool S.devices.list)"
RUN = "; run: toolgen gen"
DERIVE = "; derive the class from BoundDevicesExecutor, or add the method"
NONE = "no class derives from devices.DevicesExecutor; derive one, or delete the file and run: toolgen gen"
ONE_LINE = "; put the body of the class on separate lines and run: toolgen gen"
SIGNATURE = "async def find(self, payload: devices.FindPayload, ctx: ToolContext) -> devices.FindResult"


def states(text: str, of: Toolset, *kinds: str) -> list[str]:
    found = read_stub(text.encode(), of, "gen").statuses
    return [f"{finding.line}: {finding.text}" for finding in found if finding.state in kinds]


def method(signature: str, of: Toolset = OPEN, imports: str = "") -> list[str]:
    """Return what is said of one method of a class on the second line."""
    return states(
        f"{imports}\nclass Devices(devices.DevicesExecutor):\n  {signature}: return 1", of, "changed"
    )


def test_a_stub_lies_under_its_service() -> None:
    assert str(stub_path(OPEN.service, OPEN.name)) == "home_service/devices.py"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("class Devices(devices.DevicesExecutor):\n    pass", [f"1: {FIND}{RUN}", f"1: {LIST}{DERIVE}"]),
        ("class Devices(DevicesExecutor):\n    pass", [f"1: {FIND}{RUN}", f"1: {LIST}{DERIVE}"]),
        ("\n\nclass Devices(devices.BoundDevicesExecutor):\n    pass", [f"3: {FIND}{RUN}"]),
        ("class Devices(devices.BoundDevicesExecutor):\n    async def find(self): ...", []),
        ("class Devices(devices.DevicesExecutor):\n    find = list = other", []),
        ("class Devices(BoundDevicesExecutor, Protocol):\n  if x:\n    async def find(self): ...", []),
        ("class A:\n    async def find(self): ...\nclass Devices(A, devices.BoundDevicesExecutor): ...", []),
        ("class A(DevicesExecutor):\n  def list(self): ...\n  def find(self): ...\nclass B(A): ...", []),
        ("class A(BoundDevicesExecutor): ...\nclass B(A):\n    async def find(self): ...", []),
        ("class Devices(BoundDevicesExecutor): ...\nclass B(Devices): ...", [f"1: {FIND}{ONE_LINE}"]),
        ("class Devices(BoundDevicesExecutor): find: int", [f"1: {FIND}{ONE_LINE}"]),
        ("class Devices(\n  BoundDevicesExecutor\n): pass", [f"1: {FIND}{ONE_LINE}"]),
        (
            "class Devices(mixins.Finds, BoundDevicesExecutor):\n    pass",
            [
                f"1: {FIND}, and its base mixins.Finds is not in this file; "
                "add it, or find = mixins.Finds.find"
            ],
        ),
        ("class Devices(mixins.Finds, BoundDevicesExecutor):\n    find = mixins.Finds.find", []),
        ("class Devices(other.LampsExecutor): ...", [f"1: {NONE}"]),
        ("class Devices(Devices): ...", [f"1: {NONE}"]),
        ("from gen.more.toolsets import devices\nclass A(devices.DevicesExecutor): ...", [f"1: {NONE}"]),
        ("", [f"1: {NONE}"]),
        ("def f():\n  x = = 1", ["2: cannot be parsed: invalid syntax; correct it and run: toolgen gen"]),
    ],
)
def test_missing_methods_are_listed_at_their_class(text: str, found: list[str]) -> None:
    assert states(text, BOTH, "missing") == found


@pytest.mark.parametrize(
    "data",
    [
        b"\0",
        b"# coding: nothing\n",
        b"# coding: utf-8\n\xff",
        b"\xef\xbb\xbf# coding: latin-1\n",
        b"(" * 10_000,
        b"-" * 100_000 + b"1",
    ],
)
def test_a_file_that_is_not_python_is_named_and_left_alone(data: bytes) -> None:
    stub = read_stub(data, OPEN, "gen")
    assert [finding.text[:18] for finding in stub.statuses] == ["cannot be parsed: "]
    assert stub.updated == data


@pytest.mark.parametrize("terms", [300, 900, 3_000, 30_000])
def test_a_long_expression_is_no_danger(terms: int) -> None:
    data = f"x = {'1 + ' * terms}1\nclass Devices(devices.DevicesExecutor):\n    pass\n".encode()
    stub = read_stub(data, OPEN, "gen")
    assert stub.updated.startswith(data)
    (finding,) = stub.statuses
    assert (stub.updated == data) == ("too deep" in finding.text or "cannot be parsed" in finding.text)


def test_a_toolset_of_bound_tools_needs_no_class() -> None:
    bound = toolset(tool("list", bound=True))
    assert states("", bound, "missing") == []
    assert states("class Devices(devices.BoundDevicesExecutor):\n    pass", bound, "missing") == []


def test_a_bound_executor_that_is_no_longer_generated_is_named() -> None:
    text = "class Devices(devices.BoundDevicesExecutor):\n    pass"
    assert read_stub(text.encode(), OPEN, "gen").insertions == ()
    assert states(text, OPEN, "missing") == [
        "1: class Devices derives from BoundDevicesExecutor, but no tool of it is bound; "
        "derive it from DevicesExecutor"
    ]


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("raise NotImplementedError", "unimplemented"),
        ("raise NotImplementedError('x')", "unimplemented"),
        ('"""Find."""\n    raise NotImplementedError("x")', "unimplemented"),
        ("self.x()\n    raise NotImplementedError('x')", "implemented"),
        ("raise ValueError", "implemented"),
        ("return 1", "implemented"),
        ("...", "implemented"),
    ],
)
def test_a_method_that_only_raises_is_not_implemented(body: str, state: str) -> None:
    text = f"class Devices(devices.DevicesExecutor):\n  async def find(self, payload, ctx):\n    {body}"
    word = {"implemented": "implemented", "unimplemented": "not implemented"}[state]
    assert states(text, OPEN, state) == [f"2: Devices.find is {word} (tool S.devices.find)"]


@pytest.mark.parametrize(
    "signature",
    [
        "async def find(self, payload, ctx)",
        "async def find(self, payload: devices.FindPayload, ctx: ToolContext) -> devices.FindResult",
        "async def find(self, p: 'devices.FindPayload', /, c: ToolContext) -> 'devices.FindResult'",
        "async def find(self, p: FindPayload, ctx, more=1, *, x=2) -> ToolReturn[devices.FindResult]",
        "async def find(self, p: Any, ctx) -> NoReturn",
        "async def find(self, p: t.Any, ctx) -> devices.FindResult | ToolOutcome['devices.FindResult']",
        "async def find(self, *arguments)",
        "async def find(self, p: Annotated[devices.FindPayload, 'any text: at all'], ctx)",
        "@traced\n  async def find(self, database, payload, ctx)",
        "def find(self, payload, ctx)",
        "def find(self, payload: devices.FindPayload, ctx: SyncToolContext) -> devices.FindResult",
        "def find(self, payload, ctx: runtime.SyncToolContext | ToolContext)",
        "def find(self, payload, ctx: Mine)",
    ],
)
def test_a_signature_that_fits_is_not_listed(signature: str) -> None:
    assert method(signature) == []


@pytest.mark.parametrize(
    "signature",
    [
        "def find(self, payload, ctx: ToolContext)",
        "def find(self, payload, ctx: 'runtime.ToolContext') -> devices.FindResult",
        "async def find(self, payload, ctx: SyncToolContext)",
        "def find(self, payload)",
        "async def find(self, payload)",
        "async def find(self, payload, ctx, more)",
        "async def find(self, payload, ctx, *, more)",
        "async def find(self, payload: devices.OtherPayload, ctx)",
        "async def find(self, payload: 'devices.OtherPayload', ctx)",
        "async def find(self, payload: dict[str, int], ctx)",
        "async def find(self, payload, ctx) -> None",
        "async def find(self, payload, ctx) -> devices.FindPayload",
        "@override\n  async def find(self, payload)",
    ],
)
def test_a_signature_that_does_not_fit_is_listed_with_the_designs(signature: str) -> None:
    line = 4 if signature.startswith("@") else 3
    assert method(signature) == [
        f"{line}: Devices.find does not match the design, which declares: {SIGNATURE}"
    ]


def test_names_are_followed_to_what_was_imported() -> None:
    imports = "from gen.home_service.toolsets.devices import FindPayload as P, OldPayload as Q"
    assert method("async def find(self, payload: P, ctx)", imports=imports) == []
    assert len(method("async def find(self, payload: Q, ctx)", imports=imports)) == 1
    assert method("async def find(self, payload: Mine, ctx)", imports="Mine = devices.FindPayload") == []


def test_a_tool_that_gained_an_artifact_returns_an_outcome() -> None:
    with_artifact = toolset(tool("find", artifact=True))
    assert method("async def find(self, p, c) -> ToolReturn[devices.FindResult]", with_artifact) == []
    (line,) = method("async def find(self, p, c) -> devices.FindResult", with_artifact)
    assert line.endswith("-> ToolReturn[devices.FindResult]")


@pytest.mark.parametrize(
    ("returns", "is_changed"),
    [
        ("LongRunningReturn[devices.FindResult, devices.FindAck]", False),
        ("runtime.Pending[devices.FindAck]", False),
        ("devices.FindResult | Pending[devices.FindAck]", False),
        ("devices.FindResult", True),
        ("ToolReturn[devices.FindResult]", True),
        ("LongRunningReturn[devices.OtherResult, devices.FindAck]", True),
    ],
)
def test_a_tool_that_answers_later_may_be_pending(returns: str, is_changed: bool) -> None:
    late = LongRunning(ack="FindAck")
    ack = ObjectType(name="FindAck", description="", fields=())
    of = replace(toolset(replace(tool("find"), long_running=late)), objects=(ack,))
    found = method(f"async def find(self, p, c) -> {returns}", of)
    assert bool(found) == is_changed
    wanted = "-> LongRunningReturn[devices.FindResult, devices.FindAck]"
    assert all(line.endswith(wanted) for line in found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("async def gone(self, payload, ctx): ...", ["2: Devices.gone"]),
        ("async def _mine(self, payload, ctx): ...", []),
        ("async def close(self): ...", []),
        ("def gone(self, payload, ctx): ...", []),
        ("def gone(self, payload, ctx: SyncToolContext): ...", ["2: Devices.gone"]),
        ("def _gone(self, payload, ctx: SyncToolContext): ...", []),
        ("def gone(self, ctx: SyncToolContext): ...", []),
        ("class Inner:\n    async def gone(self, payload, ctx): ...", []),
        ("if x:\n    async def gone(self, payload, ctx): ...", ["3: Devices.gone"]),
        ("pass\nclass Other:\n  async def gone(self, payload, ctx): ...", []),
        ("pass\nclass Loud(Devices):\n  async def gone(self, payload, ctx): ...", ["4: Loud.gone"]),
        ("pass\nclass More(Devices, Elsewhere):\n  async def gone(self, p, c): ...", ["4: More.gone"]),
    ],
)
def test_public_methods_of_no_tool_are_listed(text: str, found: list[str]) -> None:
    lines = states(f"class Devices(devices.DevicesExecutor):\n  {text}", OPEN, "orphaned")
    assert lines == [
        f"{one} belongs to no tool: the design has no tool 'gone'; if you renamed the tool, move the body "
        "to its new method, otherwise delete it, or start its name with '_'"
        for one in found
    ]


@pytest.mark.parametrize("base", ["Elsewhere", "lamps.LampsExecutor", "make()"])
def test_a_class_that_serves_another_master_has_no_orphans(base: str) -> None:
    text = (
        "from gen.home_service.toolsets import lamps\n"
        f"class Devices(devices.DevicesExecutor, {base}):\n  async def gone(self, payload, ctx): ..."
    )
    assert states(text, OPEN, "orphaned") == []

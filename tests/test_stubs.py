"""What an author's executor file lacks, read from its syntax tree."""

from __future__ import annotations

import pytest

from toolgen.codegen.stubs import stub_path, unimplemented
from toolgen.contract.fields import ObjectType
from toolgen.expr.tree import Binding, ObjectMapping, Tool, Toolset

EMPTY = ObjectType(name="Empty", description="", fields=())
MAPPING = ObjectMapping(source="Empty", target="Empty", assignments=())


def tool(name: str, *, bound: bool = False) -> Tool:
    binding = Binding(service="S", method=name, payload=MAPPING, result=MAPPING) if bound else None
    return Tool(
        id=f"S.devices.{name}",
        name=name,
        title="",
        description="",
        payload=EMPTY,
        result=EMPTY,
        binding=binding,
    )


TOOLSET = Toolset(
    name="devices",
    title="",
    description="",
    service="HomeService",
    tools=(tool("find"), tool("list", bound=True)),
    objects=(),
)
FIND = "class Devices has no method 'find' (tool S.devices.find)"
LIST = "class Devices has no method 'list' (tool S.devices.list)"


def test_a_stub_lies_under_its_service() -> None:
    assert str(stub_path(TOOLSET)) == "home_service/devices.py"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("class Devices(devices.DevicesExecutor):\n    pass", [f"1: {FIND}", f"1: {LIST}"]),
        ("class Devices(DevicesExecutor):\n    pass", [f"1: {FIND}", f"1: {LIST}"]),
        ("\n\nclass Devices(devices.BoundDevicesExecutor):\n    pass", [f"3: {FIND}"]),
        ("class Devices(devices.BoundDevicesExecutor):\n    async def find(self): ...", []),
        ("class Devices(devices.DevicesExecutor):\n    find = list = other", []),
        ("class A:\n    async def find(self): ...\nclass Devices(A, devices.BoundDevicesExecutor): ...", []),
        ("class A(DevicesExecutor):\n  def list(self): ...\n  def find(self): ...\nclass B(A): ...", []),
        ("class Devices(Elsewhere, devices.DevicesExecutor): ...", []),
        ("class Devices(other.LampsExecutor): ...", []),
        ("class Devices(Devices): ...", []),
        ("def f():\n  x = = 1", ["2: does not parse: invalid syntax"]),
        ("", []),
    ],
)
def test_missing_methods_are_listed_at_their_class(text: str, found: list[str]) -> None:
    assert unimplemented(text, "s.py", TOOLSET) == [f"s.py:{line}" for line in found]

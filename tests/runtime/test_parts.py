"""A part of a runtime is loaded and made once, when it is first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from toolgen.runtime import Runtime

CALL = """
import asyncio, sys
from toolgen.calls.functions.tools import function_toolset
from toolgen.runtime import Runtime


async def add(a: int, b: int) -> int:
    '''Add two numbers.'''
    return a + b


async def main() -> None:
    async with Runtime() as runtime:
        runtime.tools.register(function_toolset("x.numbers", [add]))
        assert (await runtime.call("add", {"a": 1, "b": 2})).json == b"3"


asyncio.run(main())
print(*[name for name in sys.modules if name.startswith("toolgen.waiting")])
"""


@pytest.mark.parametrize("part", ["artifacts", "runs", "suspensions", "tools"])
def test_a_runtime_has_each_of_its_parts_once(part: str) -> None:
    runtime = Runtime()
    assert getattr(runtime, part) is getattr(runtime, part)


@pytest.mark.exhaustive
def test_a_runtime_without_an_engine_never_loads_the_room_of_waits() -> None:
    done = subprocess.run([sys.executable, "-c", CALL], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []

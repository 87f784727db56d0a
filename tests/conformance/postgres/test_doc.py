"""docs/postgres.md, run on a server of its own."""

from __future__ import annotations

import ast
import inspect

from tests.test_docs import POSTGRES, blocks


async def test_the_python_runs(conninfo: str) -> None:
    names: dict[str, object] = {"__name__": "document"}
    count = 0
    for line, text in blocks(POSTGRES, "python"):
        source = "\n" * line + text.replace("postgresql://app@db.example/app", conninfo)
        code = compile(source, POSTGRES.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        result = eval(code, names)
        if inspect.iscoroutine(result):
            await result
        count += 1
    assert count == 6

"""An adapter imports its own framework and no other one; toolgen alone imports none."""

from __future__ import annotations

import subprocess
import sys

import pytest

FRAMEWORKS = {
    "pydantic_ai": "pydantic_ai",
    "langchain": "langchain_core",
    "openai_agents": "agents",
    "fastmcp": "fastmcp",
    "adk": "google.adk",
}
LISTS = "import sys; print(*sorted(set({names!r}) & set(sys.modules)))"


def imported(module: str) -> set[str]:
    names = sorted(FRAMEWORKS.values())
    script = f"import {module}; {LISTS.format(names=names)}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("adapter", FRAMEWORKS)
def test_an_adapter_imports_its_own_framework_only(adapter: str) -> None:
    assert imported(f"toolgen.adapters.{adapter}") == {FRAMEWORKS[adapter]}


def test_toolgen_alone_imports_none() -> None:
    assert imported("toolgen.adapters.result_view, toolgen.adapters.framework_calls") == set()

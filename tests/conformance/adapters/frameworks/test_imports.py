"""An adapter imports its own framework and no other one; toolgen alone imports none."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.costly

FRAMEWORKS = {
    "pydantic_ai": "pydantic_ai",
    "langchain": "langchain_core",
    "langgraph": "langgraph",
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
    others = {"langchain_core"} if adapter == "langgraph" else set()  # which LangGraph stands on
    assert imported(f"toolgen.adapters.{adapter}") == {FRAMEWORKS[adapter], *others}


@pytest.mark.parametrize(("adapter", "package"), [*FRAMEWORKS.items(), ("mcp", "mcp")])
def test_an_adapter_without_its_package_says_what_to_install(adapter: str, package: str) -> None:
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from toolgen.contract.errors import ToolgenError\n"
        f"try: import toolgen.adapters.{adapter}\n"
        "except ToolgenError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    problem, hint = done.stdout.splitlines()
    assert problem.startswith(f"the package '{package}")
    assert hint == f"  hint: pip install 'toolgen[{adapter.replace('_', '-')}]'"


def test_toolgen_alone_imports_none() -> None:
    assert imported("toolgen.adapters.result_view, toolgen.adapters.framework_calls") == set()

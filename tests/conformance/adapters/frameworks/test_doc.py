"""docs/frameworks.md, run with the frameworks, and their names in docs/comparison.md."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.test_docs import FRAMEWORKS, ROOT, run_python
from tests.test_dsl_doc import rows

MODULES = {
    "Google ADK": "google.adk.agents google.adk.plugins google.adk.runners google.adk.sessions "
    "google.adk.tools google.adk.tools.base_toolset google.adk.tools.preload_memory_tool",
    "FastMCP": "fastmcp fastmcp.dependencies mcp.types",
    "Pydantic AI": "pydantic_ai pydantic_ai.conversation_store pydantic_ai.durable_exec.temporal "
    "pydantic_ai.models.function pydantic_ai.models.test",
}
"""The modules that have the names of a framework, by its section."""


def test_the_python_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run_python(FRAMEWORKS)


@pytest.mark.parametrize("section", MODULES)
def test_what_is_compared_is_in_the_framework(section: str) -> None:
    """A class, and a method or attribute behind its dot."""
    modules = [importlib.import_module(name) for name in MODULES[section].split()]
    named = re.findall(r"`([A-Z]\w+)((?:\.\w+)?)`", "".join(row[0] for row in rows("comparison.md", section)))
    assert len(named) > 5
    for name, member in named:
        (found, *_) = [getattr(module, name) for module in modules if hasattr(module, name)] or [None]
        assert found is not None, name
        assert not member or hasattr(found, member[1:]), name + member


@pytest.mark.parametrize("section", MODULES)
def test_what_is_offered_in_their_place_is_public(section: str) -> None:
    public = Path(ROOT / "tests/surface.txt").read_text("utf-8")
    for name in re.findall(r"`([A-Z]\w+)", "".join(row[1] for row in rows("comparison.md", section))):
        assert re.search(rf"\b{name}\b", public), name

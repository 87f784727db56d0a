"""The entries of docs/runtime.md are those of the code, and each public name of the runtime has one."""

from __future__ import annotations

from tests import reference
from tests.surface import exported

MARKED = reference.MARKED.findall((reference.DOCS / "runtime.md").read_text("utf-8"))
MODULES = {name: module for _, module, names, _ in MARKED for name in names.split()}


def members(name: str) -> str:
    """Return the members of a class that have no entry of their own."""
    return reference.members(MODULES[name], name, MODULES)


def test_the_entries_are_those_of_the_code() -> None:
    reference.check("runtime.md", members)


def test_each_name_of_the_runtime_has_an_entry() -> None:
    assert not set(exported("toolgen.runtime")) - MODULES.keys()

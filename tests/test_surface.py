"""The public surface: a package's `__init__` only imports, and says in `__all__` what it offers.

What it imports for type checkers alone, it imports at the first use: `_LATER` has the module of each name.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import toolgen

ROOT = Path(toolgen.__file__).parent
PACKAGES = sorted(ROOT.rglob("__init__.py"))


@pytest.mark.parametrize("file", PACKAGES, ids=lambda file: str(file.relative_to(ROOT.parent)))
def test_an_init_only_imports_and_offers(file: Path) -> None:
    body = ast.parse(file.read_text("utf-8")).body
    if body and isinstance(body[0], ast.Expr):
        body = body[1:]
    later = [node for node in body if isinstance(node, ast.If)]
    imports = [
        node
        for node in [*body, *(inner for block in later[:1] for inner in block.body)]
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
    ]
    names = [alias.asname or alias.name for node in imports for alias in node.names]
    rest = [node for node in body if not isinstance(node, ast.ImportFrom) and node not in later]
    if not names:
        assert not rest
        return
    module = import_module(".".join(file.relative_to(ROOT.parent).parent.parts))
    said = [target for node in rest if (target := ast.unparse(node).split(" = ")[0]).startswith("_")]
    if later:
        assert "_LATER" in said
        in_block = {node.module: {alias.name for alias in node.names} for node in imports if node not in body}
        assert in_block == {name: set(found.split()) for name, found in module._LATER.items()}
        assert all(getattr(module, name) for found in in_block.values() for name in found)
    assert [one for one in said if one != "_LATER"] == ["__all__"]
    assert module.__all__ == sorted(names, key=lambda name: (not name.isupper(), name[0].islower(), name))

"""The public surface: a package's `__init__` only imports, and says in `__all__` what it offers."""

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
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    names = [alias.asname or alias.name for node in imports for alias in node.names]
    rest = [node for node in body if node not in imports]
    if not names:
        assert not rest
        return
    assert [ast.unparse(node).split(" = ")[0] for node in rest] == ["__all__"]
    module = import_module(".".join(file.relative_to(ROOT.parent).parent.parts))
    assert module.__all__ == sorted(names, key=lambda name: (not name.isupper(), name[0].islower(), name))

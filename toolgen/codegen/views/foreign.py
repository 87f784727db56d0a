"""Types of somebody else's schemas, as the modules of the tree print them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Final, cast

from toolgen.contract.json_value import Json

from ..foreign import ForeignClass
from ..imports import Imports
from ..spelling import RUNTIME
from ..text import literal

_IMPORTED: Final = {
    "Annotated": "typing",
    "Literal": "typing",
    "Union": "typing",
    "Field": "pydantic",
    "AnyJson": RUNTIME,
    "Nullable": RUNTIME,
}


class ForeignPrinter(ast.NodeTransformer):
    """Prints for one module, and collects what it has to import."""

    def __init__(self, imports: Imports) -> None:
        self._imports = imports

    def fields(self, class_: ForeignClass) -> Iterator[str]:
        """Return the lines of the class's body."""
        if not class_.is_open:
            yield f'model_config = {self._imports.name("pydantic", "ConfigDict")}(extra="forbid")'
        for field in class_.fields:
            default = f" = {self.expression(field.default)}" if field.default else ""
            yield f"{field.name}: {self.expression(field.annotation)}{default}"

    def expression(self, node: ast.expr) -> str:
        """Return the source of a type or of a default."""
        return ast.unparse(cast(ast.expr, self.visit(copy.deepcopy(node))))

    def visit_Name(self, node: ast.Name) -> ast.Name:
        module = _IMPORTED.get(node.id)
        return ast.Name(id=self._imports.name(module, node.id)) if module else node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Return a text with what is not printable escaped, as everywhere in the tree."""
        value: Json = node.value  # type: ignore[assignment]  # nothing else stands in an annotation
        return ast.parse(literal(value), mode="eval").body

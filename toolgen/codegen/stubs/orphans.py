"""Executors of toolsets that the design no longer has: reported, and left to their author."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from .scopes import dotted, module_names
from .source_edit import UnreadableSourceError, read_source
from .stubs import Status


def find_orphans(data: bytes, toolsets: Collection[str], package: str) -> Iterator[Status]:
    """Yield each class of a file that derives from the executor of a toolset that is gone.

    `toolsets` are the import paths of those that there are, `package` is that of the generated tree.
    """
    try:
        tree = read_source(data).tree
        imported = module_names(tree)
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    except (UnreadableSourceError, RecursionError):
        return  # what cannot be read is not ours to judge
    for node in classes:
        for base in node.bases:
            for path in sorted(imported.resolve(base)):
                toolset = path.rpartition(".")[0].removesuffix(".executor")
                if _is_toolset(toolset, package) and toolset not in toolsets:
                    gone = f"class {node.name} derives from {dotted(base)}, which the design does not have"
                    text = f"{gone}; move what you need, and delete the file"
                    yield Status(line=node.lineno, state="orphaned", text=text)


def _is_toolset(path: str, package: str) -> bool:
    """Return whether an import path is that of a generated toolset: `gen.assistant.toolsets.devices`."""
    inside = path.removeprefix(f"{package}.").split(".")
    return path.startswith(f"{package}.") and len(inside) == 3 and inside[1] == "toolsets"

"""Credentials that an imported design sends, and breaking changes of a new version of its source."""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Final

from toolgen.checks.compatibility import Contract, compare, ranked
from toolgen.codegen import catalog_text
from toolgen.contract.credentials import client_names, environment_name
from toolgen.contract.printable import printable
from toolgen.dsl import build
from toolgen.importers.reimport.targets import credentials_in

from .references import side_of

_MOST_SENTENCES: Final = 20
_MOST_SERVERS: Final = 3
_MODULE: Final = "toolgen_imported_design"


def sent_credentials(module: ast.AST) -> list[str]:
    """Return a line for each credential of a design, with its environment variable and its servers."""
    lines = []
    for sent in credentials_in(module):
        name = environment_name(sent.service, sent.scheme)
        more = ["…"] if len(sent.servers) > _MOST_SERVERS else []
        servers = ", ".join([*sent.servers[:_MOST_SERVERS], *more]) or "the server that is set on its client"
        if sent.has_client:
            id_, secret = client_names(sent.service, sent.scheme)
            line = (
                f"{id_} and {secret}, if set, are sent to: {sent.place}; the token, or {name}, to: {servers}"
            )
        else:
            line = f"{name}, if set, is sent to: {servers} ({sent.place})"
        if sent.copies:
            line = f"{line}; in some requests also as {', '.join(sent.copies)}, which is then not an argument"
        lines.append(printable(line))
    return lines


def contract_changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return the changes between two imports of a source, one line per change, the worst first.

    An import consists of the texts that it wrote, by path, its design module first; edits of the author do
    not count. If a module cannot be evaluated, the only line says so.
    """
    old, new = _contract(before), _contract(after)
    if old is None or new is None:
        return ("the changes cannot be compared: the design of the source cannot be evaluated",)
    changes = ranked(compare(old, new))
    more = len(changes) - _MOST_SENTENCES
    return (
        *(["for users of these tools:"] if changes else []),
        *(f"  {line}" for change in changes[:_MOST_SENTENCES] for line in change.lines()),
        *([f"  … and {more} more"] if more > 0 else []),
    )


def _contract(texts: Mapping[str, str]) -> Contract | None:
    """Return the contract of the design of an import; None if it cannot be evaluated."""
    with tempfile.TemporaryDirectory(prefix="toolgen-import-") as folder:
        for path, text in texts.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        spec = spec_from_file_location(_MODULE, Path(folder, next(iter(texts))))
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[_MODULE] = module
        try:
            spec.loader.exec_module(module)
            clause = module.design
        except Exception:  # noqa: BLE001 - a design can import anything; the caller reports the failure
            return None
        finally:
            del sys.modules[_MODULE]
        design = build(clause).design
        return None if design is None else side_of(catalog_text(design), "").contract

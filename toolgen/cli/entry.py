"""The entry point, importable with pydantic alone: everything that needs the extra `gen` comes later."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable_lines

_EXTRA: Final = frozenset(
    ["datamodel_code_generator", "jinja2", "jsonschema_rs", "ruff", "typer", "watchfiles", "yaml"]
)
_REPORT: Final = "error: this is a bug in toolgen; please report it with the lines above"


def main(args: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 good, 1 the design is wrong or the output is stale, 2 usage or environment.

    `args` default to those of the process.
    """
    try:
        from .app import run

        return run(sys.argv[1:] if args is None else args)
    except ToolgenError as error:
        print(printable_lines(f"error: {error}"), file=sys.stderr)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            traceback.print_exc()
            print(_REPORT, file=sys.stderr)
        else:
            print(
                f"error: the toolgen command needs {error.name!r}, which is not installed\n"
                "  hint: pip install 'toolgen[gen]'",
                file=sys.stderr,
            )
    except Exception:
        traceback.print_exc()
        print(_REPORT, file=sys.stderr)
    return 2

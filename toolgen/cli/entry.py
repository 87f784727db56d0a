"""The entry point, importable with only pydantic; modules that need the extra `gen` are imported later."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from toolgen.contract.errors import ToolgenError

_EXTRA: Final = frozenset(["jinja2", "jsonschema_rs", "ruff", "typer", "watchfiles", "yaml"])
_HINT: Final = "pip install 'toolgen[gen]'"
_HINTS: Final = {"typer": f"{_HINT}, or 'toolgen[cli]' for the commands that generate nothing"}
_REPORT: Final = "error: this is a bug in toolgen; please report it with the lines above"


def main(args: Sequence[str] | None = None) -> int:
    """Run toolgen; return 0 for success, 1 for a wrong design or stale output, 2 for usage or environment.

    `args` default to the arguments of the process, which can then end here.
    """
    if args is not None:
        return _run(args)
    code = _run(sys.argv[1:])
    if "temporalio" in sys.modules:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End the process without interpreter shutdown, during which Temporal's SDK can abort.

    https://github.com/temporalio/sdk-python/issues/300
    """
    atexit._run_exitfuncs()  # for example, flush the last spans of an exporter
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # the reading end is closed
            stream.flush()
    os._exit(code)


def _run(args: Sequence[str]) -> int:
    try:
        if list(args) == ["gen"]:
            return _generate()
        from .app import run

        return run(args)
    except ToolgenError as error:
        from toolgen.contract.printable import visible_lines

        print(visible_lines(f"error: {error}"), file=sys.stderr)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            _print_bug()
        else:
            print(
                f"error: the toolgen command needs {error.name!r}, which is not installed\n"
                f"  hint: {_HINTS.get(error.name, _HINT)}",
                file=sys.stderr,
            )
    except Exception:  # noqa: BLE001 - the outermost handler; printed as a bug
        _print_bug()
    return 2


def _generate() -> int:
    """Return the exit code of `toolgen gen` without options, without the cost of parsing options."""
    try:
        from .config import find_project
        from .gen import generate_output
        from .outcome import print_outcome

        return print_outcome(generate_output(find_project(None)))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reading end of the output is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        return 1


def _print_bug() -> None:
    import traceback  # imported late, because it takes a fifth of the time of an unchanged `gen`

    traceback.print_exc()
    print(_REPORT, file=sys.stderr)

"""Imports what an author wrote: the design, or the function that makes the runtime."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Final

from toolgen.cli.config import Project
from toolgen.contract.errors import ToolgenError
from toolgen.dsl import Design

_NOT_THE_AUTHORS: Final = (
    str(Path(__file__).parents[1]) + os.sep,
    str(Path(importlib.__file__).parent) + os.sep,
    "<frozen importlib",
)
"""Starts of the files whose frames say nothing to the author: toolgen's and the import system's."""


def load_design(project: Project) -> Design:
    """Return the value `design` of the project's design module.

    Raises:
        ToolgenError: the module does not import, has no `design`, or one that is no `Design`.
    """
    module = load_module(project, project.design, "design")
    if not hasattr(module, "design"):
        raise ToolgenError(
            f"the module {project.design!r} has no name 'design'",
            hint="end it with design = Design(…), or correct 'design' in [tool.toolgen]",
        )
    design: object = module.design
    if not isinstance(design, Design):
        raise ToolgenError(
            f"'design' in the module {project.design!r} is {_a(type(design).__name__)}, not a Design",
            hint="make it the value of toolgen.dsl.Design(…)",
        )
    return design


def load_module(project: Project, name: str, key: str) -> ModuleType:
    """Return the module that `key` of the settings names, looked for in the project's directory first.

    Raises:
        ToolgenError: it does not import; the message holds the traceback through the author's code.
    """
    directory = str(project.directory)
    if sys.path[:1] != [directory]:
        sys.path.insert(0, directory)
    with authors_code(f"the module {name!r} does not import"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise ToolgenError(
                f"there is no module {error.name!r} in {directory}",
                hint=f"correct {key!r} in [tool.toolgen], or add the module",
            ) from error


@contextmanager
def authors_code(problem: str) -> Iterator[None]:
    """Turn what the author's code raises into a `ToolgenError` with the author's part of the traceback."""
    try:
        yield
    except ToolgenError:
        raise
    except (Exception, SystemExit) as error:
        raise ToolgenError(f"{problem}:\n\n{_own_traceback(error)}") from error


def _own_traceback(error: BaseException) -> str:
    """Return the traceback without the frames of toolgen and of the import system."""
    report = traceback.TracebackException.from_exception(error)
    _strip(report)
    text = "".join(report.format()).rstrip()
    return text if report.stack else text.removeprefix("Traceback (most recent call last):\n")


def _strip(report: traceback.TracebackException) -> None:
    frames = [frame for frame in report.stack if not frame.filename.startswith(_NOT_THE_AUTHORS)]
    report.stack = traceback.StackSummary.from_list(frames)
    for earlier in (report.__cause__, report.__context__):
        if earlier is not None:
            _strip(earlier)


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"

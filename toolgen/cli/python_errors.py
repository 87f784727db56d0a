"""Exceptions of an author's code: the author's part of the traceback for people, a record for programs."""

from __future__ import annotations

import importlib
import linecache
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Finding, Place, shown
from toolgen.contract.names import GENERATED

from .outcome import FoundError
from .problem_codes import ENVIRONMENT, PYTHON_ERROR

if TYPE_CHECKING:
    from toolgen.dsl.expr.source import Source

_TOOLGEN: Final = str(Path(__file__).parents[1]) + os.sep
_IMPORTING: Final = (str(Path(importlib.__file__).parent) + os.sep, "<frozen importlib")
_NOT_THE_AUTHORS: Final = (_TOOLGEN, *_IMPORTING)
"""Path prefixes of frames that do not help the author: toolgen's and the import system's."""
_INSTALLED: Final = tuple(
    folder + os.sep
    for key, folder in sysconfig.get_paths().items()
    if key in ("stdlib", "platstdlib", "purelib", "platlib")
)


@contextmanager
def user_code_errors(problem: str) -> Iterator[None]:
    """Raise exceptions of the author's code as an error with the author's part of the traceback.

    An error of toolgen gets the place of the author's call that caused it, if there is one. Output of the
    code goes to stderr, because stdout is for programs.

    Raises:
        FoundError: the code failed; the finding has Python's message and the place in the author's files.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except FoundError:
        raise
    except ToolgenError as error:
        if (last := _last_user_frame(error.__traceback__, is_written=True)) is None:
            raise
        from toolgen.dsl.expr.source import Source  # only needed for errors

        place = Source(last.tb_frame.f_code, last.tb_lasti).located()
        before = f"{shown(place.file, os.getcwd())}:{place.line}"
        finding = ENVIRONMENT.finding(error.message, place=place, hint=error.hint)
        raise FoundError(f"{before}: {error.message}", finding=finding) from error
    except (Exception, SystemExit) as error:
        raise FoundError(f"{problem}:\n\n{_user_traceback(error)}", finding=_finding(error)) from error


def cause_of(error: BaseException) -> str:
    """Return Python's message, after the last place in the author's files if there is one."""
    finding = _finding(error)
    place = finding.place
    before = f"{shown(place.file, os.getcwd())}:{place.line}: " if place.file else ""
    return f"{before}{finding.message}"


def _finding(error: BaseException) -> Finding:
    """Return the finding of an exception: message, last place in the author's files, and hint."""
    message = _message(error)
    if isinstance(error, SyntaxError) and error.filename and error.lineno and _is_user_file(error.filename):
        return _of_syntax(error, error.filename, error.lineno, message)
    last = _last_user_frame(error.__traceback__)
    if last is None:
        return PYTHON_ERROR.finding(message, hint=_hint_for(error, None, None))
    from toolgen.dsl.expr.source import Source

    source = Source(last.tb_frame.f_code, last.tb_lasti)
    hint = _hint_for(error, last.tb_frame, source)
    return PYTHON_ERROR.finding(message, place=source.located(), hint=hint)


def _hint_for(error: BaseException, frame: FrameType | None, source: Source | None) -> str:
    from .python_hints import hint_for  # loads the words of the design language

    return hint_for(error, frame, source)


def _of_syntax(error: SyntaxError, file: str, line: int, message: str) -> Finding:
    column, end_line = max(error.offset or 1, 1), max(error.end_lineno or line, line)
    place = Place(
        file=file,
        line=line,
        column=column,
        end_line=end_line,
        end_column=max(error.end_offset or 1, column if end_line == line else 1),
    )
    return PYTHON_ERROR.finding(message, place=place, hint=_hint_for(error, None, None))


def _last_user_frame(trace: TracebackType | None, *, is_written: bool = False) -> TracebackType | None:
    """Return the last part of a traceback in a file of the author.

    With `is_written`, generated files do not count.
    """
    innermost = None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if _is_user_file(file) and not (is_written and linecache.getline(file, 1).startswith(GENERATED)):
            innermost = trace
        trace = trace.tb_next
    return innermost


def _is_user_file(file: str) -> bool:
    """Return whether a file is the author's: not toolgen's, not installed, and a real file."""
    return not file.startswith((*_NOT_THE_AUTHORS, *_INSTALLED, "<"))


def _message(error: BaseException) -> str:
    """Return the last line of Python's message, without added notes."""
    text = str(error.msg) if isinstance(error, SyntaxError) else _text(error)
    kind = type(error).__qualname__
    if type(error).__module__ not in ("builtins", "__main__"):
        kind = f"{type(error).__module__}.{kind}"
    return f"{kind}: {text}" if text else kind


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a class of the author's
        return "<exception str() failed>"  # as Python prints it


def _user_traceback(error: BaseException) -> str:
    """Return the traceback without the frames of toolgen and of the import system."""
    report = traceback.TracebackException.from_exception(error)
    _strip(report)
    text = "".join(report.format()).rstrip()
    return text if report.stack else text.removeprefix("Traceback (most recent call last):\n")


def _strip(report: traceback.TracebackException) -> None:
    """Remove also the frames before the author's first frame: import hooks of installed packages."""
    frames = [frame for frame in report.stack if not frame.filename.startswith(_NOT_THE_AUTHORS)]
    starts = [place for place, frame in enumerate(frames) if _is_user_file(frame.filename)]
    if starts or hasattr(report, "lineno"):  # a syntax error contains its own place
        frames = frames[starts[0] :] if starts else []
    report.stack = traceback.StackSummary.from_list(frames)
    for earlier in (report.__cause__, report.__context__):
        if earlier is not None:
            _strip(earlier)

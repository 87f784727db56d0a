"""Exceptions of an author's code: the author's part of the traceback for people, a record for programs."""

from __future__ import annotations

import importlib
import io
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.expr.source import Source
from toolgen.findings import Finding, Place, shown

from .outcome import FoundError
from .problem_codes import PYTHON_ERROR

_TOOLGEN: Final = str(Path(__file__).parents[1]) + os.sep
_IMPORTING: Final = (str(Path(importlib.__file__).parent) + os.sep, "<frozen importlib")
_NOT_THE_AUTHORS: Final = (_TOOLGEN, *_IMPORTING)
"""Starts of the files whose frames say nothing to the author: toolgen's and the import system's."""
_INSTALLED: Final = tuple(
    folder + os.sep
    for key, folder in sysconfig.get_paths().items()
    if key in ("stdlib", "platstdlib", "purelib", "platlib")
)


@contextmanager
def user_code_errors(problem: str) -> Iterator[None]:
    """Raise exceptions of the author's code as an error with the author's part of the traceback.

    What it prints goes to stderr: stdout is for what programs read.

    Raises:
        FoundError: its finding says what Python said, and where in the author's files.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except ToolgenError:
        raise
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
    source = Source(last.tb_frame.f_code, last.tb_lasti)
    hint = _hint_for(error, last.tb_frame, source)
    return PYTHON_ERROR.finding(message, place=source.located(), hint=hint)


def _hint_for(error: BaseException, frame: FrameType | None, source: Source | None) -> str:
    from .python_hints import hint_for  # which loads the words of the design language

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


def _last_user_frame(trace: TracebackType | None) -> TracebackType | None:
    """Return the last part of a traceback that stands in a file of the author's."""
    innermost = None
    while trace is not None:
        innermost = trace if _is_user_file(trace.tb_frame.f_code.co_filename) else innermost
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
    return f"{kind}: {text}{_suggestion(error)}" if text else kind


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a class of the author's
        return "<exception str() failed>"  # as Python prints it


def _last_line(error: BaseException) -> str:
    """Return the last line of a traceback, without the suggestion that Python adds."""
    return f"{type(error).__name__}: {_text(error)}"


def _suggestion(error: BaseException) -> str:
    """Return the "Did you mean" suggestion that Python adds to an error."""
    if sys.version_info >= (3, 12):
        printed = "".join(traceback.TracebackException.from_exception(error).format_exception_only())
    else:  # the module `traceback` does not know it yet, the interpreter does
        stream = io.StringIO()
        with redirect_stderr(stream):
            sys.__excepthook__(type(error), error, error.__traceback__)
        printed = stream.getvalue()
    _, start, rest = printed.rpartition(_last_line(error))
    suggestion = rest.partition("\n")[0] if start else ""
    return suggestion if suggestion.startswith(". Did you") else ""


def _user_traceback(error: BaseException) -> str:
    """Return the traceback without the frames of toolgen and of the import system."""
    report = traceback.TracebackException.from_exception(error)
    _strip(report)
    text = "".join(report.format()).rstrip()
    before, line, after = text.rpartition(_last_line(error))
    suggestion = _suggestion(error)
    if line and not after.startswith(suggestion):
        text = f"{before}{line}{suggestion}{after}"
    return text if report.stack else text.removeprefix("Traceback (most recent call last):\n")


def _strip(report: traceback.TracebackException) -> None:
    """Remove the frames before the author's first one too: import hooks that an installed package has set."""
    frames = [frame for frame in report.stack if not frame.filename.startswith(_NOT_THE_AUTHORS)]
    starts = [place for place, frame in enumerate(frames) if _is_user_file(frame.filename)]
    if starts or hasattr(report, "lineno"):  # an error of syntax says itself where it is
        frames = frames[starts[0] :] if starts else []
    report.stack = traceback.StackSummary.from_list(frames)
    for earlier in (report.__cause__, report.__context__):
        if earlier is not None:
            _strip(earlier)

"""Texts that stand in temporary files: those of 10,000 tools are a third of the memory of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Final
from weakref import finalize

from toolgen.contract.errors import ToolgenError

from .disk_errors import disk_error

_PART: Final = 1 << 20
"""Bytes of a text that are read at once."""
_BUFFER: Final = 1 << 18
"""Bytes that are written at once, and read ahead: texts are mostly read in the order of their writing."""


class SpooledTexts(Mapping[str, str]):
    """Texts by path, which are written to a file as they are made, and read when somebody asks for one.

    Raises:
        ToolgenError: the file cannot be written.
    """

    def __init__(self, files: Iterable[tuple[str, Iterable[str]]]) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        self.digests: dict[str, str] = {}
        """Digests of the texts by path."""
        self._file = _temporary_file()
        finalize(self, _close, self._file)
        end = 0
        try:
            for path, parts in files:
                start, counted = end, sha256()
                for part in parts:
                    data = part.encode()
                    counted.update(data)
                    end += self._file.write(data)
                self._places[path] = start, end
                self.digests[path] = counted.hexdigest()
            self._file.flush()
        except OSError as error:
            _close(self._file)
            raise disk_error("write", error, Path("a temporary file")) from error

    def parts(self, path: str) -> Iterator[bytes]:
        """Yield the text of a path in parts, as UTF-8."""
        start, end = self._places[path]
        for place in range(start, end, _PART):
            self._file.seek(place)
            yield self._file.read(min(_PART, end - place))

    def __getitem__(self, path: str) -> str:
        return b"".join(self.parts(path)).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class KeptTexts:
    """Texts that stand in a temporary file, and are read from it each time that somebody needs them.

    Raises:
        ToolgenError: the file cannot be written.
    """

    def __init__(self) -> None:
        self._file = _temporary_file()
        self._end = self._place = 0
        finalize(self, _close, self._file)

    def keep(self, text: str) -> Iterable[str]:
        """Return what reads the text again each time."""
        data, start = text.encode(), self._end
        try:
            self._go(start)
            self._file.write(data)
        except OSError as error:
            raise self._refused(error) from error
        self._end = self._place = start + len(data)
        return _KeptText(self, start, len(data))

    def read(self, start: int, size: int) -> str:
        try:
            self._go(start)  # writes what is not in the file yet
            data = self._file.read(size)
        except OSError as error:
            raise self._refused(error) from error
        self._place = start + size
        return data.decode()

    def _go(self, place: int) -> None:
        """Go to a place in the file; where it is already, what was written stays in memory."""
        if self._place != place:
            self._file.seek(place)

    def _refused(self, error: OSError) -> ToolgenError:
        _close(self._file)
        return disk_error("write", error, Path("a temporary file"))


class _KeptText:
    __slots__ = ("_size", "_start", "_texts")

    def __init__(self, texts: KeptTexts, start: int, size: int) -> None:
        self._texts = texts
        self._start = start
        self._size = size

    def __iter__(self) -> Iterator[str]:
        yield self._texts.read(self._start, self._size)


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # of what cannot be written, and nobody reads
        file.close()


def _temporary_file() -> IO[bytes]:
    """Return a file that goes when it is closed; in memory where no folder is writable, as of a check."""
    try:
        return tempfile.TemporaryFile(buffering=_BUFFER)
    except FileNotFoundError:
        return BytesIO()

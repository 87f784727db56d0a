"""Planned texts that stand in a temporary file: those of 10,000 tools are a fifth of the memory of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from weakref import finalize

from .comparison import disk_error


class SpooledTexts(Mapping[str, str]):
    """Texts by path, which are written to a file as they are made, and read when somebody asks for one.

    Raises:
        ToolgenError: the file cannot be written.
    """

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the texts
            finalize(self, self._file.close)
            for path, text in files:
                data = text.encode()
                self._places[path] = self._file.tell(), len(data)
                self._file.write(data)
        except OSError as error:
            raise disk_error("write", error, Path(tempfile.gettempdir())) from error

    def __getitem__(self, path: str) -> str:
        start, size = self._places[path]
        self._file.seek(start)
        return self._file.read(size).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

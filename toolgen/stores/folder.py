"""A folder of a store: records and blobs, each under the hash of its key, so that no key is a path.

Each step locks the folder across all processes, exclusively or shared with other readers. It runs in a thread
of the folder, so a locked folder blocks no other work. Files are written under another name and then moved,
so a killed process leaves no partial file.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

from .atomic_file import write_atomically
from .errors import (
    StoreCorruptError,
    StoreError,
    StoreLockedError,
    StoreMissingError,
    system_error,
)
from .folder_sync import sync_folder
from .safe_places import require_own_place

T = TypeVar("T")

BUSY_S: Final = 10.0
"""Maximum wait of a step for other processes, in seconds."""
_RETRY_S: Final = 0.005
_MODE: Final = 0o700
"""Mode of a new folder: only its owner can access it."""
_GONE: Final = "gone-"
"""Name prefix of a bucket that is being removed."""


def _make_folder(path: Path) -> None:
    """Create a folder if it is missing."""
    if not path.is_dir():
        path.mkdir(mode=_MODE, exist_ok=True)
        sync_folder(path.parent)


class Bucket:
    """A folder within the store: JSON documents by name, and blobs by digest. It might not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def documents(self) -> Iterator[Any]:
        """Yield the documents, ordered by the hashes of their names."""
        yield from map(_parsed, sorted(self.path.glob("*.json")))

    def document(self, name: str) -> Any:
        """Return the document with a name; None if there is none."""
        file = self._file(name)
        return _parsed(file) if file.exists() else None

    def put(self, name: str, document: object) -> None:
        """Store a document, replacing the previous one."""
        self._write(self._file(name), json.dumps(document).encode())

    def add_blob(self, data: bytes) -> str:
        """Store data and return its key, the SHA-256 in hex."""
        digest = sha256(data).hexdigest()
        file = self.path / digest
        if not file.exists():
            self._write(file, data)
        return digest

    def blob(self, digest: str) -> bytes:
        """Return the data of a digest.

        Raises:
            StoreCorruptError: the data is missing or was changed.
        """
        file = self.path / digest
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            data = b""
        if sha256(data).hexdigest() != digest:
            raise _damaged(file)
        return data

    def _file(self, name: str) -> Path:
        return self.path / f"{_hash(name)}.json"

    def _write(self, file: Path, data: bytes) -> None:
        _make_folder(self.path)
        write_atomically(file, [data])


class Folder:
    """A folder of buckets, for several processes on one machine; on Windows only for one process."""

    def __init__(self, path: str | Path, *, busy_s: float = BUSY_S) -> None:
        """Open the folder; if it is missing, create it with access only for its owner.

        Raises:
            StoreError: it cannot be created, or is not a folder; the class says why.
        """
        self.path = Path(path).absolute()
        self._busy_s = busy_s
        self._process = 0
        with self._guarded():
            if not self.path.parent.is_dir():
                raise StoreMissingError(
                    "is in a folder that does not exist",
                    path=self.path,
                    hint=f"create the folder {str(self.path.parent)!r}",
                )
            require_own_place(self.path)
            _make_folder(self.path)

    async def run_exclusive(self, step: Callable[[], T]) -> T:
        """Run a step under the exclusive lock of the folder and return its value.

        Raises:
            StoreError: the folder cannot be used; the class says why.
        """
        return await self._in_thread(partial(self._run, step, is_shared=False))

    async def run_shared(self, step: Callable[[], T]) -> T:
        """Run a step under the shared lock of the folder and return its value."""
        return await self._in_thread(partial(self._run, step, is_shared=True))

    def bucket(self, key: str) -> Bucket:
        """Return the bucket of a key; the bucket is created at the first write."""
        return Bucket(self.path / _hash(key))

    def buckets(self) -> Iterator[Bucket]:
        """Yield the existing buckets, and complete removals that a killed process left unfinished."""
        for path in sorted(self.path.iterdir()):
            if path.name.startswith(_GONE):
                shutil.rmtree(path)
            elif path.is_dir():
                yield Bucket(path)

    def remove(self, shelf: Bucket) -> None:
        """Remove a bucket with all its contents, completely or not at all."""
        renamed = shelf.path.with_name(f"{_GONE}{shelf.path.name}")
        os.rename(shelf.path, renamed)
        sync_folder(self.path)
        shutil.rmtree(renamed)
        sync_folder(self.path)  # otherwise, it could reappear after a power failure

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._process != os.getpid():  # a forked process does not inherit threads
            self._process = os.getpid()
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="toolgen folder")
            weakref.finalize(self, self._thread.shutdown, wait=False)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _run(self, step: Callable[[], T], *, is_shared: bool) -> T:
        with self._guarded(), self._locked(is_shared=is_shared):
            return step()

    @contextmanager
    def _locked(self, *, is_shared: bool) -> Iterator[None]:
        """Hold the lock until the context or the process ends; on Windows, only between own threads."""
        if sys.platform == "win32":
            yield
            return
        import fcntl  # not on Windows

        until = time.monotonic() + self._busy_s
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            while True:
                try:
                    fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= until:
                        raise _locked_error(self.path, self._busy_s) from None
                    time.sleep(_RETRY_S)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _store_error(error, self.path) from error


def _hash(key: str) -> str:
    """Return the folder name of a key, which can contain a lone surrogate."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _parsed(file: Path) -> object:
    try:
        return json.loads(file.read_bytes())
    except ValueError as error:
        raise _damaged(file) from error


def _locked_error(path: Path, busy_s: float) -> StoreLockedError:
    return StoreLockedError(
        f"has been locked by another process for {busy_s:g} s",
        path=path,
        hint="find the process that has the folder open (lsof, fuser), stop it, and try again",
    )


def _damaged(file: Path) -> StoreCorruptError:
    return StoreCorruptError("is damaged", path=file, hint="restore the folder from a backup")


def _store_error(error: OSError, path: Path) -> StoreError:
    """Return the store error for an error of the operating system."""
    what = "cannot be used"
    if error.errno == errno.ENOENT:
        message = f"{what}: {error.strerror}"
        return StoreMissingError(message, path=path, hint="restore the folder, or restart the process")
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return StoreError("is not a folder", path=path, hint="name a folder, or a new one")
    allow = "let the user of this process write to the folder and its files"
    return system_error(error, path, what, allow=allow, hint="check the folder and its disk")

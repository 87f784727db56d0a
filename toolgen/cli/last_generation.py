"""The record of the last run of `toolgen gen`: by it the next run sees that it has nothing to do.

It is read before pydantic, the options and the design are imported, so only the standard library is here.
What decides is content: the digest of each file that the run read and wrote. Where anything cannot be told,
the run evaluates the design.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final, NamedTuple

CACHE: Final = ".toolgen_cache"
"""Folder of the record, in the project's; it ignores itself in git."""
VERSION: Final = 3
"""Format of the record."""
_FILE: Final = f"{CACHE}/gen.json"
_TEXTS: Final = f"{CACHE}/gen.tools"
"""Texts of the catalogue at the root; their digest is in the record."""
_NEW_FILE: Final = "gen.new.json"
_NEW_TEXTS: Final = "gen.new.tools"
"""What is not yet whole; of two runs that write it at once, one may leave no record."""
_MANIFEST: Final = ".toolgen.json"
_MOST_BYTES: Final = 1 << 27
"""Size of a file up to which its digest is taken each time; a catalogue of 10,000 tools has a quarter."""
_BUFFER: Final = 1 << 18
"""Bytes of the texts that are written at once; there is one text a tool."""
_STAGING: Final = ".toolgen-staging-"
_TOOLGEN: Final = os.path.dirname(os.path.dirname(__file__))
_DAMAGED: Final = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What is raised where a record is damaged, or a folder is gone."""
_COMMANDS: Final = (["gen"], ["gen", "--check"])


def nothing_to_do(arguments: Sequence[str]) -> str:
    """Return what a command says that would change nothing; "" where it has to look."""
    if list(arguments) not in _COMMANDS:
        return ""
    try:
        here = os.getcwd()
        directory = _project(here)
        record = json.loads(_content(os.path.join(directory, _FILE)) or "{}")
        if record["version"] != VERSION or not _is_current(directory, record):
            return ""
        folders = [os.path.relpath(os.path.join(directory, tree), here) for tree in record["trees"]]
    except _DAMAGED:  # the run that looks says what is wrong with the project
        return ""
    return "; ".join(f"{folder}: up to date" for folder in folders)


class Memory(NamedTuple):
    """What the next run needs of toolsets that do not change until then."""

    toolsets: Mapping[str, str]
    """Digests of what was written of each toolset; none where all are evaluated each time."""
    texts: Iterable[str]
    """Texts of the catalogue at the root, in parts, which are read once."""


class LastRun(NamedTuple):
    """What the last run recorded."""

    toolsets: Mapping[str, str]
    """Those of its memory."""
    edited_stubs: Sequence[str]
    """Stubs that were edited since."""
    texts: str
    """Digest of the texts of its memory."""


def last_run(directory: str, settings: str) -> LastRun:
    """Return what the last run recorded.

    It is empty where toolgen, the settings, a manifest or the list of the stubs is another one. Whether
    the files are those of the manifests is not looked at.
    """
    try:
        record = json.loads(_content(os.path.join(directory, _FILE)) or "{}")
        (file, digest), *_ = record["inputs"].items()  # the settings are read first
        manifests = ((os.path.join(directory, tree, _MANIFEST), of) for tree, of in record["trees"].items())
        if (
            record["version"] == VERSION
            and (file, digest) == (settings, digest_of(settings))
            and record["made_by"] == made_by(record["roots"])
            and all(digest_of(file) == digest for file, digest in manifests)
        ):
            edited = _edited_stubs(directory, record)
            return LastRun(toolsets=dict(record["toolsets"]), edited_stubs=edited, texts=record["texts"])
    except _DAMAGED:
        pass
    return LastRun(toolsets={}, edited_stubs=(), texts="")


def last_texts(directory: str, digest: str) -> str | None:
    """Return the texts of the last run's memory; None where they are not of this digest."""
    content = _content(os.path.join(directory, _TEXTS))
    if content is None or sha256(content).hexdigest() != digest:
        return None
    return content.decode("ascii")


def remove_record(directory: str) -> None:
    """Remove the record of the last run, so that the next one evaluates the whole design."""
    with suppress(OSError):
        os.unlink(os.path.join(directory, _FILE))


def write_record(
    directory: str,
    *,
    inputs: Mapping[str, str | None],
    variables: Mapping[str, str | None],
    roots: Sequence[str],
    trees: Mapping[str, str],
    stubs: Mapping[str, Mapping[str, str | None]],
    memory: Memory,
) -> None:
    """Record a run after which nothing was left to do.

    Args:
        inputs: Digests of the files that were read, by absolute path; None of one that is not there.
        variables: Digests of the environment variables that were read, by name.
        roots: Folders in which the design is looked for first, absolute.
        trees: Digests of the manifests that the run knows, by the folder, which is relative to `directory`.
        stubs: The `stub_digests` before any was read, by the folder, which is relative to `directory`.
        memory: What the next run needs.
    """
    folder = os.path.join(directory, CACHE)
    new = os.path.join(folder, _NEW_FILE)
    try:
        (executors_folder, before), *_ = stubs.items()
        executors = {**stub_digests(directory, executors_folder), **before}  # one that changed is read again
        if None in executors.values():
            return  # links, of which nobody watches where they lead
        os.makedirs(folder, exist_ok=True)
        record = {
            "version": VERSION,
            "made_by": made_by(roots),
            "roots": roots,
            "inputs": inputs,
            "variables": variables,
            "trees": trees,
            "stubs": {executors_folder: executors},
            "toolsets": memory.toolsets,
            "texts": _write_texts(directory, memory.texts) if memory.toolsets else "",
        }
        ignored = os.path.join(folder, ".gitignore")
        _remove(new)
        for name, text in ((ignored, "*\n"), (new, json.dumps(record))):
            if not os.path.lexists(name):
                with open(name, "x", encoding="utf-8") as opened:  # follows no link
                    opened.write(text)
        os.replace(new, os.path.join(directory, _FILE))
    except OSError:  # a folder that cannot be read or written: the next run looks again
        with suppress(OSError):
            _remove(new)
            _remove(os.path.join(folder, _NEW_TEXTS))


def _write_texts(directory: str, texts: Iterable[str]) -> str:
    """Write the texts of the catalogue at the root, and return their digest."""
    new = os.path.join(directory, CACHE, _NEW_TEXTS)
    _remove(new)
    counted = sha256()
    with open(new, "xb", buffering=_BUFFER) as opened:
        for part in texts:
            data = part.encode("ascii")
            opened.write(data)
            counted.update(data)
    os.replace(new, os.path.join(directory, _TEXTS))
    return counted.hexdigest()


def _remove(file: str) -> None:
    """Remove what a run left that was killed, or could not write it."""
    if os.path.lexists(file):
        os.unlink(file)


def stub_digests(directory: str, stubs: str) -> dict[str, str | None]:
    """Return the digest of each module in the folder of the stubs; None of a link.

    Raises:
        OSError: the folder cannot be read.
    """
    return {name: digest_of(os.path.join(directory, name)) for name in _python(directory, stubs)}


def made_by(roots: Sequence[str]) -> dict[str, object]:
    """Return what a generation depends on beside its inputs: Python, toolgen, its packages, the folder.

    `roots` are the folders of the design, which a run puts before those of Python.
    """
    digest = sha256()
    for path, status in _files(_TOOLGEN):
        digest.update(f"{path} {status.st_mtime_ns} {status.st_size}\n".encode("utf-8", "surrogateescape"))
    here = os.getcwd()
    aside = {*roots, os.path.dirname(sys.executable)}  # where the command `toolgen` is
    folders = [folder for folder in (str(each) or here for each in sys.path) if folder not in aside]
    return {
        "python": f"{sys.version} {sys.executable} {sys.flags} {sys.warnoptions}",
        "toolgen": digest.hexdigest(),
        "path": folders,
        "packages": [os.stat(folder).st_mtime_ns for folder in folders if _is_packages(folder)],
        "folder": here,
    }


def digest_of(file: str) -> str | None:
    """Return the SHA-256 of a regular file in hexadecimal; None where there is none, or a huge one."""
    content = _content(file)
    return None if content is None else sha256(content).hexdigest()


def variable_digest(name: str) -> str | None:
    """Return the digest of an environment variable, which may be a secret; None where it is not set."""
    value = os.environ.get(name)
    return None if value is None else sha256(value.encode("utf-8", "surrogateescape")).hexdigest()


def _content(file: str) -> bytes | None:
    """Return the bytes of a regular file; None where there is none, or one above `_MOST_BYTES`."""
    try:
        status = os.stat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return None
        with open(file, "rb") as opened:
            return opened.read()
    except OSError:
        return None


def _is_packages(folder: str) -> bool:
    return folder.endswith("-packages") and os.path.isdir(folder)


def _project(here: str) -> str:
    """Return the folder of the nearest pyproject.toml from a folder up, as the command looks for it."""
    folder, last = here, ""
    while folder != last:
        if os.path.isfile(os.path.join(folder, "pyproject.toml")):
            return folder
        folder, last = os.path.dirname(folder), folder
    return ""


def _is_current(directory: str, record: Mapping[str, Any]) -> bool:
    return (
        os.path.join(directory, "pyproject.toml") in record["inputs"]
        and all(digest_of(path) == digest for path, digest in record["inputs"].items())
        and all(variable_digest(name) == digest for name, digest in record["variables"].items())
        and record["made_by"] == made_by(record["roots"])
        and all(_is_whole(directory, tree, digest) for tree, digest in record["trees"].items())
        and not _edited_stubs(directory, record)
    )


def _edited_stubs(directory: str, record: Mapping[str, Any]) -> list[str]:
    """Return the stubs that are not those of the record, relative to the project's folder.

    Raises:
        LookupError: one came or went.
    """
    (stubs, digests), *_ = record["stubs"].items()
    if sorted(_python(directory, stubs)) != sorted(digests):
        raise LookupError
    return [name for name, digest in digests.items() if digest_of(os.path.join(directory, name)) != digest]


def _is_whole(directory: str, tree: str, digest: str) -> bool:
    """Return whether a tree is what its manifest says, and nothing of a killed run lies beside it."""
    folder = os.path.join(directory, tree)
    text = _content(os.path.join(folder, _MANIFEST)) or b""
    if sha256(text).hexdigest() != digest:
        return False
    files = json.loads(text)["files"]
    start = len(os.path.join(folder, ""))
    there = {path[start:]: status.st_mode for path, status in _files(folder)}
    return (
        all(map(stat.S_ISREG, there.values()))
        and there.keys() == {path.replace("/", os.sep) for path in files} | {_MANIFEST}
        and all(digest_of(os.path.join(folder, path)) == of["written"] for path, of in files.items())
        and not any(
            name.startswith(_STAGING) for room in _rooms(directory, folder) for name in os.listdir(room)
        )
    )


def _rooms(directory: str, folder: str) -> Iterator[str]:
    """Yield the folders above a tree, up to the project's."""
    while folder not in (directory, os.path.dirname(folder)):
        folder = os.path.dirname(folder)
        yield folder


def _python(directory: str, folder: str) -> list[str]:
    """Return the modules in a folder, and the links to other folders, relative to the project's."""
    paths = (path for path, _ in _files(os.path.join(directory, folder)))
    return [os.path.relpath(path, directory) for path in paths if path.endswith(".py") or os.path.isdir(path)]


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield each file in a folder and those below, without compiled modules; links are not followed."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        else:
            yield entry.path, entry.stat(follow_symlinks=False)

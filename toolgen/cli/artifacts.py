"""`toolgen artifacts`: shows the artifact of a URI, or saves it to a file."""

from __future__ import annotations

import sys
from pathlib import Path

from toolgen.capabilities import StoredArtifact
from toolgen.codegen.write import Edit
from toolgen.codegen.write.output import replace_files
from toolgen.contract.errors import ToolgenError

from .artifact_text import artifact_text
from .config import Project
from .runtime import project_runtime
from .terminal import show_document


async def show_artifact(project: Project, uri: str, *, session: str | None, view: str) -> int:
    """Print the data of an artifact in a view, or unchanged; JSON is indented at a terminal."""
    artifact = await _loaded(project, uri, session)
    is_json = artifact.info.media_type.endswith("json")
    if view and is_json:
        print(artifact_text(artifact.info.name, view, artifact.data.decode(), len(artifact.data)))
    elif is_json and sys.stdout.isatty():
        show_document(artifact.data)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(artifact.data)
        sys.stdout.buffer.flush()
    return 0


async def save_artifact(project: Project, uri: str, file: Path, *, session: str | None, force: bool) -> int:
    """Write the data of a URI to a file; an existing file is overwritten only if `force` is set."""
    artifact = await _loaded(project, uri, session)
    try:
        _write(file, artifact.data, force=force)
    except FileExistsError as error:
        raise ToolgenError(f"{file} already exists", hint="choose another file, or add --force") from error
    except OSError as error:
        raise ToolgenError(f"cannot write {file}: {error.strerror}", hint="choose another file") from error
    print(f"{file}: {len(artifact.data):,} bytes of {artifact.info.media_type}", file=sys.stderr)
    return 0


def _write(file: Path, data: bytes, *, force: bool) -> None:
    """Write a complete file, or leave the existing one.

    Raises:
        FileExistsError: the file exists, and `force` is not set.
        OSError, ToolgenError: it cannot be written.
    """
    if force and file.is_file():
        replace_files({file: Edit(old=file.read_bytes(), new=data)})
        return
    with open(file, "wb" if force else "xb") as written:
        try:
            written.write(data)
            written.flush()
        except BaseException:
            if file.is_file():
                file.unlink()
            raise


async def _loaded(project: Project, uri: str, session: str | None) -> StoredArtifact:
    async with project_runtime(project) as runtime:
        runtime.runs.run_as_client()
        async with runtime:
            return await runtime.artifacts.load(uri, session_id=session)

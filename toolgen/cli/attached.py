"""Files that a person names at the terminal, for a message to an agent."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Final

from toolgen.agents import BadFileError, Upload

_BINARY: Final = "application/octet-stream"


def attached_file(path: str | Path) -> Upload:
    """Return a file with the media type of its name; `~` is the folder of the user.

    Raises:
        BadFileError: it cannot be read.
    """
    path = Path(path)
    try:
        path = path.expanduser()
        data = path.read_bytes()
    except (OSError, RuntimeError) as error:  # no such file, or no such user
        raise BadFileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return Upload(name=path.name, data=data, media_type=mimetypes.guess_type(path.name)[0] or _BINARY)

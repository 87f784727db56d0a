"""Files that a person names at the terminal, for a message to an agent."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Final

from toolgen.agents import BadFileError, Upload

_BINARY: Final = "application/octet-stream"


def attached_file(path: str | Path) -> Upload:
    """Return a file with the media type of its name; `~` is the home folder of the user.

    Raises:
        BadFileError: it cannot be read.
    """
    path = Path(path)
    try:
        path = path.expanduser()
        if path.is_fifo() or path.is_char_device() or path.is_socket():  # reading it might never end
            raise BadFileError(f"{path} cannot be read: it is not a file")
        data = path.read_bytes()
    except (OSError, RuntimeError, ValueError) as error:  # no such file, no such user, or no such name
        raise BadFileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return Upload(name=path.name, data=data, media_type=mimetypes.guess_type(path.name)[0] or _BINARY)

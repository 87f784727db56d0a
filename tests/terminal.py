"""Commands at a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import BinaryIO

from .conftest import ProjectFolder, surroundings


def at_a_terminal(
    project: ProjectFolder,
    arguments: list[str],
    typed: bytes = b"",
    stderr: BinaryIO | None = None,
    environment: Mapping[str, str] | None = None,
    replies: Mapping[bytes, bytes | Callable[[], bytes]] | None = None,
) -> str:
    """Return all that a command says to a terminal where this is typed, and each reply after its prompt."""
    open_replies = dict(replies or {})
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "toolgen", *arguments],
        cwd=project.path,
        env={**surroundings(), **(environment or {})},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs if stderr is None else stderr,
    ):
        os.close(theirs)
        os.write(ours, typed)
        said = b""
        try:
            while data := os.read(ours, 65536):
                said += data
                for prompt in [prompt for prompt in open_replies if prompt in said]:
                    reply = open_replies.pop(prompt)
                    os.write(ours, reply() if callable(reply) else reply)
        except OSError:  # how Linux says that the terminal is closed
            pass
        finally:
            os.close(ours)
    return said.decode()

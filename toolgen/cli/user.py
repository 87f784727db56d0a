"""The name of the user at the terminal."""

from __future__ import annotations

import getpass


def user_name() -> str:
    """Return the name of the user of this machine; "" where there is none."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""

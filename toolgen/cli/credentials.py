"""Credentials at the command line: typed without echo or read from stdin, never an argument."""

from __future__ import annotations

import getpass
import sys

from toolgen.contract.credentials import Credential, is_of_service
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable
from toolgen.runtime import Suspended


def is_asked_for(suspended: Suspended) -> bool:
    """Return whether a suspended call needs a credential that its runtime stores."""
    return suspended.kind == "credential" and is_of_service(suspended.request)


def read_credential(suspended: Suspended) -> Credential:
    """Read the credential of a suspended call, from the terminal or from the first line of stdin.

    A password needs its user name: the terminal asks for it, and stdin contains `user:password`.

    Raises:
        ToolgenError: the input is empty.
    """
    request = suspended.request or {}
    is_pair = request.get("kind") == "basic"
    if sys.stdin.isatty():
        username = _line(f"user of {request['service']}: ") if is_pair else ""
        prompt = printable(f"{request['scheme']} of {request['service']}, hidden: ")
        secret = getpass.getpass(prompt, stream=sys.stderr)
    else:
        text = sys.stdin.readline().rstrip("\r\n")
        username, _, secret = text.partition(":") if is_pair else ("", "", text)
    if not secret:
        raise ToolgenError(
            "no credential was entered; nothing was answered",
            hint=f"type it at a terminal, or write {'user:password' if is_pair else 'it'} to stdin",
        )
    return Credential(secret=secret, username=username)


def _line(prompt: str) -> str:
    print(printable(prompt), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().rstrip("\r\n")

"""Failures of a server, and their reasons in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
from pydantic import ValidationError

from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import plain_spaces, printable, printable_lines, visible, visible_lines

_MOST_REASONS: Final = 3
_LONGEST_REASON: Final = 300
"""Characters of one reason; a server may put anything there."""


class MCPServerError(ToolgenError):
    """An MCP server does not start, does not answer, or answers what the protocol does not allow."""


class InsecureServerError(ToolgenError):
    """Credentials would be sent to another machine without encryption."""


class MalformedAnswerError(MCPServerError):
    """The answer to a call is none that the protocol allows."""


class ConnectionLostError(MCPServerError):
    """The connection ended before the answer to a request."""

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent
        """Whether the server may have the call; of a list it does not count."""


class ServerFailedError(ConnectionLostError):
    """The server has answered that it failed, and not whether it has executed the call."""


class RefusedError(MCPServerError):
    """The server has not taken the request; the message may be told to a model."""


def reason_of(error: BaseException) -> str:
    """Return why something failed, in one line: the errors inside groups of errors, at most three."""
    reasons = list(dict.fromkeys(_reason(leaf) for leaf in leaves(error)))
    return "; ".join(reasons[:_MOST_REASONS])


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors that stand in a group of errors, in groups inside it too; else the error itself."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for inner in error.exceptions:
        yield from leaves(inner)


def was_refused(error: BaseException) -> bool:
    """Return whether no connection was made at all, so that the server has no request of it."""
    return all(isinstance(leaf, httpx2.ConnectError | httpx2.ConnectTimeout) for leaf in leaves(error))


def misfit_of(error: ValidationError) -> str:
    """Return what is wrong with a message of a server: the first place, and the rule that it breaks."""
    first = error.errors(include_url=False, include_input=False)[0]
    return shortened(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")


def shortened(text: str, longest: int = _LONGEST_REASON) -> str:
    """Return the beginning of a text of a server on one line for people, as no other text looks."""
    shown = printable(text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def named(text: str, longest: int = _LONGEST_REASON) -> str:
    """Return the beginning of a name or a line of a server, without characters that nobody sees."""
    text = plain_spaces(text).replace("\n", " ").strip()
    shown = visible(text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def cleaned(text: str, longest: int) -> str:
    """Return a text of a server with its lines, without characters that nobody sees, cut to its beginning."""
    text = plain_spaces(text).strip()
    shown = visible_lines(text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def unmistakable(text: str, longest: int) -> str:
    """Return the beginning of a text for a person, with its lines, as no other text looks."""
    text = text.strip()
    shown = printable_lines(text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def _reason(error: BaseException) -> str:
    if isinstance(error, MCPServerError):
        return error.message
    text = shortened(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

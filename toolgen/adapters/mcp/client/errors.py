"""Server failures, and their reasons as one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
from pydantic import ValidationError

from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import plain_spaces, printable, printable_lines, visible, visible_lines

_MOST_REASONS: Final = 3
_LONGEST_REASON: Final = 300
"""Maximum number of characters of one reason; a server controls the text."""


class MCPServerError(ToolgenError):
    """An MCP server does not start, does not answer, or sends an answer that the protocol does not allow."""


class InsecureServerError(ToolgenError):
    """Credentials would be sent to another machine without encryption."""


class MalformedAnswerError(MCPServerError):
    """The answer to a call violates the protocol."""


class ConnectionLostError(MCPServerError):
    """The connection ended before the answer to a request."""

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent
        """Whether the server might have received the call; irrelevant for a list."""


class ServerFailedError(ConnectionLostError):
    """The server answered that it failed, without reporting whether it executed the call."""


class RefusedError(MCPServerError):
    """The server did not accept the request; its message may be shown to a model."""


def reason_of(error: BaseException) -> str:
    """Return the reason of a failure as one line: at most three errors from inside exception groups."""
    reasons = list(dict.fromkeys(_reason(leaf) for leaf in leaves(error)))
    return "; ".join(reasons[:_MOST_REASONS])


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors in an exception group, including nested groups; for other errors, the error itself."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for inner in error.exceptions:
        yield from leaves(inner)


def was_refused(error: BaseException) -> bool:
    """Return whether no connection was made, so that the server received no request."""
    return all(isinstance(leaf, httpx2.ConnectError | httpx2.ConnectTimeout) for leaf in leaves(error))


def misfit_of(error: ValidationError) -> str:
    """Return what is wrong with a server's message: the first location, and the violated rule."""
    first = error.errors(include_url=False, include_input=False)[0]
    return shortened(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")


def shortened(text: str, longest: int = _LONGEST_REASON) -> str:
    """Return the beginning of a server's text on one line for people, printed unambiguously."""
    shown = printable(text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def shown_name(text: str, longest: int = _LONGEST_REASON) -> str:
    """Return the beginning of a name or line from a server, without invisible characters."""
    text = plain_spaces(text).replace("\n", " ").strip()
    shown = visible(text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def cleaned(text: str, longest: int) -> str:
    """Return a server's text with its lines, without invisible characters, cut to its beginning."""
    text = plain_spaces(text).strip()
    shown = visible_lines(text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def unmistakable(text: str, longest: int) -> str:
    """Return the beginning of a text for a person, with its lines, printed unambiguously."""
    text = text.strip()
    shown = printable_lines(text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def _reason(error: BaseException) -> str:
    if isinstance(error, MCPServerError):
        return error.message
    text = shortened(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

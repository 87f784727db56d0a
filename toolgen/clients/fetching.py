"""Fetches a document from an https URL that nobody has accepted, within the limits of answers."""

from __future__ import annotations

import asyncio
import re
from typing import Final
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from toolgen.contract.errors import ToolgenError
from toolgen.contract.extras import extra

from .connections import ENCODINGS, Connections
from .failures import AnswerLostError, NotConnectedError, RefusedAddressError, place
from .servers import Origin, PrivateAddressError, public_addresses

with extra("http"):
    import httpx

_TIMEOUT_S: Final = 60.0
_MOST_REDIRECTS: Final = 5
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_SECRET: Final = re.compile(
    r"token|secret|passw|key|auth|credential|signature|\b(?:sig|pat|jwt|code|st)\b",
    re.IGNORECASE,
)
"""Names of query parameters that look like a credential."""
_BY_HAND: Final = "download it from a source that you trust, and pass the file"


def document_address(url: str) -> str:
    """Return a URL from which a document may be fetched, without its fragment.

    Raises:
        ToolgenError: The URL is not an https URL, or contains a credential, which the message does not
            repeat.
    """
    try:
        parts = urlsplit(url)
        origin = Origin.of(url)
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        raise ToolgenError("the source is not an https URL", hint=_BY_HAND) from None
    if origin.scheme != "https":
        raise ToolgenError(f"{place(url)} is not fetched: only https URLs are allowed", hint=_BY_HAND)
    names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True) if _SECRET.search(name)]
    if "@" in parts.netloc or names:
        what = f"the query parameter {names[0]!r}" if names else "a user or a password"
        raise ToolgenError(
            f"the address at {origin.host} has {what}; toolgen does not store an address with a credential",
            hint=_BY_HAND,
        )
    return urldefrag(url).url


async def fetched(url: str, most_bytes: int) -> bytes:
    """Fetch the content of a URL; follow redirects within its origin, and send no credential.

    Raises:
        ToolgenError: The content is unavailable or too large, or the address is not public.
    """
    address = document_address(url)
    origin = Origin.of(address)
    connections = Connections(None, has_tls=True, most_bytes=most_bytes)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            await public_addresses(origin.host, origin.port)  # the client would log advice on Server
            return await _followed(address, origin, connections)
    except TimeoutError:
        why = f"no answer came within {_TIMEOUT_S:g} seconds"
    except (RefusedAddressError, PrivateAddressError):
        why = "it is at an address that is not public"
    except (NotConnectedError, AnswerLostError) as error:
        why = str(error)
    except OSError as error:
        why = error.strerror or str(error)
    finally:
        await connections.aclose()
    raise ToolgenError(f"{place(address)} cannot be fetched: {why}", hint=_BY_HAND)


async def _followed(url: str, origin: Origin, connections: Connections) -> bytes:
    budget = connections.budget()
    for _ in range(_MOST_REDIRECTS + 1):
        headers = {"user-agent": "toolgen", "accept": "*/*", "accept-encoding": ENCODINGS}
        answer = await connections.exchange(httpx.Request("GET", url, headers=headers), origin, None, budget)
        location: str = answer.headers.get("location", "")
        if answer.status in _REDIRECTS and location:
            url = _target(url, location, origin)
            continue
        if answer.status != 200:
            raise AnswerLostError(f"it answered with status {answer.status}")
        return answer.body
    raise AnswerLostError(f"it redirects more than {_MOST_REDIRECTS} times")


def _target(url: str, location: str, origin: Origin) -> str:
    """Return the target of a redirect.

    Raises:
        AnswerLostError: The target is at another origin.
    """
    try:
        target = urldefrag(urljoin(url, location)).url
        is_same = Origin.of(target) == origin and "@" not in urlsplit(target).netloc
        httpx.URL(target)
    except (ValueError, httpx.InvalidURL):
        target, is_same = location, False
    if not is_same:
        raise AnswerLostError(
            f"it redirects to {place(target)}, which is at another origin or not a valid URL"
        )
    return target

"""Requests to authorization servers, with limits of time and bytes; their error texts are untrusted."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from toolgen.calls.errors import ToolError
from toolgen.clients.servers import Origin, PrivateAddressError, public_addresses
from toolgen.contract.extras import extra
from toolgen.contract.json_value import Json
from toolgen.contract.limits import Limits, exceeded_limit
from toolgen.contract.printable import printable
from toolgen.contract.response_limits import (
    MOST_CHUNKS,
    SMALL_CHUNK,
    TOO_MANY_CHUNKS,
    end_head,
    limit_client_heads,
)

with extra("http"):
    import httpx

_LIMITS: Final = Limits(bytes=1_000_000)
"""Limits of an answer, for example a token or metadata."""
_LONGEST: Final = 200
"""Maximum number of characters of a server's error text."""


@cache
def _certificates(trusts_environment: bool) -> ssl.SSLContext:
    """Return the certificates that TLS trusts; reading them takes longer than a request."""
    return httpx.create_ssl_context(trust_env=trusts_environment)


def _client(server: str, seconds: float, *, trusts_environment: bool) -> httpx.AsyncClient:
    client = httpx.AsyncClient(
        verify=_certificates(trusts_environment),
        timeout=seconds,
        follow_redirects=False,
        trust_env=trusts_environment,
    )
    limit_client_heads(client, lambda what: _too_much(server, what))
    return client


def _too_much(server: str, what: str) -> ToolError:
    return ToolError(f"{server} answered with {what}")


class OAuthRefusedError(ToolError):
    """An authorization server refused a request; `code` is its error code (RFC 6749, section 5.2)."""

    def __init__(self, service: str, code: str, description: str) -> None:
        text = shown(f"{code} ({description})" if description else code)
        super().__init__(f"the authorization server of {service} refused: {text}")
        self.code = code


async def ask(
    service: str,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: str = "",
    is_guarded: bool = False,
    seconds: float,
) -> tuple[int, dict[str, Any]]:
    """Return the status and the JSON object of an answer; redirects are not followed.

    A guarded request is only sent to public addresses.

    Raises:
        ToolError: No valid answer arrived in time; some failures are retryable.
    """
    server = f"the authorization server of {service}"
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
    data, small = bytearray(), 0
    try:
        async with (
            asyncio.timeout(seconds),
            _client(server, seconds, trusts_environment=not is_guarded) as client,
            client.stream(
                method,
                await _checked(url, sent) if is_guarded else url,
                headers=sent,
                content=body.encode(),
                extensions={"sni_hostname": httpx.URL(url).host},
            ) as response,
        ):
            end_head(response)
            if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
                raise ToolError(f"{server} sent a compressed answer, but the request did not accept that")
            async for chunk in response.aiter_raw():
                data += chunk
                small += len(chunk) < SMALL_CHUNK
                if len(data) > _LIMITS.bytes:
                    raise _too_much(server, f"more than {_LIMITS.bytes} bytes")
                if small > MOST_CHUNKS:
                    raise _too_much(server, TOO_MANY_CHUNKS)
    except PrivateAddressError:
        raise ToolError(
            f"{server} is at an address that is not public and was not accepted; if that address is right, "
            "remove accepted=False from its flow in the design"
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, TimeoutError, OSError) as error:
        raise ToolError(f"{server} did not answer: {type(error).__name__}", is_retryable=True) from None
    return response.status_code, _object_of(response.status_code, bytes(data), server)


def _object_of(status: int, data: bytes, server: str) -> dict[str, Json]:
    """Return the JSON object of an answer.

    Raises:
        ToolError: The answer is not a JSON object, exceeds the limits, or reports a server failure.
    """
    if (exceeded := exceeded_limit(data, _LIMITS)) is not None:
        raise _too_much(server, f"JSON that {exceeded.message}")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise ToolError(f"{server} answered {status} without JSON", is_retryable=status >= 500) from None
    if status >= 500 or not isinstance(document, dict):
        raise ToolError(f"{server} answered {status}", is_retryable=status >= 500)
    return document


async def _checked(url: str, headers: dict[str, str]) -> httpx.URL:
    """Return the URL with a public address instead of its host, which is added to the headers.

    Raises:
        OSError: The host cannot be resolved.
        PrivateAddressError: One of its addresses is not public.
        ValueError: The text is not an HTTP URL.
    """
    origin, address = Origin.of(url), httpx.URL(url)
    headers["Host"] = address.netloc.decode("ascii")
    return address.copy_with(host=(await public_addresses(origin.host, origin.port))[0])


def shown(text: object) -> str:
    """Return the beginning of a server's text, without control characters."""
    return printable(str(text))[:_LONGEST]

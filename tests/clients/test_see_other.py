"""Status 303 says that a request was executed: what fails afterwards is no reason to make it again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.books import Books, GetBook, operation
from tests.clients.servers import answer, answering, serving
from toolgen.clients import HTTP, Body, Requirement, Response, SecurityScheme
from toolgen.contract.credentials import Credential
from toolgen.contract.transport import Security, Verb
from toolgen.runtime import OutcomeUnknownError, ToolError

KEY = SecurityScheme(name="library_key", kind="api_key", key="X-Api-Key")


class Keys:
    """Another key each time."""

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        return Credential(secret="first-key")

    async def address(self, service: str, requirement: Requirement) -> str:
        return ""

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        return Credential(secret="second-key")


def by(verb: Verb, security: Security) -> Any:
    http = HTTP(
        verb=verb,
        path="/v1/books",
        body=Body(attributes=("id",)),
        responses=(Response(200),),
        security=security,
    )
    return operation(http, errors={})


def to(place: str) -> bytes:
    return answer(303, b"", Location=place)


FAILURES = {
    "with status 303, and there with status 404": (to("/v1/books/1"), answer(404, b"")),
    "with status 303, and there with status 503": (to("/v1/books/1"), answer(503, b"")),
    "with status 303, and there with status 401": (to("/v1/books/1"), answer(401, b"")),
    "and redirects more than 3 times": (to("/v1/books/1"),) * 4,
    "which was not followed: that is another place": (to("https://books.other/1"),),
}


@pytest.mark.parametrize("why", FAILURES)
@pytest.mark.parametrize("security", [(), ((Requirement(KEY),),)], ids=["open", "with a key"])
async def test_what_fails_after_it_says_that_the_request_ran(why: str, security: Any) -> None:
    of = by("POST", security)
    async with (
        serving(answering(*FAILURES[why])) as server,
        Books(server=server.url, credentials=Keys()) as client,
    ):
        with pytest.raises(ToolError) as raised:
            await client.send(of, GetBook(id="1"))
    assert str(raised.value).startswith("Books.get_book ran; its result could not be read: 127.0.0.1 ")
    assert why in str(raised.value)
    assert (raised.value.is_retryable, raised.value.retry_hint) == (False, None)
    assert not isinstance(raised.value, OutcomeUnknownError)
    assert [request.verb for request in server.received].count("POST") == 1

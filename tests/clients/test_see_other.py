"""Redirects behind which a request was executed, or may have been: no reason to make it again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.books import Books, GetBook, operation
from tests.clients.servers import Received, answer, answering, serving
from tests.clients.test_redirects import by as one_by
from tests.clients.test_redirects import followed
from tests.clients.test_redirects import to as moved_to
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
    "with status 303, and the redirect target with status 404": (to("/v1/books/1"), answer(404, b"")),
    "with status 303, and the redirect target with status 503": (to("/v1/books/1"), answer(503, b"")),
    "with status 303, and the redirect target with status 401": (to("/v1/books/1"), answer(401, b"")),
    "and redirects more than 3 times": (to("/v1/books/1"),) * 4,
    "which was not followed: it is at another origin": (to("https://books.other/1"),),
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


@pytest.mark.parametrize("verb", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("status", [301, 302])
async def test_no_other_request_is_made_again(verb: Verb, status: int) -> None:
    """Servers answer so before the work, and after it: nothing says which."""
    error, requests = await followed(one_by(verb), moved_to("/v2/books?token=s3cret", status))
    assert len(requests) == 1
    is_once = verb in ("POST", "PATCH")
    assert isinstance(error, OutcomeUnknownError) == is_once
    assert str(error) == (
        f"Books.get_book has no result: 127.0.0.1 redirects to {server_of(requests)}/v2/books "
        f"(status {status}), which was not followed: a {verb} is repeated only for 307 and 308"
        f"{'; it may have run' if is_once else ''}"
    )
    assert not error.is_retryable


def server_of(requests: list[Received]) -> str:
    return f"http://{requests[0].headers['host']}"


UNREADABLE = {"nowhere": None, "no address": "http://[::1/", "another place": "https://books.other/v1"}


@pytest.mark.parametrize("place", UNREADABLE)
@pytest.mark.parametrize("status", [301, 302])
async def test_what_a_redirect_leaves_open_is_unknown_wherever_it_leads(place: str, status: int) -> None:
    location = UNREADABLE[place]
    moved = moved_to(location, status) if location else answer(status, b"moved")
    error, requests = await followed(one_by("POST"), moved_to("/v1/books/", 307), moved)
    assert (isinstance(error, OutcomeUnknownError), len(requests)) == (True, 2)
    assert f"(status {status})" in str(error)


@pytest.mark.parametrize("place", UNREADABLE)
async def test_what_was_done_ran_wherever_its_result_is(place: str) -> None:
    location = UNREADABLE[place]
    error, requests = await followed(
        one_by("POST"), moved_to(location, 303) if location else answer(303, b"done")
    )
    assert str(error).startswith("Books.get_book ran; its result could not be read: ")
    assert len(requests) == 1


@pytest.mark.parametrize("status", [307, 308])
async def test_what_a_redirect_keeps_has_not_run(status: int) -> None:
    error, _ = await followed(one_by("POST"), moved_to("https://books.other/v1", status))
    assert not isinstance(error, OutcomeUnknownError)
    assert str(error).startswith("Books.get_book failed: ")

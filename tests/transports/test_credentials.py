"""Further places of a credential: what `Security` may name, and what it may not."""

from __future__ import annotations

from typing import Any as Anything

import pytest

from tests.checked import built
from tests.transports.designs import KEY, sent, serving, wrong
from toolgen.dsl import Attribute, Payload, String
from toolgen.dsl.http import GET, HTTP, POST, BasicSecurity, BearerSecurity, Param, Security


def test_a_credential_stands_in_further_places() -> None:
    token = BearerSecurity("token", "Token.")
    of = Security(token, KEY, header="X-Token", query="token", body="token")
    [[first, second]] = sent(HTTP(POST("/")), of).security
    assert (first.scheme.name, first.header, first.query, first.body) == (
        "token",
        "X-Token",
        "token",
        "token",
    )
    assert (second.header, second.query, second.body) == ("", "", "")


@pytest.mark.parametrize(
    ("clause", "http", "fault"),
    [
        (
            Security(BasicSecurity("person", "Person."), query="token"),
            HTTP(GET("/")),
            "'person' is not a single value for the query 'token'",
        ),
        (
            Security(BearerSecurity("token", "Token."), header="Host"),
            HTTP(GET("/")),
            "'token' has the header 'Host', which the client sends itself",
        ),
        (
            Security(BearerSecurity("token", "Token."), query=""),
            HTTP(GET("/")),
            "'token' has the query '', which is empty",
        ),
        (
            Security(KEY, BearerSecurity("token", "Token."), header="X-Other"),
            HTTP(GET("/")),
            "",
        ),
        (
            Security(BearerSecurity("token", "Token."), KEY, header="x-api-key"),
            HTTP(GET("/")),
            "'library_key' and 'token' use the same place, but are required together",
        ),
        (
            Security(BearerSecurity("token", "Token."), body="token"),
            HTTP(GET("/")),
            "'token' is sent in the body, which GET does not have",
        ),
    ],
)
def test_a_further_place_can_have_it(clause: Security, http: HTTP, fault: str) -> None:
    if not fault:
        built(serving(clause, http))
        return
    assert wrong(clause, http)[:2] == ("bad-security", f"security scheme {fault}")


@pytest.mark.parametrize(
    ("place", "clauses", "found"),
    [
        (
            "query",
            [Param("q")],
            (
                "bad-parameter",
                "Param of method 'find' has the name 'q', which is used by the security scheme 'token'",
            ),
        ),
        (
            "body",
            [],
            (
                "bad-security",
                "security scheme 'token' is sent in the body as 'q', which is also an attribute",
            ),
        ),
    ],
)
def test_no_attribute_stands_where_a_credential_does(
    place: Anything, clauses: list[Param], found: tuple[str, str]
) -> None:
    clause = Security(BearerSecurity("token", "Token."), **{place: "q"})
    payload = Payload(Attribute("q", String, "Q."))
    assert wrong(clause, payload, HTTP(POST("/"), *clauses))[:2] == found

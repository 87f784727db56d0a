"""A call whose executor needs a credential that nobody has given: it waits, or says how to give it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, nothing, runtime, waiting
from toolgen.capabilities import CredentialNeededError, EnvironmentCredentials
from toolgen.contract.credentials import forms_of
from toolgen.contract.transport import OAuthFlow, Requirement, SecurityScheme
from toolgen.engines import InProcessEngine
from toolgen.runtime import ToolOutcome
from toolgen.waiting import WaitOptions

TOOL = "assistant.devices.list_devices"
KEY = Requirement(
    SecurityScheme(name="apiKey", kind="api_key", key="X-Key", description="From your account.")
)
BASIC = Requirement(SecurityScheme(name="basic", kind="basic"))
CLIENT = OAuthFlow(kind="client_credentials", token="https://books.example/token")
OAUTH = Requirement(SecurityScheme(name="oauth", kind="oauth2", flow=CLIENT), ("books:read", "books:write"))


class NeedsKey:
    """An executor whose service wants a key; it has one when `key` is set."""

    key = ""

    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        if not self.key:
            raise CredentialNeededError("book-store", KEY, "https://books.example")
        return nothing()


class InThread(NeedsKey):
    def list_devices(self, payload: Any, ctx: Any) -> Any:
        if not self.key:
            raise CredentialNeededError("book-store", KEY, "https://books.example")
        return nothing()


@pytest.mark.parametrize("executor", [NeedsKey, InThread])
async def test_the_call_waits_for_it_and_runs_again(executor: type[NeedsKey]) -> None:
    needs = executor()
    made = runtime(needs, engine=InProcessEngine())
    asked = waiting(await made.call(TOOL, SITE, META))
    assert asked.kind == "credential"
    assert asked.request == {
        "service": "book-store",
        "scheme": "apiKey",
        "kind": "api_key",
        "description": "From your account.",
        "scopes": [],
        "address": "https://books.example",
    }
    assert asked.question == (
        "book-store needs the API key 'apiKey', which is missing; "
        "set it in the environment as TOOLGEN_BOOK_STORE__API_KEY"
    )
    needs.key = "k-1"
    assert (await made.suspensions.answer(asked.token, {"available": True})).status == "ok"


@pytest.mark.parametrize(
    "host", [{}, {"engine": InProcessEngine(), "waiting": WaitOptions(is_interactive=False)}], ids=range(2)
)
async def test_without_anybody_to_ask_the_error_says_how_to_give_it(host: dict[str, Any]) -> None:
    result = await runtime(NeedsKey(), **host).call(TOOL, SITE, META)
    assert (result.status, json.loads(result.json)["error"]) == (
        "error",
        "book-store needs the API key 'apiKey', which is missing; set it in the environment as "
        "TOOLGEN_BOOK_STORE__API_KEY; "
        "it is not requested because this runtime is not interactive or has no engine",
    )


async def test_a_question_that_is_no_text_is_shown_to_nobody() -> None:
    async def does(payload: Any, ctx: Any) -> Any:
        question: Any = {"hunter2": object()}
        return ToolOutcome.need_credential({"provider": "books"}, question)

    result = await runtime(Listing(does)).call(TOOL, SITE, META)
    assert result.status == "denied"
    assert "hunter2" not in f"{result.error} {result.json!r}"


async def test_the_question_names_the_scopes() -> None:
    async def does(payload: Any, ctx: Any) -> Any:
        raise CredentialNeededError("books", OAUTH)

    made = runtime(Listing(does), engine=InProcessEngine())
    asked = waiting(await made.call(TOOL, SITE, META))
    assert asked.question == (
        "books needs the authorization 'oauth' with the scopes books:read, books:write, which is missing; "
        "set it in the environment as TOOLGEN_BOOKS__OAUTH__CLIENT_ID and TOOLGEN_BOOKS__OAUTH__CLIENT_SECRET"
    )


async def test_the_environment_has_them_by_service_and_scheme() -> None:
    variables = {
        "TOOLGEN_BOOK_STORE__API_KEY": "k-1",
        "TOOLGEN_BOOKS__BASIC": "ann:pass:word",
        "TOOLGEN_EMPTY__BASIC": "",
    }
    environment = EnvironmentCredentials(variables)
    key = await environment.get("book-store", KEY)
    assert key is not None
    assert (key.secret, "k-1" in repr(key)) == ("k-1", False)
    basic = await environment.get("books", BASIC)
    assert basic is not None
    assert (basic.username, basic.secret) == ("ann", "pass:word")
    assert await environment.get("empty", BASIC) is None
    assert await environment.get("books", KEY) is None
    assert await environment.address("books", KEY) == ""


async def test_one_that_is_no_text_has_its_forms() -> None:
    """The environment of a process may hold bytes that are no UTF-8."""
    key = await EnvironmentCredentials({"TOOLGEN_BOOKS__API_KEY": "k-\udcff-1"}).get("books", KEY)
    assert key is not None
    assert "k-%ED%B3%BF-1" in forms_of(key)


async def test_a_refused_one_is_replaced_by_what_the_environment_has_by_then() -> None:
    variables = {"TOOLGEN_BOOKS__API_KEY": "k-1"}
    environment = EnvironmentCredentials(variables)
    refused = await environment.get("books", KEY)
    assert refused is not None
    assert await environment.replace("books", KEY, refused) is None
    variables["TOOLGEN_BOOKS__API_KEY"] = "k-2"
    other = await environment.replace("books", KEY, refused)
    assert other is not None
    assert other.secret == "k-2"

"""Tokens of calls that wait, and seals of answers: only a host with the secret makes them."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from dataclasses import replace
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, runtime, spec, waiting
from toolgen.calls.errors import RegistrationError
from toolgen.engines import Engine, InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime
from toolgen.waiting.errors import UnknownSuspensionError
from toolgen.waiting.frozen import Sealer, TokenClaims

NEW, OLD = b"new-secret-of-the-host-0123456789", b"old-secret-of-the-host-0123456789"
TICKET = TokenClaims("call_1", "wait:1", "s", 1234.5, "0123abcd")
OTHERS = [
    pytest.param({"run_id": "call_2"}, id="another run"),
    pytest.param({"op": "wait:2"}, id="another wait of the run"),
    pytest.param({"digest": "4567"}, id="another call"),
]
TOOL = "assistant.devices.list_devices"
CONFIRMED = spec(confirm=ConfirmSpec())
YES: dict[str, Any] = {"approved": True}


def refused(sealer: Sealer, token: str) -> bool:
    with pytest.raises(UnknownSuspensionError, match="no suspended call has this token"):
        sealer.open(token)
    return True


def test_a_token_says_what_it_answers() -> None:
    sealer = Sealer(NEW)
    token = sealer.issue(TICKET)
    assert token.startswith("s_")
    assert sealer.open(token) == TICKET
    assert sealer.issue(TICKET) == token
    assert Sealer(NEW).open(token) == TICKET, "another process of the host knows it"


def test_a_token_of_another_host_is_none() -> None:
    assert refused(Sealer(NEW), Sealer(OLD).issue(TICKET))


def test_a_secret_is_replaced_while_tokens_are_about() -> None:
    before, during, after = Sealer(OLD), Sealer(NEW, OLD), Sealer(NEW)
    assert during.open(before.issue(TICKET)) == TICKET
    assert after.open(during.issue(TICKET)) == TICKET, "the first secret seals"
    assert refused(after, before.issue(TICKET))
    assert refused(before, during.issue(TICKET))


def test_a_token_is_whole_or_none() -> None:
    sealer = Sealer(NEW)
    token = sealer.issue(TICKET)
    for place in range(len(token)):
        assert refused(sealer, token[:place])
        assert refused(sealer, token[:place] + token[place + 1 :])
        other = "B" if token[place] == "A" else "A"
        assert refused(sealer, token[:place] + other + token[place + 1 :])
    for around in (
        f"{token}x",
        f"x{token}",
        f"{token}.",
        f" {token}",
        f"{token}\n",
        token.removeprefix("s_"),
    ):
        assert refused(sealer, around)


@pytest.mark.parametrize(
    "token",
    ["", "s_", "s_.", "s_e30.", "s_e30.e30", "\ud800", "s_é.é", "s_bnVsbA.x", "s_" + "W1tb" * 100_000 + ".x"],
    ids=range(9),
)
def test_what_is_no_token_is_refused_alike(token: str) -> None:
    assert refused(Sealer(NEW), token)


def test_a_token_of_another_form_is_refused() -> None:
    """As one that a later version of toolgen issues under the same secret."""
    key = hashlib.sha256(b"key id" + NEW).hexdigest()[:8]
    text = urlsafe_b64encode(json.dumps([2, key, "what", "else"]).encode()).decode().rstrip("=")
    mac = urlsafe_b64encode(hmac.digest(NEW, f"token:{text}".encode(), "sha256")).decode().rstrip("=")
    assert refused(Sealer(NEW), f"s_{text}.{mac}")


def test_the_seal_of_an_answer_is_for_this_answer_to_this_call() -> None:
    sealer = Sealer(NEW)
    sealed = sealer.seal(TICKET, YES, "ann")
    assert (sealed["answer"], sealed["by"]) == (YES, "ann")
    assert sealer.is_sealed(TICKET, sealed)
    assert not sealer.is_sealed(TICKET, {**sealed, "answer": {"approved": False}})
    assert not sealer.is_sealed(TICKET, {**sealed, "by": "eve"})
    assert not Sealer(OLD).is_sealed(TICKET, sealed)


@pytest.mark.parametrize("other", OTHERS)
def test_the_seal_of_an_answer_is_for_no_other_call(other: dict[str, Any]) -> None:
    sealer = Sealer(NEW)
    assert not sealer.is_sealed(replace(TICKET, **other), sealer.seal(TICKET, YES, "ann"))


def test_an_answer_under_the_secret_before_still_counts() -> None:
    sealed = Sealer(OLD).seal(TICKET, YES, "ann")
    assert Sealer(NEW, OLD).is_sealed(TICKET, sealed)
    assert not Sealer(NEW).is_sealed(TICKET, sealed)


def test_a_token_is_no_seal() -> None:
    """Each use of the secret has a name of its own."""
    sealer = Sealer(NEW)
    mac = sealer.issue(TICKET).rpartition(".")[2]
    assert not sealer.is_sealed(TICKET, {**sealer.seal(TICKET, YES, "ann"), "seal": mac})


@pytest.mark.parametrize(
    "given",
    [None, True, "yes", [], {}, YES, {"answer": YES}, {"answer": YES, "by": "", "key": "k", "seal": "s"}],
    ids=repr,
)
def test_what_has_no_seal_is_not_sealed(given: Any) -> None:
    assert not Sealer(NEW).is_sealed(TICKET, given)


@pytest.mark.parametrize("seal", ["", "é", "\ud800", None, 5])
def test_a_seal_may_be_any_json(seal: Any) -> None:
    sealer = Sealer(NEW)
    assert not sealer.is_sealed(TICKET, {**sealer.seal(TICKET, YES, "ann"), "seal": seal})


@pytest.mark.parametrize("secrets", [(), (b"short",), (NEW, b"short")], ids=["none", "short", "a short one"])
def test_a_short_secret_is_refused(secrets: tuple[bytes, ...]) -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        Sealer(*secrets)


async def asked_under(engine: Engine, secret: Any) -> tuple[Runtime, str]:
    made = runtime(Listing(), CONFIRMED, engine=engine, secret=secret)
    return made, waiting(await made.call(TOOL, SITE, META)).token


async def test_a_host_seals_with_its_own_secret(engine: InProcessEngine) -> None:
    made, token = await asked_under(engine, NEW)
    assert Sealer(NEW).open(token).session_id == "s"
    assert (await made.suspensions.answer(token, YES)).status == "ok"


async def test_the_first_of_several_secrets_seals(engine: InProcessEngine) -> None:
    made, token = await asked_under(engine, (NEW, OLD))
    ticket = Sealer(NEW).open(token)
    assert (await made.suspensions.answer(Sealer(OLD).issue(ticket), YES)).status == "ok"


async def test_without_one_the_engine_keeps_the_secret(engine: InProcessEngine) -> None:
    made, token = await asked_under(engine, None)
    with pytest.raises(UnknownSuspensionError):
        await made.suspensions.answer(Sealer(NEW).issue(TokenClaims("call_1", "wait:1", "s", 1e12, "")), YES)
    assert (await made.suspensions.answer(token, YES)).status == "ok"


async def test_a_token_that_is_good_names_a_run_that_may_be_forgotten(engine: InProcessEngine) -> None:
    made, _ = await asked_under(engine, NEW)
    with pytest.raises(UnknownSuspensionError, match="ended and was deleted"):
        await made.suspensions.answer(Sealer(NEW).issue(TokenClaims("call_1", "wait:1", "s", 1e12, "")), YES)


async def test_what_is_listed_has_the_same_token(engine: InProcessEngine) -> None:
    made, token = await asked_under(engine, NEW)
    (listed,) = await made.suspensions.list("s")
    assert listed.token == token
    assert token not in repr(listed)


async def test_no_run_holds_a_token(engine: InProcessEngine) -> None:
    made, token = await asked_under(engine, NEW)
    await made.suspensions.answer(token, YES)
    (status,) = await engine.list_runs()
    told = [event async for event in engine.events(status.run_id, follow=False)]
    mac = token.rpartition(".")[2]
    assert mac not in json.dumps([status.input, status.output, told])


def test_a_short_secret_is_refused_at_once() -> None:
    with pytest.raises(RegistrationError, match="at least 16 bytes"):
        Runtime(engine=InProcessEngine(), secret=b"short")

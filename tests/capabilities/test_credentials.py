"""Credentials of services: whose they are, who finds them, how they are given, kept and erased."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, nothing, runtime, waiting
from toolgen.agents import Agents, Erased, MemorySessionStore, SqliteSessionStore
from toolgen.calls.capability import CallScope, once
from toolgen.calls.functions.tools import func_tool
from toolgen.capabilities import (
    Credential,
    CredentialNeededError,
    CredentialPlace,
    CredentialsCapability,
    CredentialStore,
    EnvironmentCredentials,
    MemoryCredentialStore,
    SqliteCredentialStore,
)
from toolgen.contract.errors import ToolgenError
from toolgen.contract.transport import Requirement, SecurityScheme
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime
from toolgen.stores import ForeignSecretError, StoreCorruptError, StoreDiskError
from toolgen.stores.outages import StoreRetry
from toolgen.waiting import (
    BadAnswerError,
    ConflictingAnswerError,
    LateAnswerError,
    NotAllowedAnswerError,
    WaitOptions,
)

TOOL = "assistant.devices.list_devices"
KEY = Requirement(SecurityScheme(name="key", kind="api_key", key="X-Key"))
ANN = dataclasses.replace(META, labels={"user": "ann"})
BEN = dataclasses.replace(META, session_id="s2", labels={"user": "ben"})
SECRET = b"s" * 32
NONE = EnvironmentCredentials({})


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> CredentialStore:
    if request.param == "memory":
        return MemoryCredentialStore(clock=lambda: 1000.0)
    return SqliteCredentialStore(tmp_path / "credentials.db", secret=SECRET, clock=lambda: 1000.0)


class Books:
    """An executor whose service wants a key; `used` has those that it was given."""

    def __init__(self) -> None:
        self.used: list[str] = []

    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        credential = await ctx.credentials.get("books", KEY)
        if credential is None:
            raise CredentialNeededError("books", KEY, await ctx.credentials.address("books", KEY))
        self.used.append(credential.secret)
        return nothing()


class InThread(Books):
    def list_devices(self, payload: Any, ctx: Any) -> Any:
        credential = ctx.credentials.get("books", KEY)
        if credential is None:
            raise CredentialNeededError("books", KEY)
        self.used.append(credential.secret)
        return nothing()


def serving(books: Books, store: CredentialStore, **host: Any) -> Runtime:
    capability = CredentialsCapability(store, environment=host.pop("environment", NONE))
    return runtime(books, capabilities=[capability], **{"engine": InProcessEngine(), **host})


def all_bytes(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


@pytest.mark.parametrize("executor", [Books, InThread])
async def test_that_of_the_session_comes_first_then_the_users_then_the_services(
    store: CredentialStore, executor: Callable[[], Books]
) -> None:
    books = executor()
    environment = {"TOOLGEN_BOOKS__KEY": "of the environment"}
    made = serving(books, store, environment=EnvironmentCredentials(environment))
    capability = CredentialsCapability(store)
    await made.call(TOOL, SITE, ANN)
    await capability.put("books", "key", Credential(secret="of all"))
    await made.call(TOOL, SITE, ANN)
    await capability.put("books", "key", Credential(secret="of ann"), scope="user", owner="ann")
    await made.call(TOOL, SITE, ANN)
    await capability.put("books", "key", Credential(secret="of s"), scope="session", owner="s")
    await made.call(TOOL, SITE, ANN)
    await made.call(TOOL, SITE, BEN)
    assert books.used == ["of the environment", "of all", "of ann", "of s", "of all"]


@pytest.mark.parametrize(
    ("meta", "scope", "place"),
    [
        (ANN, None, ("user", "ann")),
        (META, None, ("session", "s")),
        (ANN, "session", ("session", "s")),
        (ANN, "service", ("service", "")),
    ],
)
async def test_what_a_person_gives_is_kept_and_the_call_goes_on(
    store: CredentialStore, meta: CallMeta, scope: str | None, place: tuple[Any, str]
) -> None:
    books = Books()
    made = serving(books, store)
    asked = waiting(await made.call(TOOL, SITE, meta))
    result = await made.suspensions.give(asked.token, Credential(secret="k-12345"), scope=scope, by="ann")
    assert (result.status, books.used) == ("ok", ["k-12345"])
    kept = await store.load(CredentialPlace(*place, '["books", "key"]'))
    assert kept is not None
    assert kept["secret"] == "k-12345"


async def test_after_the_end_of_its_session_nothing_is_kept(store: CredentialStore) -> None:
    books, sessions = Books(), MemorySessionStore()
    made = serving(books, store)
    Agents(made, sessions=sessions)
    await sessions.create("s", "x.agent")
    asked = waiting(await made.call(TOOL, SITE, META))
    await sessions.end("s")
    with pytest.raises(LateAnswerError, match="the session 's' has ended"):
        await made.suspensions.give(asked.token, Credential(secret="k-12345"))
    assert await store.load(CredentialPlace("session", "s", '["books", "key"]')) is None
    assert books.used == []


async def test_a_scope_that_the_call_does_not_have_keeps_nothing(store: CredentialStore) -> None:
    made = serving(Books(), store)
    asked = waiting(await made.call(TOOL, SITE, META))
    with pytest.raises(
        ToolgenError, match=r"cannot be stored for the user: the request needs .*, and the CallMeta a value"
    ):
        await made.suspensions.give(asked.token, Credential(secret="k-12345"), scope="user")
    assert len(await made.suspensions.list()) == 1


async def test_who_may_not_answer_keeps_nothing(store: CredentialStore) -> None:
    def rule(asked: Any, answer: Any, by: str) -> str:
        return "" if by == "ann" else "only Ann"

    made = serving(Books(), store, waiting=WaitOptions(rule=rule))
    asked = waiting(await made.call(TOOL, SITE, ANN))
    with pytest.raises(NotAllowedAnswerError, match="only Ann"):
        await made.suspensions.give(asked.token, Credential(secret="k-12345"), by="ben")
    assert await store.forget("user", "ann") == 0


async def test_after_the_end_nothing_is_kept(store: CredentialStore) -> None:
    made = serving(Books(), store)
    asked = waiting(await made.call(TOOL, SITE, ANN))
    await made.suspensions.cancel(asked.token)
    with pytest.raises(ConflictingAnswerError):
        await made.suspensions.give(asked.token, Credential(secret="k-12345"))
    assert await store.forget("user", "ann") == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "answer",
    [
        "k-12345",
        {"secret": "k-12345"},
        {"available": "k-12345"},
        {"available": True, "k-12345": 1},
        {"available": True, "message": "k-12345"},
    ],
    ids=range(5),
)
async def test_a_secret_is_no_answer_and_reaches_no_journal(
    store: CredentialStore, answer: Any, tmp_path: Path
) -> None:
    made = serving(Books(), store, engine=InProcessEngine(tmp_path / "runs.db"))
    asked = waiting(await made.call(TOOL, SITE, ANN))
    with pytest.raises(BadAnswerError) as refused:
        await made.suspensions.answer(asked.token, answer)
    assert "suspensions.give(token, Credential(secret=…))" in str(refused.value)
    assert "k-12345" not in str(refused.value)
    assert (
        await made.suspensions.answer(asked.token, {"available": False, "message": "Nobody has it."})
    ).json == (b'{"error":"Nobody has it."}')
    await made.aclose()
    assert b"k-12345" not in all_bytes(tmp_path)


async def test_give_is_for_credentials_of_services_and_hosts_that_keep_them(store: CredentialStore) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        raise CredentialNeededError("books", KEY)

    made = runtime(Listing(asks), engine=InProcessEngine())
    asked = waiting(await made.call(TOOL, SITE, META))
    with pytest.raises(ToolgenError, match="this runtime has no credential store"):
        await made.suspensions.give(asked.token, Credential(secret="k"))


async def test_a_document_is_kept_found_and_dropped_once(store: CredentialStore) -> None:
    place = CredentialPlace("user", "ann", "name")
    await store.save(place, {"a": 1}, expires_at=1001.0)
    assert await store.load(place) == {"a": 1}
    assert await store.find("name") == place
    await store.save(place, {"a": 2}, expires_at=1001.0)
    assert await store.load(place) == {"a": 2}
    assert (await store.drop(place), await store.drop(place)) == (True, False)
    assert (await store.load(place), await store.find("name")) == (None, None)


async def test_after_its_time_a_document_is_gone(store: CredentialStore) -> None:
    place = CredentialPlace("session", "s", "name")
    await store.save(place, {"a": 1}, expires_at=1000.0)
    assert (await store.load(place), await store.find("name")) == (None, None)
    await store.save(CredentialPlace("session", "s", "other"), {})
    assert await store.forget("session", "s") == 1, "the other one was removed from the table"


async def test_one_holder_at_a_time_has_a_place(store: CredentialStore) -> None:
    place = CredentialPlace("service", "", "renewal")
    assert [await store.lease(place, holder, expires_at=1010.0) for holder in "aab"] == [True, True, False]
    assert not await store.lease(place, "b", expires_at=1000.0), "it gives back what it does not have"
    assert await store.lease(place, "a", expires_at=1000.0)
    assert [await store.lease(place, holder, expires_at=1010.0) for holder in "ba"] == [True, False]


async def test_a_session_is_erased_with_its_credentials(store: CredentialStore, tmp_path: Path) -> None:
    made = serving(Books(), store)
    agents = Agents(made, sessions=SqliteSessionStore(tmp_path / "sessions.db"))
    await CredentialsCapability(store).put("books", "key", Credential(secret="k"), scope="session", owner="s")
    async with made:
        assert await agents.erase("s") == Erased(credentials=1)
    assert await store.forget("session", "s") == 0


async def test_the_file_holds_no_secret_and_no_token(tmp_path: Path) -> None:
    path = tmp_path / "credentials.db"
    store = SqliteCredentialStore(path, secret=SECRET)
    credential = Credential(secret="secret-12345", username="user-12345", refresh_token="refresh-12345")
    await CredentialsCapability(store).put("books", "key", credential)
    store.close()
    assert b"12345" not in all_bytes(tmp_path)


async def test_an_older_secret_reads_and_a_foreign_one_says_so(tmp_path: Path) -> None:
    path, place = tmp_path / "credentials.db", CredentialPlace("service", "", "x")
    await SqliteCredentialStore(path, secret=SECRET).save(place, {"a": 1})
    assert await SqliteCredentialStore(path, secret=(b"n" * 32, SECRET)).load(place) == {"a": 1}
    with pytest.raises(ForeignSecretError, match="encrypted with another secret") as foreign:
        await SqliteCredentialStore(path, secret=b"n" * 32).load(place)
    assert foreign.value.path == path
    with pytest.raises(ToolgenError, match="at least 16 bytes"):
        SqliteCredentialStore(path, secret=b"short")


async def test_a_row_that_was_moved_or_changed_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "credentials.db"
    store = SqliteCredentialStore(path, secret=SECRET)
    await store.save(CredentialPlace("user", "ann", "x"), {"a": 1})
    await store.save(CredentialPlace("user", "ben", "x"), {"a": 2})
    with sqlite3.connect(path) as database:
        database.execute(
            "UPDATE credential SET data = (SELECT data FROM credential WHERE owner = 'ann')"
            " WHERE owner = 'ben'"
        )
    assert await store.load(CredentialPlace("user", "ann", "x")) == {"a": 1}
    with pytest.raises(StoreCorruptError, match="changed or moved"):
        await store.load(CredentialPlace("user", "ben", "x"))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE credential SET data = x'00'")
    with pytest.raises(StoreCorruptError):
        await store.load(CredentialPlace("user", "ann", "x"))


def test_what_is_kept_shows_no_secret() -> None:
    shown = repr(Credential(secret="secret-12345", refresh_token="refresh-12345", username="ann"))
    assert ("12345" in shown, "ann" in shown) == (False, True)
    assert json.loads(json.dumps(dataclasses.asdict(Credential(secret="a"))))["secret"] == "a"


class Away(MemoryCredentialStore):
    """A store whose disk cannot be read the first times."""

    left = 2

    async def load(self, place: CredentialPlace) -> Any:
        if self.left:
            self.left -= 1
            raise StoreDiskError("cannot be read", path=Path("credentials.db"), hint="wait")
        return await super().load(place)


async def test_a_call_of_a_run_waits_for_a_store_that_is_away() -> None:
    async def read(name: str) -> str:
        """Read."""
        return name

    reading = func_tool(read, toolset="desk.files")
    capability = CredentialsCapability(Away(), environment=NONE)
    await capability.put("books", "key", Credential(secret="k-1"))
    calls = [
        capability.open(CallScope(meta=ANN, tool=TOOL, spec=reading.spec, retry_step=retry_step))
        for retry_step in (once, StoreRetry(total_s=60.0).run)
    ]
    with pytest.raises(StoreDiskError):
        await calls[0].get("books", KEY)
    credential = await calls[1].get("books", KEY)
    assert credential is not None
    assert credential.secret == "k-1"

"""Large values by reference, on a PostgreSQL server."""

from __future__ import annotations

import asyncio
from hashlib import sha256

import psycopg
import pytest

from toolgen.adapters.postgres import Postgres, PostgresPayloads
from toolgen.engines import PayloadGoneError, PayloadStore
from toolgen.stores import StoreCorruptError

HOUR_S = 3600.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def payloads(database: Postgres, clock: Clock) -> PostgresPayloads:
    return PostgresPayloads(database, clock=clock)


@pytest.mark.parametrize(
    "data", [b"", b"\x00\xff text", bytes(range(256)) * 20_000], ids=["none", "odd", "5 MB"]
)
async def test_data_comes_back_by_the_digest_of_its_content(payloads: PayloadStore, data: bytes) -> None:
    ref = await payloads.put(data)
    assert ref == f"sha256:{sha256(data).hexdigest()}:{len(data)}"
    assert await payloads.get(ref) == data


async def test_the_same_data_is_stored_once_whoever_stores_it(
    conninfo: str, payloads: PostgresPayloads
) -> None:
    refs = await asyncio.gather(*[payloads.put(b"same") for _ in range(20)])
    assert len(set(refs)) == 1
    with psycopg.connect(conninfo) as connection:
        assert connection.execute("SELECT count(*) FROM toolgen.payload").fetchone() == (1,)


@pytest.mark.parametrize(
    "ref", ["", "nothing", f"sha256:{'0' * 64}:4", f"sha256:{'0' * 64}:04", "sha256:zz:1"]
)
async def test_a_reference_to_nothing_is_gone(payloads: PostgresPayloads, ref: str) -> None:
    with pytest.raises(PayloadGoneError, match="was erased, or never stored"):
        await payloads.get(ref)


async def test_a_reference_of_another_length_is_gone(payloads: PostgresPayloads) -> None:
    ref = await payloads.put(b"four")
    with pytest.raises(PayloadGoneError):
        await payloads.get(f"{ref}2")


async def test_data_that_was_changed_is_not_returned(conninfo: str, payloads: PostgresPayloads) -> None:
    ref = await payloads.put(b"true")
    with psycopg.connect(conninfo) as connection:
        connection.execute("UPDATE toolgen.payload SET data = 'fake'")
    with pytest.raises(StoreCorruptError, match=f"has different data for the payload {ref}"):
        await payloads.get(ref)


async def test_an_owner_is_erased_and_the_same_data_of_another_one_stays(payloads: PostgresPayloads) -> None:
    of_a = await payloads.put(b"a", owner="a")
    both = [await payloads.put(b"both", owner=owner) for owner in ("a", "b", "")]
    assert await payloads.forget("a") == 2
    assert await payloads.forget("a") == 0
    assert await payloads.get(both[0]) == b"both"
    with pytest.raises(PayloadGoneError):
        await payloads.get(of_a)
    with pytest.raises(ValueError, match="owner is empty"):
        await payloads.forget("")


async def test_what_was_stored_or_read_lately_is_not_pruned(payloads: PostgresPayloads, clock: Clock) -> None:
    stored, read, left = [await payloads.put(data) for data in (b"stored", b"read", b"left")]
    clock.now += 10 * HOUR_S
    await payloads.put(b"stored")
    await payloads.get(read)
    clock.now += 5 * HOUR_S
    assert await payloads.prune(older_than_s=6 * HOUR_S) == 1
    assert [await payloads.get(ref) for ref in (stored, read)] == [b"stored", b"read"]
    with pytest.raises(PayloadGoneError):
        await payloads.get(left)


async def test_pruning_beside_those_who_store_takes_nothing_that_was_stored_since(database: Postgres) -> None:
    old, new = PostgresPayloads(database, clock=lambda: 0.0), PostgresPayloads(database, clock=lambda: 100.0)
    data = [str(number).encode() for number in range(50)]
    for one in data:
        await old.put(one)
    refs, _ = await asyncio.gather(
        asyncio.gather(*[new.put(one) for one in data]),
        asyncio.gather(*[new.prune(older_than_s=50) for _ in range(10)]),
    )
    assert [await new.get(ref) for ref in refs] == data

"""What a message holds is counted exactly, whatever stands in its strings, and with little memory."""

from __future__ import annotations

import json
import random
import tracemalloc
from typing import Any

import pytest

from tests.selection import first
from toolgen.adapters.mcp.scanning import cut_to_depth, exceeded, id_of, is_answer, without_lone_surrogates
from toolgen.contract import limits
from toolgen.contract.limits import Limits

TEXTS = ["", 'a"b\\', '{"[,]}"', '\\\\"', "é,", "x" * 40]


def document(seed: random.Random, level: int = 0) -> Any:
    kind = seed.random()
    if level > 5 or kind < 0.3:
        return seed.choice([1, None, *TEXTS])
    if kind < 0.65:
        return [document(seed, level + 1) for _ in range(seed.randrange(5))]
    return {f"{key}{seed.choice(TEXTS)}": document(seed, level + 1) for key in range(seed.randrange(5))}


def keys(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(inner) + sum(map(keys, inner))


def depth(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("piece", first([7, 64, 2**16]))
def test_keys_and_depth_are_exact(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_PIECE", piece)
    seed = random.Random(piece)
    for _ in range(500):
        value = document(seed)
        text = json.dumps(value, indent=seed.choice([None, 1]), ensure_ascii=seed.random() < 0.5).encode()
        count, levels = max(keys(value), 1), max(depth(value), 1)
        assert exceeded(text, Limits(keys=count, depth=levels)) is None, text
        if count > 1:
            found = exceeded(text, Limits(keys=count - 1, depth=levels))
            assert found == f"more than {count - 1} keys and items in all", text
        if levels > 1:
            found = exceeded(text, Limits(keys=count, depth=levels - 1))
            assert found == f"more than {levels - 1} arrays and objects inside one another", text


SIZE = 4 * 2**20
HOSTILE = {
    "objects": b"[" + b"{}," * (SIZE // 3) + b"{}]",
    "texts": b"[" + b'"a",' * (SIZE // 4) + b"1]",
    "quotes": b'"' * SIZE,
    "escapes": b'["' + b'\\"' * (SIZE // 2) + b'"]',
    "closed": b"[[[[" + b"]" * SIZE,
    "commas": b'["' + b'\\",{' * (SIZE // 4) + b'"]',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_it_takes_less_than_the_message(name: str) -> None:
    tracemalloc.start()
    try:
        exceeded(HOSTILE[name], Limits(keys=20_000, depth=72))
        assert tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("message", "id_", "answers"),
    [
        (b'{"jsonrpc":"2.0","id":5,"result":{"id":7}}', 5, True),
        (b'{"result":{"id":7},"jsonrpc":"2.0","id":"a"}', "a", True),
        (b'{"jsonrpc":"2.0","id":5,"method":"m","params":{"id":7}}', 5, False),
        (b'{"jsonrpc":"2.0","method":"m","params":{"id":7}}', None, False),
        (b'{"result":{"a":{},"id":7}}', None, True),
        (b'{"params":{"a":"\\"id\\":7,"},"method":"m"}', None, False),
        (b"", None, True),
    ],
)
def test_the_id_is_found_without_decoding(message: bytes, id_: object, answers: bool) -> None:
    assert (id_of(message), is_answer(message)) == (id_, answers)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (rb'["\ud83d"]', '["\ufffd"]'),
        (rb'["\uDE00 \uD83D\uDE00"]', '["\ufffd \U0001f600"]'),
        (rb'["\\ud83d\ude00"]', '["\\\\ud83d\ufffd"]'),
        (rb'["\ud83d\ud83d\ude00"]', '["\ufffd\U0001f600"]'),
        (rb'{"\ud83d\n": true}', '{"\ufffd\\n": true}'),
    ],
)
def test_escaped_surrogates_that_are_half_of_no_pair_are_replaced(message: bytes, expected: str) -> None:
    assert without_lone_surrogates(message) == expected.encode()


@pytest.mark.parametrize(
    "message",
    [
        rb'["\ud83d\ude00"]',
        rb'["\\ud83d"]',
        rb'["\ud83d',
        rb'["\ud83d", NaN]',
        rb'["\ud83d", 1e999]',
        b"[1.50]",
    ],
)
def test_what_has_no_lone_surrogate_or_is_no_json_stays(message: bytes) -> None:
    assert without_lone_surrogates(message) is message


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b'{"a": [[1, {"b": "]"}], {}], "c": [[]]}', b'{"a": [null, null], "c": [null]}'),
        (b'{"a": "[[[\\"", "b": [1]}', b'{"a": "[[[\\"", "b": [1]}'),
        (b"[[[1]]", b"[[[1]]"),
        (b"[" + b'"",' * 20 + b"[[]]]", b"[" + b'"",' * 20 + b"[[]]]"),
    ],
)
def test_what_is_too_deep_is_cut(message: bytes, expected: bytes) -> None:
    assert cut_to_depth(message, Limits(depth=2, keys=5)) == expected

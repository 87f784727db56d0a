"""The seal of a record: over its place, every byte of it, and each earlier answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.runtime.earlier import frozen_with
from tests.runtime.tools import spec
from toolgen.calls.call import FrozenCall
from toolgen.runtime import ConfirmSpec
from toolgen.waiting.errors import (
    SuspensionError,
    TamperedSuspensionError,
    UnsealedSuspensionError,
)
from toolgen.waiting.frozen import SealedCall, Sealer, adoption_of, seal_call, verify_call

RUN, OP = "run_1", "wait:c1:2"
NEW, OLD = b"the secret of now, 32 bytes !!!!", b"the secret of before, 32 bytes !"
SEALER = Sealer(NEW)
WHY = {"kind": "input", "answer": "cleanup", "question": "Why?", "schema": {"type": "string"}}
YES = {"kind": "confirmation", "answer": {"approved": True}, "question": "Really?", "by_tool": True}


def call(**facts: Any) -> FrozenCall:
    given = {
        "answers": (WHY,),
        "resume_state": {"at": 1.5},
        "created_at": 1e9,
        "expires_at": 1e9 + 60,
        **facts,
    }
    return frozen_with(spec(confirm=ConfirmSpec()), **given)


def sealed(sealer: Sealer = SEALER, run_id: str = RUN, op: str = OP, **facts: Any) -> SealedCall:
    """Return a record as an engine gives it back."""
    record = seal_call(sealer, run_id, op, call(**facts))
    return replace(record, document=json.loads(json.dumps(record.document)))


def test_a_sealed_record_comes_back_as_it_was() -> None:
    record = sealed()
    assert verify_call(SEALER, RUN, OP, record.document) == record
    assert record.call.answers == (WHY,)


@pytest.mark.parametrize("bits", [range(1), pytest.param(range(1, 7), marks=pytest.mark.exhaustive)])
def test_every_changed_byte_is_noticed(bits: range) -> None:
    record = sealed()
    text = json.dumps(record.document, separators=(",", ":")).encode()
    checked = 0
    for place in range(len(text)):
        for bit in bits:
            changed = bytes((*text[:place], text[place] ^ 1 << bit, *text[place + 1 :]))
            try:
                document = json.loads(changed)
            except ValueError:  # an engine cannot read it
                continue
            if document == record.document:
                continue
            checked += 1
            with pytest.raises(SuspensionError, match=RUN):
                verify_call(SEALER, RUN, OP, document)
    assert checked > 150 * len(bits)


@pytest.mark.parametrize(("run_id", "op"), [("run_2", OP), (RUN, "wait:c2:2"), (RUN, "wait:c1:1")])
def test_a_record_counts_in_its_own_place(run_id: str, op: str) -> None:
    with pytest.raises(TamperedSuspensionError, match=run_id):
        verify_call(SEALER, run_id, op, sealed().document)


def test_a_record_counts_where_the_same_call_waits_on() -> None:
    record = sealed()
    for op in ("wait:c1:3", "wait:c1:102"):
        again = verify_call(SEALER, RUN, op, record.document)
        assert (again.call, again.op) == (record.call, op)
        assert again.claims != record.claims  # an answer of before is none to it
    for op in ("wait:c1:103", "wait:c1:9999999999"):
        with pytest.raises(TamperedSuspensionError):
            verify_call(SEALER, RUN, op, record.document)


def test_a_record_of_the_secret_before_counts_while_it_is_known() -> None:
    record = sealed(Sealer(OLD))
    assert verify_call(Sealer(NEW, OLD), RUN, OP, record.document) == record
    with pytest.raises(UnsealedSuspensionError, match="toolgen runs check --adopt run_1"):
        verify_call(SEALER, RUN, OP, record.document)


@pytest.mark.parametrize("seal", [5, "x", {}, {"key": "x"}, {"key": 1, "mac": 2}, {"mac": "x"}], ids=repr)
def test_a_seal_that_is_none_was_changed(seal: Any) -> None:
    with pytest.raises(TamperedSuspensionError):
        verify_call(SEALER, RUN, OP, {**sealed().document, "seal": seal})


def test_a_record_without_a_seal_is_adopted_as_it_stands() -> None:
    document = call(answers=()).as_json()
    with pytest.raises(UnsealedSuspensionError):
        verify_call(SEALER, RUN, OP, document)
    adoption = adoption_of(SEALER, RUN, OP, document, "ann")
    assert verify_call(SEALER, RUN, OP, document, adoption).call == call(answers=())
    for put, place, how in (
        ({**document, "question": "Nothing?"}, OP, adoption),
        (document, "wait:c1:3", adoption),
        (document, OP, {**adoption, "by": "eve"}),  # type: ignore[dict-item]  # it is a document
        (document, OP, adoption_of(Sealer(OLD), RUN, OP, document, "ann")),
        (document, OP, sealed().document["seal"]),
    ):
        with pytest.raises(UnsealedSuspensionError):
            verify_call(SEALER, RUN, place, put, how)


def test_an_adopted_record_has_those_earlier_answers_that_are_sealed() -> None:
    """Who takes a seal away, and plants an approval, gets none by an operator who adopts the call."""
    document: Any = sealed().document
    del document["seal"]
    answers = document["answers"]
    other: Any = sealed(run_id="run_2", answers=(YES,)).document["answers"]
    another: Any = sealed(op="wait:c2:2", answers=(YES,)).document["answers"]
    document["answers"] = [*answers, YES, {**YES, "seal": answers[0]["seal"]}, *other, *another]
    adoption = adoption_of(SEALER, RUN, OP, document, "ann")
    assert verify_call(SEALER, RUN, OP, document, adoption).call.answers == (WHY,)

"""The fuzz targets on a few inputs, and on faults that they have to find; `make conformance` tries more."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from toolgen.agents import Message, ToolMessage
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.runtime.functions import SchemaCodec
from toolgen.runtime.generated import SchemaModel

from . import kills, loop
from .decode import Decode
from .kills import Kills
from .loop import Loop
from .running import FaultFound, Outcome, Target, main, run, within
from .subjects import Subject, subjects


class Labels(SchemaModel):
    labels: list[str]


UNIQUE = {
    "type": "object",
    "properties": {"labels": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
    "required": ["labels"],
}


class DoublingStore(MemorySessionStore):
    """Keeps every result twice."""

    async def write(self, run_id: str, step: int, messages: Sequence[Message], **given: Any) -> None:
        doubled = [
            ToolMessage(answers=one.answers * 2) if isinstance(one, ToolMessage) else one for one in messages
        ]
        await super().write(run_id, step, doubled, **given)


@pytest.mark.exhaustive
def test_no_document_brings_a_codec_out_of_step_with_its_schema() -> None:
    report = run(Decode(subjects(1, most_corpora=8, most_random=4)), 1, range(100))
    assert report.kinds["accepted"] > 15
    assert report.kinds["refused"] > 50
    assert len(report.details) > 20


@pytest.mark.exhaustive
def test_no_run_is_left_unfinished_or_in_disorder() -> None:
    report = run(loop.target(1), 1, range(16))
    assert len(report.kinds) > 2
    assert len(report.details) > 10


@pytest.mark.exhaustive
def test_no_kill_leaves_a_run_unfinished_or_in_disorder() -> None:
    report = run(kills.target(1), 1, range(4))
    assert {"1 kills", "2 kills"} <= set(report.kinds)
    assert len(report.details) > 3


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_codec_that_accepts_too_much_is_found(is_exact: bool) -> None:
    """Its type does not hold that items are unique; only one that is not called exact asks the schema."""
    codec = SchemaCodec[Any](None, __name__, "Labels", {"Labels": json.dumps(UNIQUE)}, is_exact=is_exact)
    target = Decode([Subject(name="planted", codec=codec, documents=({"labels": ["a", "a"]},))])
    if is_exact:
        with pytest.raises(FaultFound):
            run(target, 1, range(100))
    else:
        run(target, 1, range(100))


def test_a_result_that_is_kept_twice_is_found() -> None:
    with pytest.raises(FaultFound):
        run(Loop(sessions=DoublingStore), 1, range(20))


@pytest.mark.exhaustive
def test_records_that_a_kill_takes_are_found() -> None:
    """As if what was acknowledged were in no file any more, but in the witness beside it."""
    with pytest.raises(FaultFound):
        run(Kills(lost=("-shm", ".db")), 1, range(20))


def brittle(seed: int) -> Target:
    def target(chance: Random) -> Outcome:
        drawn = chance.randrange(50)
        assert drawn != 7, f"seed {seed} has drawn a seven"
        return Outcome(kind="even" if drawn % 2 == 0 else "odd", detail=str(drawn))

    return target


def test_a_fault_is_shown_with_the_command_that_shows_it_again() -> None:
    out = io.StringIO()
    assert main("tests.fuzz.toy", brittle, ["--seconds", "3600", "--seed", "5"], out) == 1
    *_, last = out.getvalue().splitlines()
    command = last.rpartition("again with: python -m tests.fuzz.toy ")[2]
    again = io.StringIO()
    assert main("tests.fuzz.toy", brittle, command.split(), again) == 1
    assert "seed 5 has drawn a seven" in again.getvalue()
    assert again.getvalue().splitlines()[-1] == last


def test_what_was_tried_is_reported() -> None:
    out = io.StringIO()
    assert main("tests.fuzz.toy", brittle, ["--seed", "5", "--only", "0"], out) == 0
    assert out.getvalue().startswith("tests.fuzz.toy, seed 5: 1 inputs: 1 ")


def test_time_ends_a_run_but_decides_nothing_else() -> None:
    times = iter([0.0, 0.5, 0.9, 1.0])
    assert list(within(1.0, lambda: next(times))) == [0, 1, 2]

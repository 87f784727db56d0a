"""The corpora: real tools with arguments and results that fit them, and some that do not.

They stand beside the repository. A test skips where they are missing, except in CI. Each file is read once in
a process, so nobody may change what is read from it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.selection import stride, volume

T = TypeVar("T")

FOLDER = Path(__file__).parents[3] / "shared" / "corpora"
STRIDE = volume(12, lab=1)
SUITE = FOLDER / "jsonschema_suite_2020_12_public.jsonl"


@dataclass(frozen=True)
class Record:
    """One line of a corpus: a tool as somebody else described it."""

    file: str
    facts: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.facts["id"])

    @property
    def input_schema(self) -> Any:
        return self.facts["input_schema"]

    @property
    def output_schema(self) -> Any:
        """None where the tool has none."""
        return self.facts.get("output_schema")

    @property
    def is_broken(self) -> bool:
        """Whether its authors' schema of the arguments is no schema of its dialect."""
        return bool(self.facts.get("schema_error"))

    @property
    def has_broken_output(self) -> bool:
        return bool(self.facts.get("output_schema_error"))

    @cached_property
    def valid(self) -> list[Any]:
        return list(self.facts.get("valid_args", ()))

    @cached_property
    def invalid(self) -> list[Any]:
        natural = [_arguments(one) for one in self.facts.get("upstream_mismatch", ())]
        return [one["args"] for one in self.facts.get("invalid_args", ())] + natural

    @cached_property
    def wrong_results(self) -> list[Any]:
        """What was recorded as a result, and does not fit."""
        return [one["result"] for one in self.facts.get("upstream_output_mismatch", ())]

    @cached_property
    def results(self) -> list[Any]:
        """What was recorded as a result, and fits the schema of the results."""
        recorded = [one["result"] for one in self.facts.get("calls", ())]
        return recorded + list(self.facts.get("valid_outputs", ()))


def _arguments(mismatch: Any) -> Any:
    return mismatch["args"] if isinstance(mismatch, dict) and "args" in mismatch else mismatch


def files() -> list[Path]:
    return sorted(FOLDER.glob("tools_*.jsonl"))


@cache
def records(file: Path) -> tuple[Record, ...]:
    return tuple(Record(file=file.stem, facts=line) for line in lines(file))


@cache
def lines(file: Path) -> tuple[Any, ...]:
    with file.open(encoding="utf-8") as text:
        return tuple(json.loads(line) for line in text if line.strip())


def part(values: Sequence[T]) -> Sequence[T]:
    """Return a part of what a file has for a test marked `volume`, and in `make lab` all of it."""
    return stride(values, STRIDE)


def require() -> None:
    """Skip the test without the corpora; in CI they have to be there."""
    if FOLDER.is_dir():
        return
    if os.environ.get("CI"):
        pytest.fail(f"the corpora are not in {FOLDER}")
    pytest.skip(f"the corpora are not in {FOLDER}")

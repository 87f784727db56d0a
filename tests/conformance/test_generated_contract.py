"""Generated code: the schema accepts a document exactly when the codec does, and nothing is lost.

For each payload, result and artifact of the examples and of `tests/cases`, documents are drawn from
the schema, then broken in one place, and given to an independent validator and to the codec.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis_jsonschema import from_schema

from tests.conformance import oracle
from toolgen.contract.naming import module_name
from toolgen.runtime import Codec, FieldIssue, ToolSpec, ToolValidationError

ROOT = Path(__file__).resolve().parents[2]
CALENDAR = re.compile(r":60|\b0000-|P[0-9]{9,}|[0-9]{9,}[DHMS]")
"""Leap seconds, the year 0 and endless durations: limits of Python's calendar, outside the schema."""


def catalogues() -> Iterator[str]:
    """Return the import paths of all generated packages."""
    for catalogue in [
        ROOT / "gen/tool_schemas.json",
        *sorted(ROOT.glob("tests/cases/*/gen/tool_schemas.json")),
    ]:
        yield ".".join(catalogue.parent.relative_to(ROOT).parts)


def codecs() -> Iterator[tuple[str, Codec[Any]]]:
    """Return every codec of every generated tool, with a name for reports."""
    for package in catalogues():
        catalogue = json.loads((ROOT / package.replace(".", "/") / "tool_schemas.json").read_text("utf-8"))
        for tool in catalogue["tools"]:
            service, toolset, _ = tool["id"].split(".")
            module = import_module(f"{package}.{module_name(service)}.toolsets.{module_name(toolset)}")
            (spec,) = (spec for spec in module.SPECS if spec.id == tool["id"])
            yield from ((f"{package}:{spec.id}:{codec.name}", codec) for codec in _codecs(spec))


def _codecs(spec: ToolSpec[Any, Any]) -> Iterator[Codec[Any]]:
    yield spec.payload
    yield spec.result
    for artifact in spec.artifacts.values():
        yield artifact.codec


SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
seen: Counter[str] = Counter()


@pytest.mark.parametrize(("name", "codec"), [pytest.param(*case, id=case[0]) for case in codecs()])
def test_codec_and_schema_agree(name: str, codec: Codec[Any]) -> None:
    schema = codec.schema
    judge = oracle.validator(schema)

    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=SLOW,
    )
    @given(from_schema(oracle.unrolled(schema, schema)), st.data())
    def check(instance: Any, data: st.DataObject) -> None:
        broken = [oracle.mutations(instance, _picker(data)) for _ in range(4)]
        for document in [instance, *broken]:
            _compare(codec, schema, judge, document)

    check()


def _compare(codec: Codec[Any], schema: dict[str, Any], judge: Any, document: Any) -> None:
    if CALENDAR.search(json.dumps(document)):
        seen["calendar"] += 1
        return
    expected = judge.is_valid(oracle.without_optional_nulls(document, schema))
    value, issues = _decoded(codec, document)
    assert expected == (not issues), (document, issues)
    if issues:
        assert len(issues) == len({issue.keys for issue in issues}), "at most one issue a value"
        seen["invalid"] += 1
        return
    encoded = codec.encode(value)
    assert codec.decode(encoded) == value
    assert judge.is_valid(json.loads(encoded)), encoded
    seen["valid"] += 1
    seen["valid and not empty"] += bool(document)


def _decoded(codec: Codec[Any], document: Any) -> tuple[Any, tuple[FieldIssue, ...]]:
    try:
        return codec.decode(json.dumps(document)), ()
    except ToolValidationError as error:
        return None, error.issues


def _picker(data: st.DataObject) -> Any:
    return lambda options: data.draw(st.sampled_from(list(options)))


def test_enough_documents_of_each_kind_were_tried() -> None:
    """hypothesis-jsonschema draws nothing but `{}` when its hypothesis is too new."""
    count = len(list(codecs()))
    assert seen["valid and not empty"] > 10 * count, seen
    assert seen["invalid"] > 10 * count, seen
    assert seen["calendar"] < seen["valid"] / 20, seen

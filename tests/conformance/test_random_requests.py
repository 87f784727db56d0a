"""Random methods over HTTP: what a design accepts, its client sends; what it refuses, it says by a code."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.conformance.agreement import drawing
from tests.conformance.random_designs import KEYS, Draw, named_types, objects
from tests.golden import write
from toolgen import dsl
from toolgen.clients.request_parts import RequestPlan
from toolgen.codegen import generate
from toolgen.codegen.layout import service_module
from toolgen.contract.transport import HTTP
from toolgen.dsl import build, http
from toolgen.dsl.expr.transport_codes import TRANSPORT_CODES
from toolgen.dsl.http import HTTPChild
from toolgen.dsl.structure import MethodChild
from toolgen.runtime import ToolError

VERBS = (http.GET, http.HEAD, http.OPTIONS, http.PUT, http.DELETE, http.POST, http.PATCH)
OTHER_CODES = {"identifier-clash", "duplicate-name", "reserved-name", "duplicate-clause", "unknown-type"}
"""A type may refer to one that no attribute leads to."""
numbers = itertools.count()
seen: Counter[str] = Counter()


@st.composite
def clauses(draw: Draw, names: list[str]) -> list[HTTPChild]:
    """Return clauses that name attributes, now and then one that is not there."""
    found: list[HTTPChild] = []
    name = st.sampled_from([*names, *names, *names, "nobody"])
    for kind in draw(st.lists(st.sampled_from(["param", "header", "cookie", "body", "files"]), max_size=3)):
        attribute = draw(name)
        match kind:
            case "param":
                style = draw(st.sampled_from([None, None, "form", "pipeDelimited", "deepObject", "label"]))
                explode = draw(st.sampled_from([None, True, False]))
                found.append(http.Param(attribute, draw(st.sampled_from(KEYS)), style=style, explode=explode))
            case "header":
                found.append(
                    http.Header(attribute, draw(st.sampled_from(["X-A", "X-B", "Range", "x-a", "TE"])))
                )
            case "cookie":
                found.append(http.Cookie(attribute, draw(st.sampled_from(["a", "b", None]))))
            case "body":
                media = draw(st.sampled_from([None, "json", "form", "multipart", "text", "bytes"]))
                deep = draw(st.sampled_from([None, None, "deepObject"]))
                found.append(http.Body(draw(st.sampled_from(["", attribute])), media=media, style=deep))
            case _:
                found.append(http.Body(http.File(attribute)))
    return found


@st.composite
def methods(draw: Draw) -> tuple[list[MethodChild], st.SearchStrategy[Any] | None]:
    """Return a method over HTTP, and values of its payload."""
    attributes, values = draw(objects(draw(named_types()), []))
    names = [attribute.name for attribute in attributes]
    path = "/".join(["", "things", *(f"{{{name}}}" for name in names if draw(st.integers(0, 3)) == 0)])
    verb = draw(st.sampled_from(VERBS))(path)
    return [dsl.Payload(*attributes), http.HTTP(verb, *draw(clauses(names)))], values


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("requests_")]:
        del sys.modules[name]


def test_what_a_design_accepts_is_sent(folder: Path) -> None:
    @drawing(80)
    @given(methods(), st.data())
    def check(drawn: tuple[list[MethodChild], Any], data: st.DataObject) -> None:
        children, values = drawn
        method = dsl.Method("find", "Find.", *children)
        service = dsl.Service("Things", "Things.", http.Server("https://things.example"), method)
        evaluation = build(dsl.Design("things", "Things.", service))
        if evaluation.design is None:
            found = {diagnostic.code for diagnostic in evaluation.diagnostics}
            assert found <= TRANSPORT_CODES | OTHER_CODES, found
            seen["refused"] += 1
            return
        (checked,) = evaluation.design.services[0].methods
        assert isinstance(checked.transport, HTTP)
        payload = _payload_class(evaluation.design, folder)
        plan = RequestPlan("Things.find", checked.transport, payload)
        seen["accepted"] += 1
        if values is None:
            return
        value = payload.model_validate(data.draw(values))
        with suppress(ToolError):  # values that stand in no path and no header, such as empty ones
            plan.parts(value, plan.document(value))
        seen["sent"] += 1

    check()
    assert seen["sent"] > 15, seen
    assert seen["refused"] > 15, seen


def _payload_class(design: Any, folder: Path) -> Any:
    package = f"requests_{next(numbers)}"
    files = generate(design, module="tests.random")
    write(folder, {f"{package}/{path}": text for path, text in files.items()})
    importlib.invalidate_caches()
    module = importlib.import_module(".".join((package, *service_module("Things"))))
    return module.FindPayload

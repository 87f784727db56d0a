"""Toolsets that are built as a design of their own have the code that they have in the whole design."""

from __future__ import annotations

import json

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given

from tests.conformance.random_designs import designs
from toolgen import dsl
from toolgen.catalog import read_catalogue
from toolgen.codegen import generate
from toolgen.codegen.layout import toolset_package
from toolgen.contract.names import CATALOG
from toolgen.dsl import build
from toolgen.dsl.evaluation.toolset_digests import ELSEWHERE, WrittenToolsets

pytestmark = pytest.mark.costly


@given(designs(), st.data())
def test_a_part_of_a_design_makes_a_part_of_its_code(design: dsl.Design, data: st.DataObject) -> None:
    whole, written = build(design), WrittenToolsets(design)
    digests = written.digests()
    assert WrittenToolsets(design).digests() == digests
    assume(whole.design is not None and not whole.diagnostics and digests)
    assert whole.design is not None
    texts = generate(whole.design, module="d")
    names = data.draw(st.sets(st.sampled_from(sorted(digests.keys() - {ELSEWHERE}))))
    part = build(written.only(names))
    assert part.diagnostics == ()
    assert part.design is not None
    entries = read_catalogue(json.loads(texts[CATALOG])).tools
    others = [each for each in entries if f"{each['service']}.{each['toolset']}" not in names]
    made = generate(part.design, module="d", others=others)
    assert made == {path: texts.get(path) for path in made}
    toolsets = [toolset for service in part.design.services for toolset in service.toolsets]
    folders = tuple("/".join((*toolset_package(toolset), "")) for toolset in toolsets)
    assert {path for path in texts if path.startswith(folders)} <= made.keys()

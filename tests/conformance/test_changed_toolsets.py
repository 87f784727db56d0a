"""Toolsets that are built as a design of their own have the code that they have in the whole design."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given

from tests.conformance.random_designs import designs
from toolgen import dsl
from toolgen.catalog.unchanged_tools import UnchangedTools
from toolgen.codegen import Generation
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
    made = Generation(whole.design, module="d")
    texts, memory = made.texts(), "".join(made.memory)
    names = data.draw(st.sets(st.sampled_from(sorted(digests.keys() - {ELSEWHERE}))))
    part = build(written.only(names))
    assert part.diagnostics == ()
    assert part.design is not None
    unchanged = UnchangedTools(texts[CATALOG], memory, without=names)
    again = Generation(part.design, module="d", unchanged=unchanged)
    again_texts = again.texts()
    assert "".join(again.memory) == memory
    assert again_texts == {path: texts.get(path) for path in again_texts}
    toolsets = [toolset for service in part.design.services for toolset in service.toolsets]
    folders = tuple("/".join((*toolset_package(toolset), "")) for toolset in toolsets)
    assert {path for path in texts if path.startswith(folders)} <= again_texts.keys()

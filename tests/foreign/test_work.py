"""Reading a schema, and finding words for it, is linear in its width."""

from __future__ import annotations

import pytest

from tests.work import lines_run
from toolgen.foreign import read
from toolgen.importers.design import design_files
from toolgen.importers.tool import ImportedTool, Source

from .shapes import SHAPES


@pytest.mark.parametrize("shape", SHAPES)
def test_a_schema_is_read_in_linear_work(shape: str) -> None:
    def work(number: int) -> int:
        schema = SHAPES[shape](number)
        return lines_run(lambda: read(schema, name="Payload", arguments=True))

    assert work(400) < 2.3 * work(200)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_is_imported_in_linear_work(shape: str) -> None:
    def work(number: int) -> int:
        tool = ImportedTool(name="x", description="X.", arguments=SHAPES[shape](number))
        source = Source(name="s", description="S.", tools=(tool,), findings=())
        return lines_run(lambda: design_files(source, name="s", service="s"))

    assert work(400) < 2.3 * work(200)

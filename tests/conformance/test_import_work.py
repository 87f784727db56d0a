"""Finding a design for a schema is linear in its width, whatever there are many of."""

from __future__ import annotations

import pytest

from tests.schema_reader.shapes import SHAPES
from tests.work import lines_run
from toolgen.importers.design import design_files
from toolgen.importers.tool import ImportedTool, ReaderResult


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_is_imported_in_linear_work(shape: str) -> None:
    def work(number: int) -> int:
        tool = ImportedTool(name="x", description="X.", arguments=SHAPES[shape](number))
        source = ReaderResult(name="s", description="S.", tools=(tool,), findings=())
        return lines_run(lambda: design_files(source, name="s", service="s"))

    assert work(100) < 2.3 * work(50)

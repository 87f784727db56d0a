"""Each view of an artifact in a browser, with data that would do harm if it were executed."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from typing import Any, Final

import pytest
from playwright.async_api import expect

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.runtime import BoundTool, Runtime, ToolOutcome
from toolgen.runtime.functions import ArtifactSpec

from .browser import exploring

pytestmark = pytest.mark.costly(whole=True)

SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" onload="alert(1)">'
    '<script>alert(2)</script><image href="https://other.example/x.png"/><rect width="20" height="10"/></svg>'
)
MARKDOWN: Final = (
    "# A title\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n[good](https://good.example) [bad](javascript:alert(3)) "
    "![out](https://other.example/y.png) <img src=x onerror=alert(4)><style>*{display:none}</style>"
)
PICTURE: Final = {"media_type": "image/svg+xml", "data": b64encode(SVG.encode()).decode()}
ROWS: Final = [{"name": "<b>one</b>", "count": 10}, {"name": "two", "count": 9}]
DAYS: Final = [{"at": f"2026-01-0{day}T00:00:00Z", "used": day} for day in range(1, 5)]
DATA: Final[dict[str, Any]] = {
    "line": {"unit": "kWh", "rows": DAYS},
    "bar": {"rows": ROWS},
    "table": {"rows": ROWS},
    "markdown": {"text": MARKDOWN},
    "image": PICTURE,
    "other": {"deep": {"er": [1, 2]}},
}
VIEWS: Final[dict[str, Any]] = {
    "line": "chart.line",
    "bar": "chart.bar",
    "table": "table",
    "markdown": "markdown",
    "image": "image",
    "other": None,
}
SPECS: Final[dict[str, ArtifactSpec[Any]]] = {
    kind: ArtifactSpec(kind, TypeCodec(dict[str, Any], "Data"), view=view) for kind, view in VIEWS.items()
}


async def draw() -> ToolOutcome[str]:
    """Draw all."""
    return ToolOutcome.of("drawn", artifacts=[SPECS[kind].of(data) for kind, data in DATA.items()])


def tool() -> BoundTool:
    made = func_tool(draw, toolset="art.views")
    return replace(made, spec=replace(made.spec, artifacts=SPECS))


async def test_each_artifact_is_drawn_by_its_view_and_nothing_of_it_runs() -> None:
    runtime = Runtime(capabilities=[ArtifactsCapability(MemoryArtifactStore())])
    runtime.tools.register(function_toolset("art.views", [tool()]))
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        await shown.open("#/tools/art.views.draw")
        await page.get_by_role("button", name="Call", exact=True).click()
        line, bar, table, markdown, image, other = [
            page.get_by_role("region", name=f"artifact {kind}") for kind in DATA
        ]
        await expect(line.get_by_role("img", name="used in kWh over at: 4 points")).to_be_visible()
        await expect(bar.get_by_role("img", name="count over name: 2 points")).to_be_visible()
        await table.get_by_role("button", name="count").click()
        await expect(table.get_by_role("row")).to_have_text(["namecount ↑", "two9", "<b>one</b>10"])
        await expect(markdown.get_by_role("heading", name="A title")).to_be_visible()
        await expect(markdown.get_by_role("cell")).to_have_text(["1", "2"])
        good = markdown.get_by_role("link", name="good")
        await expect(good).to_have_attribute("rel", "noopener noreferrer")
        await expect(markdown.locator(".markdown a[href]")).to_have_count(1)
        await expect(markdown.locator("img, style, script")).to_have_count(0)
        await expect(markdown.get_by_text("<img src=x onerror=alert(4)>")).to_be_visible()
        await expect(image.get_by_role("img")).to_be_visible()
        assert await image.get_by_role("img").evaluate("image => image.naturalWidth") == 20
        await expect(other.get_by_text("er [2]")).to_be_visible()

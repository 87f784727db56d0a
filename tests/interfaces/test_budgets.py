"""Every route reads a body within its limits."""

from __future__ import annotations

import pytest

from tests.adapters.http.shop import problem, served
from toolgen.adapters.http import SurfaceOptions

from .every_route import ROUTES

LARGE = {"long": b'{"a":"' + b"x" * 5000 + b'"}', "deep": b"[" * 70 + b"]" * 70}


@pytest.mark.parametrize("path", [path for method, path, _ in ROUTES if method == "POST"])
@pytest.mark.parametrize("body", LARGE)
async def test_a_route_reads_no_body_that_is_too_large(path: str, body: str) -> None:
    async with served(SurfaceOptions(max_body_bytes=4000)) as shop:
        headers = {"content-type": "application/json"}
        answer = await shop.client.post(path, content=LARGE[body], headers=headers)
    assert problem(answer) == (413, "content-too-large")
